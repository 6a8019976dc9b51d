package ingest

import (
	"context"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/store"
)

const (
	// idleAfter is how old a session's last turn is when the session is closed, the
	// contract's number: longer than a meeting, shorter than a night.
	idleAfter = 6 * time.Hour
	// closedAtOnce bounds a transaction: after a backfill every session is due.
	closedAtOnce = 1000
)

// closeIdle closes the sessions, subagents' among them, whose last turn is more than
// six hours old when the pass begins.
func closeIdle(ctx context.Context, p *pass, w *store.Writer) error {
	keys, err := archive.Idle(ctx, w, p.started.Add(-idleAfter))
	if err != nil {
		return err
	}
	for i, key := range keys {
		if err := w.Begin(ctx); err != nil {
			return err
		}
		if err := archive.Finalize(ctx, w, key); err != nil {
			return err
		}
		if i%closedAtOnce < closedAtOnce-1 && i < len(keys)-1 {
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
