package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/detach"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/ingest"
)

func newBackfill(e *env) *cobra.Command {
	var wait, work bool
	cmd := &cobra.Command{
		Use:     "backfill",
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
		cfg, err := e.config()
		if err != nil {
			return err
		}
		o := ingest.Options{Config: cfg, Backfill: true}
		if work {
			return e.pass(ctx, o)
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
			return e.pass(ctx, o)
		}
		exe, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
		if err := detach.Start(exe, cmd.Name(), "--work"); err != nil {
			return fmt.Errorf("start the backfill: %w", err)
		}
		return nil
	})
	return cmd
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
	units := []string{"kB", "MB", "GB", "TB"}
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
