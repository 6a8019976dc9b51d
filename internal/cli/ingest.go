package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/clock"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/ingest"
)

func newIngest(e *env) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:     "ingest [path]",
		Short:   "Archive what is new in the agents' transcripts",
		GroupID: groupArchive,
		Long: `Archive what is new in the transcripts of every agent, or in the one transcript
that path names. A transcript that cannot be read is named on stderr and left
for the next pass; everything else is archived. Where another process is
already archiving, nothing is done.

It is never wrong to run it again.`,
		Example: `  terminus ingest
  terminus ingest ~/.claude/projects/-home-me-app/5e0a94cf-7a0b-4c1e-9a71-1f6d1a0e5f11.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("unexpected word %q: one path at most", args[1])
			}
			if len(args) == 1 {
				if args[0] == "" {
					return errors.New("the path must not be empty")
				}
				path = e.absolute(args[0])
			}
			return nil
		},
	}
	cmd.RunE = e.action(func(ctx context.Context) error {
		cfg, err := e.configToArchive()
		if err != nil {
			return err
		}
		_, err = e.pass(ctx, ingest.Options{Config: cfg, Path: path})
		return err
	})
	return cmd
}

// whereData is where the data directory is at this moment.
func (e *env) whereData() (string, error) {
	dirs, err := config.Dirs(e.environ)
	return dirs.Data, err
}

// absolute is path seen from the working directory.
func (e *env) absolute(path string) string {
	if filepath.IsAbs(path) || e.environ.WorkDir == "" {
		return path
	}
	return filepath.Join(e.environ.WorkDir, path)
}

// pass runs one pass with its progress on the terminal, and says on stderr
// what it could not take in. busy means that another process is at one, and
// that nothing was done.
func (e *env) pass(ctx context.Context, o ingest.Options) (busy bool, err error) {
	debug.SetMemoryLimit(ingest.MemoryLimit)
	ctx, stop := interruptible(ctx)
	defer stop()
	m := e.meter()
	o.Now = clock.Now
	o.Progress = func(p ingest.Progress) { m.update(p.BytesDone, p.BytesTotal) }
	o.Where = e.whereData
	var copying *meter
	o.SnapshotProgress = func(done, total int64) {
		if copying == nil {
			m.clear()
			copying = e.meter()
		}
		copying.update(done, total)
	}
	r, err := ingest.Run(ctx, o)
	if errors.Is(err, ingest.ErrMoved) { // once: nobody moves an archive twice in a breath
		if o.Config, err = config.Load(e.environ); err == nil {
			r, err = ingest.Run(ctx, o)
		}
	}
	m.clear()
	if copying != nil {
		copying.clear()
	}
	if ctx.Err() != nil {
		return false, errors.New("interrupted; what was archived stays, and the next pass goes on from there")
	}
	if err != nil {
		return false, err
	}
	for _, f := range slices.Concat(r.Unindexed, r.Undrained, r.Failures, r.Unreadable) {
		e.notef("%s", f)
	}
	if n := len(r.Failures); n > 0 {
		e.notef("%s skipped", count(n, "file"))
	}
	for _, f := range r.Remarks {
		e.notef("%s", f)
	}
	if r.NoSnapshot != "" {
		e.notef("%s", r.NoSnapshot)
	}
	if r.Excluded {
		e.notef("%s: skipped, its project is excluded", o.Path)
	}
	return r.Busy, nil
}
