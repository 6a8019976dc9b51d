package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/terminus-archive/terminus/internal/store"
)

// planSnapshot finds out whether a snapshot is due when the pass is over. A pass over
// one transcript and a backfill make none.
func (p *pass) planSnapshot(ctx context.Context) error {
	c := p.o.Config.Snapshot
	if !c.Enabled || p.o.Path != "" || p.o.Backfill {
		return nil
	}
	due, err := store.SnapshotDue(ctx, p.db, p.started, snapshotEvery(c.IntervalHours))
	if err != nil || !due {
		return store.Wrap("read", p.db.Path, err)
	}
	if err := store.RoomForSnapshot(p.o.Config.DataDir); err != nil {
		p.res.NoSnapshot = fmt.Sprintf("no snapshot was made: %v", err)
		return nil
	}
	p.snapshotDue = true
	return nil
}

// snapshot makes a copy of the store where one is due. It runs without the lock.
func (p *pass) snapshot(ctx context.Context, res *Result) {
	if !p.snapshotDue {
		return
	}
	c := p.o.Config.Snapshot
	made, err := store.TakeSnapshot(ctx, store.SnapshotOptions{
		DataDir: p.o.Config.DataDir, Now: p.o.Now(), Every: snapshotEvery(c.IntervalHours), Keep: c.Keep,
		Progress: p.o.SnapshotProgress,
	})
	switch {
	case err == nil || ctx.Err() != nil:
	case made:
		res.NoSnapshot = fmt.Sprintf("a snapshot was made, but: %v", err)
	default:
		res.NoSnapshot = fmt.Sprintf("no snapshot was made: %v", err)
	}
}

func snapshotEvery(hours int) time.Duration { return time.Duration(hours) * time.Hour }
