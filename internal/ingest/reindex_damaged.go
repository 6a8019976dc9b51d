package ingest

import (
	"context"
	"fmt"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/store"
)

// noWords says what an evicted session lost with a damaged search index.
const noWords = "the search index was damaged and was made anew: its bytes are evicted, so it is no longer found by its words"

// renewSearch empties a search index that is damaged, so that a reindex fills it
// again, and reports whether it was. The words of evicted sessions stood nowhere
// else: kept are their turns, and what these name. Killed, it leaves a store of
// which the next pass derives every session again.
func renewSearch(ctx context.Context, db *store.DB) (renewed bool, err error) {
	w, err := db.Writer(ctx)
	if err != nil {
		return false, err
	}
	damaged, err := index.Damaged(ctx, w)
	if err == nil && damaged {
		err = forgetDerived(ctx, w)
	}
	if e := w.Close(); err == nil {
		err = e
	}
	if err != nil || !damaged {
		return false, err
	}
	return true, db.RenewSearch(ctx)
}

func forgetDerived(ctx context.Context, w *store.Writer) error {
	if err := w.Begin(ctx); err != nil {
		return err
	}
	err := archive.MarkAllUnderived(ctx, w)
	if err == nil {
		err = index.ForgetLengths(ctx, w)
	}
	if err == nil {
		err = archive.SetMetaValue(ctx, w, cursorKey, "")
	}
	if err != nil {
		w.Rollback()
		return err
	}
	return w.Commit(ctx)
}

// wordless moves the evicted sessions from those whose rows were preserved to
// those that are skipped.
func (r Reindexed) wordless(ctx context.Context, db *store.DB) (Reindexed, error) {
	list, err := archive.Derivables(ctx, db)
	if err != nil {
		return r, fmt.Errorf("list the evicted sessions: %w", store.Wrap("read", db.Path, err))
	}
	for _, d := range list {
		if d.Evicted && d.Slot >= 0 {
			r.Skipped = append(r.Skipped, Skipped{d.Key, noWords})
			r.Preserved--
		}
	}
	return r, nil
}
