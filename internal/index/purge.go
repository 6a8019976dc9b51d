package index

import (
	"context"
	"errors"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/store"
)

const (
	// purgeRounds bounds how often the whole index is merged: once, and once more
	// for what was marked as removed while the first merge was under way.
	purgeRounds = 3
	// purgeWait is how long the end of a purge waits for readers to let go of the
	// log: a query takes less, a copy of the whole store may take longer.
	purgeWait = 5 * time.Second
)

// errUnmerged means that the index did not come to rest.
var errUnmerged = errors.New("the search index still has segments to merge")

// Purge removes the words of deleted rows from the files of the store. FTS5 only
// marks a row as removed, so the index is merged into one segment, in slices with
// a checkpoint between; then the copies are overwritten that SQLite left in its
// pages, and the log is brought home and truncated. Nothing of what was deleted is
// then in the database, in its log, or in a copy made later. Copies made before
// keep it.
//
// w must not be in a transaction. cleared is false where a reader of an earlier
// state kept the log from being truncated: the note that a Purge is owed then
// stays, and the next one goes on; so it does after a Purge that failed or died.
func Purge(ctx context.Context, w *store.Writer) (cleared bool, err error) {
	if err := mergeIntoOne(ctx, w); err != nil {
		return false, err
	}
	if err := w.Scrub(ctx); err != nil {
		return false, err
	}
	if cleared, err = w.Truncate(ctx, purgeWait); err != nil || !cleared {
		return false, err
	}
	if err := w.Begin(ctx); err != nil {
		return false, err
	}
	if err := archive.SetMetaValue(ctx, w, pendingKey, ""); err != nil {
		w.Rollback()
		return false, err
	}
	return true, w.Commit(ctx)
}

// mergeIntoOne merges the index until it is one segment without removed rows.
func mergeIntoOne(ctx context.Context, w *store.Writer) error {
	for range purgeRounds {
		// A negative number takes all segments for the input of one merge.
		wrote, err := mergeStep(ctx, w, -mergePages)
		if err != nil || !wrote {
			return err
		}
		if err := mergeBy(ctx, w, mergeSlicesAll); err != nil {
			return err
		}
	}
	return errUnmerged
}
