package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/store"
)

const (
	// compactCopies is how often the pages in use stand on the disk beside the
	// store while it is compacted: in a temporary file, and in the log.
	compactCopies = 2
	// compactLook is how often the progress of a compaction is looked at.
	compactLook = 200 * time.Millisecond
)

// A Compacted is what compacting did to the files of a store.
type Compacted struct {
	Before, After store.Files
	// Homed is false where a reader kept the log from being truncated.
	Homed bool
}

// CompactOptions say how to compact.
type CompactOptions struct {
	DataDir string
	// Progress, if not nil, is told how many bytes of how many are written.
	Progress func(done, total int64)
}

// Compact gives the free pages of a store back to the file system, under the lock.
// It deletes nothing. The sizes are measured with the store open, before and after
// in the same state.
//
// The error is store.ErrNoStore, a *LockedError, one that wraps ErrNoSpace, or that
// of the store. With a *LockedError both measures are of the store as it is.
func Compact(ctx context.Context, o CompactOptions) (Compacted, error) {
	unlock, err := lockStore(ctx, o.DataDir)
	var held *LockedError
	if errors.As(err, &held) {
		now := store.Measure(store.Path(o.DataDir))
		return Compacted{Before: now, After: now}, err
	}
	if err != nil {
		return Compacted{}, err
	}
	defer unlock()
	sweep(o.DataDir)
	return compact(ctx, o)
}

func compact(ctx context.Context, o CompactOptions) (c Compacted, err error) {
	path := store.Path(o.DataDir)
	err = withWriter(ctx, o.DataDir, func(w *store.Writer) error {
		c.Before = store.Measure(path)
		live, err := w.LiveBytes(ctx)
		if err != nil {
			return err
		}
		free, err := fsx.FreeSpace(o.DataDir)
		known := err == nil
		if need := uint64(compactCopies*live) + freeReserve; known && need > free {
			return fmt.Errorf("%w in %s: %d MB are free, compacting needs %d MB for a while", ErrNoSpace, o.DataDir, free>>20, need>>20)
		}
		if known {
			defer watch(o, free, compactCopies*live)()
		}
		c.Homed, err = w.Compact(ctx)
		return err
	})
	if err != nil {
		return Compacted{}, err
	}
	// Once more from the start: the shared memory file keeps the size that the log
	// gave it for as long as it is open.
	err = withWriter(ctx, o.DataDir, func(*store.Writer) error {
		c.After = store.Measure(path)
		return nil
	})
	return c, err
}

func withWriter(ctx context.Context, dataDir string, do func(*store.Writer) error) error {
	db, err := store.OpenWriter(ctx, dataDir)
	if err != nil {
		return err
	}
	defer db.Close()
	w, err := db.Writer(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	return do(w)
}

// watch tells of progress until the function that it returns is called. The
// temporary file has no name, so what is written is seen by the space that is no
// longer free; what other programs write meanwhile blurs it.
func watch(o CompactOptions, free uint64, total int64) (stop func()) {
	if o.Progress == nil {
		return func() {}
	}
	end := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		most := int64(0)
		tick := time.NewTicker(compactLook)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			if now, err := fsx.FreeSpace(o.DataDir); err == nil && now < free {
				most = max(most, min(int64(free-now), total))
			}
			o.Progress(most, total)
		}
	})
	return func() {
		close(end)
		looking.Wait()
	}
}
