package ingest

import (
	"context"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/store"
)

const (
	// closedAtOnce bounds a transaction: after a backfill every session is due.
	closedAtOnce = 1000
)

// closeIdle closes the sessions, subagents' among them, whose last turn is more than
// six hours old when the pass begins.
func closeIdle(ctx context.Context, p *pass, w *store.Writer) error {
	idle, err := archive.Idle(ctx, w, p.started.Add(-archive.IdleAfter))
	if err != nil {
		return err
	}
	for i, s := range idle {
		if err := w.Begin(ctx); err != nil {
			return err
		}
		if err := archive.Finalize(ctx, w, s.Key); err != nil {
			return err
		}
		if i%closedAtOnce < closedAtOnce-1 && i < len(idle)-1 {
			continue
		}
		if err := w.Commit(ctx); err != nil {
			return err
		}
		if err := w.TrimWAL(ctx); err != nil {
			return err
		}
	}
	return nil
}
