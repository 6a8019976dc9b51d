package ingest

import (
	"context"
	"fmt"
	"strings"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/retention"
	"github.com/terminus-archive/terminus/internal/store"
)

// retain evicts and deletes what retention asks for, and finishes erasing what was
// deleted, by an earlier pass perhaps. What of it cannot be done is a note.
func retain(ctx context.Context, p *pass, w *store.Writer) error {
	note := func(format string, args ...any) { p.res.Notes = append(p.res.Notes, fmt.Sprintf(format, args...)) }
	if p.o.Config.Retention.Acts() {
		if err := p.applyRetention(ctx, w, note); err != nil {
			return err
		}
	}
	pending, err := index.PurgePending(ctx, w)
	if err != nil || !pending {
		return store.Wrap("read", p.db.Path, err)
	}
	cleared, err := index.Purge(ctx, w)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		w.Rollback()
		note("words of deleted sessions are still in the files of the store, the next pass tries again: %v", err)
	case !cleared:
		note("words of deleted sessions are still in the log of the store, because it is being read: the next pass goes on")
	}
	return nil
}

func (p *pass) applyRetention(ctx context.Context, w *store.Writer, note func(format string, args ...any)) error {
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
		note("retention deleted %s%s", counted(done.Deleted, "session"), goneAsWell(done))
	}
	if done.Deleted > 0 {
		p.noteSnapshots(note)
		for _, path := range store.Replaced(p.o.Config.DataDir) {
			note("%s, which a restore replaced, may hold what was deleted: remove it when you are sure", path)
		}
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

// noteSnapshots says until when copies of the store hold what was deleted.
func (p *pass) noteSnapshots(note func(format string, args ...any)) {
	c := p.o.Config.Snapshot
	until, some, err := store.SnapshotsUntil(p.o.Config.DataDir, snapshotEvery(c.IntervalHours), c.Keep)
	switch {
	case err != nil:
		note("what was deleted may stand in snapshots, which cannot be listed: %v", err)
	case some && c.Enabled:
		note("snapshots that were made before hold what was deleted, the newest until %s at the earliest", archive.Stamp(until))
	case some:
		note("snapshots that were made before hold what was deleted, and none is made any more that would replace them")
	}
}

// goneAsWell tells what deleted sessions took with them.
func goneAsWell(a retention.Applied) string {
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
	return "; gone as well: " + strings.Join(parts, ", ")
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
