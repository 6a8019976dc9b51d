package ingest

import (
	"context"
	"fmt"
	"strings"

	"github.com/terminus-archive/terminus/internal/retention"
	"github.com/terminus-archive/terminus/internal/store"
)

// retain evicts and deletes what retention asks for.
func retain(ctx context.Context, p *pass, w *store.Writer) error {
	if !p.o.Config.Retention.Acts() {
		return nil
	}
	note := func(format string, args ...any) { p.res.Notes = append(p.res.Notes, fmt.Sprintf(format, args...)) }
	plan, err := retention.Evaluate(ctx, w, p.o.Config, p.started, p.harness)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		note("retention could not look at the sessions: %v", err)
		return nil
	}
	done, err := retention.Apply(ctx, w, plan, p.o.Config.DataDir)
	if done.Evicted > 0 {
		note("retention evicted %s", counted(done.Evicted, "session"))
	}
	if done.Deleted > 0 {
		note("retention deleted %s%s", counted(done.Deleted, "session"), with(done))
	}
	if plan.Over > 0 {
		note("retention leaves %s for the next pass", counted(plan.Over, "session"))
	}
	if plan.Kept > 0 {
		note("retention deletes nothing below %s, which is missing or empty: %s kept",
			strings.Join(plan.Missing, ", "), counted(plan.Kept, "session"))
	}
	for _, line := range done.Failures {
		note("retention: %s", line)
	}
	return err
}

// with tells what went with deleted sessions.
func with(a retention.Applied) string {
	var parts []string
	if a.Observations > 0 {
		parts = append(parts, counted(a.Observations, "observation"))
	}
	if a.Decisions > 0 {
		parts = append(parts, counted(int(a.Decisions), "logged prompt"))
	}
	if len(parts) == 0 {
		return ""
	}
	return ", and with them " + strings.Join(parts, " and ")
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
