package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/clock"
	"github.com/terminus-archive/terminus/internal/ingest"
)

func newImport(e *env) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "import <export-dir>",
		Short:   "Take in the sessions of an export that the archive lacks",
		GroupID: groupArchive,
		Long: `Take in those sessions of an export that the archive does not have: a session that
is there, however old, is never touched. Each file is compared with what the
manifest says of it first; one that differs is refused and named, and the exit code
is then 1. Excluded projects stay out, and an evicted session has nothing to take.

Turns get new numbers. A session that one of your agents still has on this machine
is recognised by the next pass, and not archived twice.`,
		Example: `  terminus import /mnt/backup/sessions
  terminus import ~/terminus-export --json | jq .data.refused`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || args[0] == "":
				return errors.New("no export to take in")
			case len(args) > 1:
				return fmt.Errorf("unexpected word %q: one directory", args[1])
			}
			dir = e.absolute(args[0])
			return nil
		},
	}
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return ingest.Imported{Source: dir} },
		run:   func(ctx context.Context) (answer, error) { return e.importFrom(ctx, dir) },
	})
}

func (e *env) importFrom(ctx context.Context, dir string) (answer, error) {
	cfg, err := e.configToArchive()
	if err != nil {
		return answer{}, err
	}
	debug.SetMemoryLimit(ingest.MemoryLimit)
	ctx, stop := interruptible(ctx)
	defer stop()
	m := e.meter()
	done, err := ingest.Import(ctx, ingest.ImportOptions{
		Config: cfg, Dir: dir, Now: clock.Now, Where: e.whereData,
		Progress: func(p ingest.Progress) { m.update(p.BytesDone, p.BytesTotal) },
	})
	m.clear()
	if ctx.Err() != nil && err != nil {
		err = errors.New("interrupted; what was taken in stays, and the same command goes on from there")
	}
	if err != nil {
		return answer{}, err
	}
	a := answer{data: done, bad: len(done.Refused) > 0, text: func() error {
		e.printImport(done)
		return nil
	}}
	if a.bad {
		a.reason = count(len(done.Refused), "session") + " refused"
	}
	return a, nil
}

func (e *env) printImport(d ingest.Imported) {
	for _, r := range d.Refused {
		e.notef("%s (%s): %s", r.SessionKey, r.File, r.Reason)
	}
	for _, n := range d.Notes {
		e.notef("%s", n)
	}
	e.labelled("sessions", "%d", d.Sessions)
	e.labelled("turns", "%d", d.Turns)
	e.labelled("bytes", "%s", byteCount(d.Bytes))
	e.labelled("there already", "%d", d.Present)
	if d.Evicted > 0 {
		e.labelled("evicted", "%d", d.Evicted)
	}
	if d.Excluded > 0 {
		e.labelled("excluded", "%d", d.Excluded)
	}
	if len(d.Refused) > 0 {
		e.labelled("refused", "%d", len(d.Refused))
	}
}
