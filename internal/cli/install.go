package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/wire"
	"github.com/terminus-archive/terminus/internal/wire/claude"
)

func newInstall(e *env) *cobra.Command {
	var yes, dryRun, timer bool
	cmd := &cobra.Command{
		Use:     "install",
		Short:   "Wire Terminus into Claude Code",
		GroupID: groupAgents,
		Long: `Put this program where it stays, add four hooks to Claude Code's settings.json and
the MCP server to its .claude.json, and start archiving what is there in the
background. It asks nothing, changes nothing else in those files, keeps a copy of
each, and says what it did. Run again it brings everything up to date; where all
is in place it changes nothing. ` + "`terminus uninstall`" + ` takes it back.`,
		Example: `  terminus install --dry-run          show what would change, and change nothing
  terminus install
  terminus install --timer            also archive once a day, whether hooks run or not`,
		Args: noArgs,
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "accepted for scripts: nothing is asked")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&timer, "timer", false, "let the system archive once a day, for where hooks may not run")
	cmd.RunE = e.action(func(ctx context.Context) error {
		o, err := e.wiring()
		if err != nil {
			return err
		}
		cfg, err := e.configToArchive()
		if err != nil {
			return err
		}
		o.Timer = timer
		plan, err := wire.Prepare(o)
		if err != nil {
			return e.refusal(o, err)
		}
		if dryRun {
			e.printPlan(plan)
			return nil
		}
		if err := plan.Carry(ctx); err != nil {
			return unchanged(err)
		}
		e.printReceipt(plan, cfg, o.Places)
		return e.backfillAfter(ctx, cfg, o.Places.Binary)
	})
	return cmd
}

// wiring is what installs and uninstalls go by.
func (e *env) wiring() (wire.Options, error) {
	places, err := e.environ.Wiring()
	if err != nil {
		return wire.Options{}, err
	}
	exe, err := os.Executable()
	if err != nil {
		return wire.Options{}, fmt.Errorf("find this program: %w", err)
	}
	return wire.Options{
		Exe: exe, Version: Version(), Places: places,
		Edits: func(own wire.Own) []wire.Edit {
			return claude.Wiring{Settings: places.ClaudeSettings, State: places.ClaudeState, Own: own}.Edits()
		},
		Account: wire.Account{
			GOOS: e.environ.GOOS, Home: e.environ.Home, XDGConfig: places.UserConfig, UID: os.Getuid(),
			Receipt: places.Receipt, Environ: e.environ.Placement(),
		},
	}, nil
}

// refusal says how to go on where something stands in the way.
func (e *env) refusal(o wire.Options, err error) error {
	var foreign *wire.ForeignError
	var refused *wire.RefusedError
	switch {
	case errors.As(err, &foreign):
		return fmt.Errorf("%w; nothing was changed. To put Terminus there all the same: rm -f %s && %s install",
			err, shellWord(foreign.Path), shellWord(o.Exe))
	case errors.As(err, &refused) && refused.ReadOnly():
		e.printf("%s", indented(refused.Snippet))
		return fmt.Errorf("%w; nothing was changed. Put the above into %s by other means and install again", err, refused.Path)
	case errors.As(err, &refused):
		return fmt.Errorf("%w; nothing was changed", err)
	}
	return fmt.Errorf("%w; nothing was changed", err)
}

// unchanged adds to an error before which nothing was done that this is so.
func unchanged(err error) error {
	var busy *wire.BusyError
	if errors.As(err, &busy) {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	return err
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(visible(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}

// printPlan shows what carrying a plan out would change.
func (e *env) printPlan(p *wire.Plan) {
	if !p.Changes() {
		e.printf("nothing to do: all is in place\n")
		return
	}
	if p.Program.Needed {
		e.row("binary", p.Program.Path+" "+programNews(p.Program, "would be "))
	}
	for _, f := range p.Files {
		if len(f.Changed) == 0 {
			continue
		}
		e.row(f.Name, f.Path+" (would get "+strings.Join(f.Changed, ", ")+")")
		for _, line := range wire.Diff(f.Before, f.Text) {
			e.printf("  %s\n", visible(line))
		}
	}
	if p.Timer != nil && p.Timer.Changed {
		for _, f := range p.Timer.Files {
			e.row("timer", f.Path+" (would be written)")
		}
	}
	e.row("receipt", p.Receipt+" (would be written)")
}

// row prints one line of a receipt.
func (e *env) row(name, text string) {
	const width = 12 // of the longest name and two spaces
	e.printf("%-*s%s\n", width, name, visible(text))
}

// programNews says what becomes of the program; verb goes before what is done.
func programNews(p wire.Program, verb string) string {
	switch {
	case p.Replaces:
		return "(" + verb + "put in the place of another build)"
	case p.Needed:
		return "(" + verb + "put there)"
	}
	return "(already there)"
}

// printReceipt says what an install did, and what can be done about it.
func (e *env) printReceipt(p *wire.Plan, cfg *config.Config, places config.Wiring) {
	e.row("binary", p.Program.Path+" "+programNews(p.Program, ""))
	for _, f := range p.Files {
		e.row(f.Name, f.Path+" "+fileNews(f))
		if f.Backup != "" {
			e.row("", "as it was: "+f.Backup)
		}
		for _, r := range f.Remarks {
			e.row("", r)
		}
	}
	e.printTimer(p)
	e.row("receipt", p.Receipt)
	e.row("archive", cfg.DataDir)
	e.row("reads", strings.Join(cfg.ClaudeRoots, ", "))
	if len(cfg.ClaudeRoots) > 1 {
		e.row("", "only the settings above have hooks: the other directories are read at every pass all the same")
	}
	if _, err := os.Stat(filepath.Join(places.Claude, "projects")); err != nil {
		e.row("", "Claude Code has not been here yet; it finds the hooks when it comes")
	}
	e.row("see", "terminus log shows what Claude was given, terminus status what is archived")
	e.row("switch off", "TERMINUS_RECALL=off, or enabled = false below [injection] in "+cfg.File)
	e.row("undo", p.Program.Path+" uninstall")
	e.remarks(p, places)
}

func fileNews(f wire.PlannedFile) string {
	switch {
	case len(f.Changed) == 0 && f.Held:
		return "(already there)"
	case len(f.Changed) == 0:
		return "(left alone)"
	case f.Held:
		return "(brought up to date: " + strings.Join(f.Changed, ", ") + ")"
	case f.Before == nil:
		return "(made, with " + strings.Join(f.Changed, ", ") + ")"
	}
	return "(added " + strings.Join(f.Changed, ", ") + ")"
}

func (e *env) printTimer(p *wire.Plan) {
	if p.Timer == nil {
		return
	}
	news := "(already there)"
	if p.Timer.Changed {
		news = "(made: " + p.Timer.Name + ", once a day)"
	}
	e.row("timer", p.Timer.Files[0].Path+" "+news)
	if err := p.TimerError(); err != nil {
		e.warnf("the timer could not be started: %v", err)
		for _, c := range p.Timer.Start {
			e.row("", "to start it: "+strings.Join(c, " "))
		}
	}
}

// remarks says what keeps an install from showing an effect at once.
func (e *env) remarks(p *wire.Plan, places config.Wiring) {
	w := claude.Wiring{Settings: places.ClaudeSettings, State: places.ClaudeState, Own: wire.Own{Binary: places.Binary}}
	s := w.Status()
	if s.Disabled {
		e.warnf("%s: .disableAllHooks is true, so Claude Code runs no hook", places.ClaudeSettings)
	}
	if s.Plugin != "" {
		e.notef("the plugin %s is enabled as well; beside these entries it does nothing. To remove it: claude plugin uninstall %s", s.Plugin, s.Plugin)
	}
	if !e.environ.OnPath(filepath.Dir(p.Program.Path)) {
		e.notef("%s is not on PATH: add it, or type %s", filepath.Dir(p.Program.Path), p.Program.Path)
	}
}

// backfillAfter starts archiving what is there. That it cannot be started does not
// undo an install.
func (e *env) backfillAfter(ctx context.Context, cfg *config.Config, program string) error {
	est, err := ingest.Measure(ctx, cfg, registry.All())
	if err != nil {
		e.warnf("%v", err)
		return nil
	}
	e.printEstimate(est)
	if est.Transcripts == 0 {
		return nil
	}
	// The program at its stable path: the one that runs may just have been replaced.
	if err := e.startBackfill(program, cfg.DataDir); err != nil {
		e.warnf("%v", err)
	}
	return nil
}
