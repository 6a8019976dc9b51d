package index

import (
	"context"

	"github.com/terminus-archive/terminus/internal/store"
)

// Merging the search index. Each transaction leaves a segment or more, and each
// segment costs every search a look-up: at 180 of them, what a first pass over
// 500 MB leaves, 4 ms for a rare word and 8 ms for three. Sixteen segments of
// one level become one of the next, in slices: short transactions of their own,
// so that no pass and no reader waits for a long write.
const (
	// mergePages is how many pages of merged segments a slice writes: 20 to 40
	// ms of CPU. Twice as many take twice the time, half as many cost a third
	// more in all.
	mergePages = 250
	// mergeSlices follow a small pass. A hook may have started it; its own
	// segment is one of sixteen small ones, which one slice merges.
	mergeSlices = 4
	// mergePerSlice is how many bytes of transcript a slice merges, so that a
	// large pass leaves an index that is merged.
	mergePerSlice = 6 << 20
	// mergeSlicesAll bounds merging that is waited for: 4 GB of index.
	mergeSlicesAll = 4000
)

// Merge joins segments of the search index after a pass that took in that many
// bytes of transcript.
func Merge(ctx context.Context, w *store.Writer, bytes int64) error {
	return mergeBy(ctx, w, mergeSlices+int(bytes/mergePerSlice))
}

// MergeAll goes on until there is nothing to merge: no level with sixteen
// segments, none that is mostly removed rows.
func MergeAll(ctx context.Context, w *store.Writer) error {
	return mergeBy(ctx, w, mergeSlicesAll)
}

func mergeBy(ctx context.Context, w *store.Writer, slices int) error {
	for range slices {
		if err := ctx.Err(); err != nil {
			return err
		}
		wrote, err := mergeStep(ctx, w, mergePages)
		if err != nil || !wrote {
			return err
		}
		if err := w.TrimWAL(ctx); err != nil {
			return err
		}
	}
	return nil
}

// mergeStep makes one slice, and reports whether there was anything to merge.
func mergeStep(ctx context.Context, w *store.Writer, pages int) (wrote bool, err error) {
	if err := w.Begin(ctx); err != nil {
		return false, err
	}
	var before, after int64
	err = w.QueryRowContext(ctx, `SELECT total_changes()`).Scan(&before)
	if err == nil {
		_, err = w.ExecContext(ctx, `INSERT INTO turns_fts(turns_fts, rank) VALUES ('merge', ?)`, pages)
	}
	if err == nil {
		err = w.QueryRowContext(ctx, `SELECT total_changes()`).Scan(&after)
	}
	if err != nil {
		w.Rollback()
		return false, err
	}
	// FTS5 counts one change for the command itself.
	return after-before >= 2, w.Commit(ctx)
}
