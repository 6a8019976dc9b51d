package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/observe"
	"github.com/terminus-archive/terminus/internal/store"
)

// Regenerate computes the facts of observed sessions anew, under the lock; see
// observe.Regenerate. The error is store.ErrNoStore, a *LockedError, or that of the
// store.
func Regenerate(ctx context.Context, cfg *config.Config, since time.Time, progress func(done, total int64)) (observe.Regenerated, error) {
	var none observe.Regenerated
	// Taking the lock makes a file: a store must be there, and be ours.
	reader, err := store.OpenReader(ctx, store.Path(cfg.DataDir))
	if err != nil {
		return none, err
	}
	defer reader.Close()
	name := filepath.Join(cfg.DataDir, LockName)
	lock, held, err := fsx.TryLock(name)
	if err != nil {
		return none, fmt.Errorf("take the ingest lock: %w", err)
	}
	if held {
		return none, &LockedError{name}
	}
	defer func() { _ = lock.Unlock() }()
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
	o := observe.Options{Lookup: registry.ByID, Hidden: hidden(cfg.Exclude)}
	r, err := observe.Regenerate(ctx, reader, w, since, o, progress)
	if err != nil {
		return none, store.Wrap("read", db.Path, err)
	}
	_ = reader.Close() // the last checkpoint must not meet our own reader
	return r, w.Checkpoint(ctx)
}
