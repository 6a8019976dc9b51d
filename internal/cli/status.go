package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/clock"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/search"
)

func newStatus(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show what is archived, and how the last pass went",
		GroupID: groupCare,
		Long: `Show where the archive is, how much it holds, and how the last pass went. While a
pass or a backfill runs, its progress is shown as well.`,
		Example: `  terminus status
  terminus status --json | jq .data.last_run`,
		Args: noArgs,
	}
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return search.Status{} },
		run: func(ctx context.Context) (answer, error) {
			st, warnings, err := ask(ctx, e, func(r *search.Reader) (search.Status, error) { return r.Status(ctx) })
			if cfg, err := e.config(); err == nil { // else ask has said so
				warnings = append(warnings, cfg.Warnings...)
			}
			return answer{data: st, reason: st.Reason, warnings: warnings, text: func() error {
				e.printStatus(st)
				return e.printRunning()
			}}, err
		},
	})
}

// labelled prints one value behind its label.
func (e *env) labelled(label, format string, args ...any) {
	const labelWidth = 15
	e.labelledIn(labelWidth, label, format, args...)
}

// labelledIn is labelled with a column of labels of its own width.
func (e *env) labelledIn(width int, label, format string, args ...any) {
	e.printf("%s%s\n", e.screen.style(bold, fmt.Sprintf("%-*s", width, label)), fmt.Sprintf(format, args...))
}

func (e *env) printStatus(st search.Status) {
	if st.Store == nil {
		e.notef("%s", st.Reason)
		return
	}
	e.labelled("store", "%s", visible(*st.Store))
	e.labelled("size", "%s", byteCount(st.SizeBytes))
	e.labelled("sessions", "%d", st.Sessions)
	e.labelled("turns", "%d", st.Turns)
	e.labelled("watermarks", "%d covering %s", st.Watermarks, byteCount(st.WatermarkBytes))
	if st.Excluded != nil && len(*st.Excluded) > 0 {
		e.labelled("excluded", "%d: %s", len(*st.Excluded), visible(strings.Join(*st.Excluded, ", ")))
	}
	if st.LastRun == nil {
		e.labelled("last run", "none")
		return
	}
	e.printRun(*st.LastRun)
}

func (e *env) printRun(r search.Run) {
	e.labelled("last run", "%s", visible(r.StartedAt))
	if r.DurationMS != nil {
		e.labelled("  duration", "%d ms", *r.DurationMS)
	}
	e.labelled("  files", "%d walked, %d committed, %d failed", r.FilesSeen, r.FilesCommitted, r.FilesFailed)
	e.labelled("  read", "%s", byteCount(r.BytesRead))
	e.labelled("  turns added", "%d", r.TurnsAdded)
	for _, part := range []struct {
		label string
		lines *string
	}{{"error", r.Error}, {"notes", r.Notes}} {
		if part.lines == nil {
			continue
		}
		e.printf("  %s\n", part.label)
		for line := range strings.SplitSeq(strings.TrimRight(*part.lines, "\n"), "\n") {
			e.printf("    %s\n", visible(line))
		}
	}
}

// printRunning shows the progress of a pass that another process is at.
func (e *env) printRunning() error {
	cfg, err := e.config()
	if err != nil {
		return err
	}
	p, running := ingest.ReadProgress(cfg.DataDir, clock.Now())
	if running {
		e.labelled("running", "%s", progressLine(p.BytesDone, p.BytesTotal, time.Since(p.StartedAt)))
	}
	return nil
}
