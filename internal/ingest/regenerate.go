package ingest

import (
	"context"
	"time"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/observe"
	"github.com/terminus-archive/terminus/internal/store"
)

// Regenerate computes the facts of observed sessions anew, under the lock; see
// observe.Regenerate. The error is store.ErrNoStore, a *LockedError, or that of the
// store.
func Regenerate(ctx context.Context, cfg *config.Config, since time.Time, progress func(done, total int64)) (observe.Regenerated, error) {
	var none observe.Regenerated
	unlock, err := lockStore(ctx, cfg.DataDir)
	if err != nil {
		return none, err
	}
	defer unlock()
	db, err := store.OpenWriter(ctx, cfg.DataDir)
	if err != nil {
		return none, err
	}
	defer db.Close()
	w, err := db.Writer(ctx)
	if err != nil {
		return none, err
	}
	defer w.Close()
	reader, err := store.OpenReader(ctx, db.Path)
	if err != nil {
		return none, err
	}
	defer reader.Close()
	o := observe.Options{Lookup: registry.ByID, Hidden: hidden(cfg.Exclude)}
	r, err := observe.Regenerate(ctx, reader, w, since, o, progress)
	if err != nil {
		return none, store.Wrap("read", db.Path, err)
	}
	_ = reader.Close() // the last checkpoint must not meet our own reader
	return r, w.Checkpoint(ctx)
}
