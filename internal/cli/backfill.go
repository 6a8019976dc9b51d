package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/detach"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/ingest"
)

func newBackfill(e *env) *cobra.Command {
	var wait, work bool
	cmd := &cobra.Command{
		Use:     backfillCommand,
		Short:   "Archive everything that is there, in the background",
		GroupID: groupArchive,
		Long: `Say how much of the agents' transcripts is not archived yet and how long it will
take, and start archiving it in a process of its own, which outlives this
terminal. ` + "`terminus status`" + ` shows how far it is.`,
		Example: `  terminus backfill
  terminus backfill --wait`,
		Args: noArgs,
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "do it in this process, and end when it is done")
	cmd.Flags().BoolVar(&work, "work", false, "be the process that was started")
	_ = cmd.Flags().MarkHidden("work") // the flag is defined above
	cmd.RunE = e.action(func(ctx context.Context) error {
		cfg, err := e.configToArchive()
		if err != nil {
			return err
		}
		o := ingest.Options{Config: cfg, Backfill: true}
		if work {
			_, err := e.pass(ctx, o)
			return err
		}
		est, err := ingest.Measure(ctx, cfg, registry.All())
		if err != nil {
			return err
		}
		e.printEstimate(est)
		switch {
		case est.Transcripts == 0:
			return nil
		case wait:
			e.out.flush()
			busy, err := e.pass(ctx, o)
			if busy {
				e.notef(alreadyArchiving)
			}
			return err
		}
		exe, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
		return e.startBackfill(exe, cfg.DataDir)
	})
	return cmd
}

const backfillCommand = "backfill"

const alreadyArchiving = "already archiving; terminus status shows how far it is"

// startBackfill starts the process that does the work, which runs exe.
func (e *env) startBackfill(exe, dataDir string) error {
	if archiving(dataDir) {
		e.notef(alreadyArchiving)
		return nil
	}
	if err := detach.Start(exe, backfillCommand, "--work"); err != nil {
		return fmt.Errorf("start the backfill: %w", err)
	}
	e.notef("archiving in the background; terminus status shows how far it is")
	return nil
}

// archiving reports whether another process is at a pass. Asking takes the lock
// for a moment, in which a pass that begins gives way: the backfill that follows
// does its work as well. What keeps the lock from being asked is left for that
// pass to say.
func archiving(dataDir string) bool {
	path := filepath.Join(dataDir, ingest.LockName)
	if _, err := os.Stat(path); err != nil {
		return false // and none is made
	}
	lock, elsewhere, err := fsx.TryLock(path)
	if err == nil && !elsewhere {
		_ = lock.Unlock() // a lock that stays ends with this process
	}
	return elsewhere
}

// The rate behind the estimate: a first pass over a corpus of this size took
// this long on two cores.
const (
	measuredBytes = 500_000_000
	measuredTime  = 6250 * time.Millisecond
)

func (e *env) printEstimate(est ingest.Estimate) {
	for _, p := range est.Problems {
		e.printf("%s\n", visible(p))
	}
	e.printf("%s, %s not archived yet\n", count(est.Transcripts, "transcript"), decimalSize(est.Bytes))
	if est.Transcripts == 0 {
		return
	}
	seconds := float64(est.Bytes) * measuredTime.Seconds() / measuredBytes
	e.printf("estimated time: %s (measured elsewhere: %s in %s on two cores)\n",
		duration(time.Duration(seconds*float64(time.Second))), decimalSize(measuredBytes), measuredTime.Round(100*time.Millisecond))
}

// decimalSize is a size in powers of 1000, its one decimal cut, not rounded:
// what is promised to be there is there.
func decimalSize(n int64) string {
	units := []string{"KB", "MB", "GB", "TB"}
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	tenths, unit := n/100, 0 // tenths of the unit
	for tenths >= 10_000 && unit < len(units)-1 {
		tenths /= 1000
		unit++
	}
	return fmt.Sprintf("%d.%d %s", tenths/10, tenths%10, units[unit])
}
