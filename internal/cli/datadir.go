package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/relocate"
	"github.com/terminus-archive/terminus/internal/wire"
)

// newDataDir is the command `data`, which only holds others.
func newDataDir(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "data",
		Short:   "Move the archive to another place",
		GroupID: groupCare,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unexpected word %q: the one thing to do is move", args[0])
			}
			return errors.New("nothing to do is named: the one thing is move")
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args lets nothing through
	}
	cmd.AddCommand(newDataMove(e))
	return cmd
}

func newDataMove(e *env) *cobra.Command {
	var to string
	var yes bool
	cmd := &cobra.Command{
		Use:   "move <path>",
		Short: "Move the data directory",
		Long: `Move the data directory, with everything in it, to a path at which there is
nothing yet, or an empty directory: copy it, compare the copy with what was read,
write the new place into the file data-location in the configuration directory,
and remove the old one. It asks once, before anything is changed.

Ended at any moment, it loses nothing: run it again with the same path, and it
begins again or finishes.`,
		Example: `  terminus data move /mnt/big/terminus`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || args[0] == "":
				return errors.New("no path to move to")
			case len(args) > 1:
				return fmt.Errorf("unexpected word %q: one path", args[1])
			}
			to = e.absolute(args[0])
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "move without asking")
	cmd.RunE = e.action(func(ctx context.Context) error { return e.moveData(ctx, to, yes) })
	return cmd
}

func (e *env) moveData(ctx context.Context, to string, yes bool) error {
	dirs, err := config.Dirs(e.environ)
	if err != nil {
		return err
	}
	m := e.meter()
	plan, err := relocate.Look(relocate.Options{Dirs: dirs, To: to, Home: e.environ.Home, Progress: m.update})
	if err != nil {
		return err
	}
	question := "move it?"
	if plan.Finish {
		question = "remove the old place?"
	}
	e.printMove(plan, dirs)
	ok, err := e.confirm(question, yes)
	if err != nil {
		return err
	}
	if !ok {
		e.notef("nothing was changed")
		return nil
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	err = plan.Run(ctx)
	m.clear()
	var done *relocate.DoneError
	switch {
	case errors.As(err, &done):
		return fmt.Errorf("%w; run terminus data move %s again", err, to)
	case ctx.Err() != nil && err != nil:
		return errors.New("interrupted; the archive is where it was, and nothing of the copy is left")
	case err != nil:
		return err
	}
	e.printf("moved; %s names the new place\n", visible(plan.PointerFile()))
	e.timerAfter(ctx, plan.From)
	if dirs.Variable != "" && dirs.Data != plan.To {
		e.warnf("%s still names %s: unset it, or set it to %s, or the next command looks there", dirs.Variable, dirs.Data, plan.To)
	}
	return nil
}

// timerAfter makes the timer of an install follow a move from a place. What keeps it from
// doing so does not undo the move.
func (e *env) timerAfter(ctx context.Context, from string) {
	o, err := e.wiring()
	if err != nil {
		return // nothing can have been installed
	}
	changed, err := wire.FollowMove(context.WithoutCancel(ctx), o, from)
	if changed != "" {
		e.printf("%s named the old place, and no longer does\n", visible(changed))
	}
	var unstarted *wire.TimerError
	switch {
	case errors.As(err, &unstarted):
		e.warnf("%v", err)
		for _, c := range unstarted.Commands {
			e.printf("to start it: %s\n", strings.Join(c, " "))
		}
	case err != nil:
		e.warnf("the timer may still archive into %s: %v", from, err)
	}
}

func (e *env) printMove(plan *relocate.Plan, dirs config.Directories) {
	e.labelled("from", "%s", visible(plan.From))
	e.labelled("to", "%s", visible(plan.To))
	if plan.Finish {
		e.printf("everything has been copied by an earlier run; the old place is still to be removed\n")
		return
	}
	e.labelled("size", "%s, %s", count(plan.Files, "file"), byteCount(plan.Bytes))
	if plan.Again {
		e.printf("an earlier run was ended before it was done: its copy is thrown away, and made again\n")
	}
	if plan.Leftover != "" {
		e.printf("an earlier move has left %s behind: it is removed\n", visible(plan.Leftover))
	}
	e.warnf("on a network file system the archive is not safe: neither its locks nor its renames can be relied on there")
	if dirs.Variable != "" {
		e.warnf("%s is set and outranks %s: unset it after the move, or set it to %s", dirs.Variable, plan.PointerFile(), plan.To)
	}
}
