package feedback

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/document"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/store"
)

const (
	// drainBytes ends a transaction: decisions that waited for a long time must
	// not make one that readers have to step over.
	drainBytes = 8 << 20
	// staleAfter is the age from which on a file that is being written belongs to
	// a hook that was killed: a hook lives for less than a second.
	staleAfter = time.Hour
)

// A Failure is a file that could not be moved.
type Failure struct{ Path, Reason string }

// A Drained says what Drain did.
type Drained struct {
	// Decisions is how many were moved into the table.
	Decisions int
	// Failures are the files that hold no decision, and are gone, or the folder
	// that cannot be listed.
	Failures []Failure
	// Newer counts the files that a later build left, and that stay for it.
	Newer int
}

// Drain moves the decisions that hooks left in dataDir into the table, in the
// order of the files' names, and removes each file once its row is committed; a
// file whose row is there already is only removed. A decision that does not
// know the highest session number gets the present one. w must not be in a
// transaction. now decides which unfinished files were given up.
func Drain(ctx context.Context, w *store.Writer, dataDir string, now time.Time) (Drained, error) {
	var res Drained
	dir := filepath.Join(dataDir, dirName)
	fsx.SweepStale(dir, tempPrefix, tempSuffix, now.Add(-staleAfter))
	names, err := waiting(dataDir)
	if err != nil {
		res.Failures = append(res.Failures, Failure{dir, err.Error()})
	}
	if len(names) == 0 {
		return res, nil
	}
	newest, err := archive.NewestSessionNo(ctx, w)
	if err != nil {
		return res, err
	}
	var moved []string // whose rows stand in the open transaction
	var open int64
	commit := func() error {
		if err := w.Commit(ctx); err != nil {
			return err
		}
		for _, path := range moved {
			_ = os.Remove(path) // one that stays is known by its name
		}
		res.Decisions += len(moved)
		moved, open = moved[:0], 0
		return nil
	}
	defer w.Rollback()
	for _, name := range names {
		path := filepath.Join(dir, name)
		d, size, err := read(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, errNewer):
			res.Newer++
			continue
		case err != nil:
			_ = os.Remove(path)
			res.Failures = append(res.Failures, Failure{path, err.Error()})
			continue
		}
		if d.WatermarkSessionNo == nil && newest.Valid {
			d.WatermarkSessionNo = &newest.Int64
		}
		if err := w.Begin(ctx); err != nil {
			return res, err
		}
		if err := insert(ctx, w, name, &d); err != nil {
			return res, err
		}
		moved = append(moved, path)
		if open += size; open >= drainBytes {
			if err := commit(); err != nil {
				return res, err
			}
		}
	}
	return res, commit()
}

// insert is the one place that makes rows of the table.
func insert(ctx context.Context, w *store.Writer, file string, d *Decision) error {
	lists := make([]any, 0, 6)
	for _, list := range []any{d.Spellings, d.Candidates, d.Injected, d.Suppressed, d.Dropped, d.Thresholds} {
		text, err := document.Encode(list)
		if err != nil {
			return err
		}
		lists = append(lists, string(text))
	}
	args := []any{file, d.SessionID, d.stamp(), d.CWD, d.Prompt, d.WatermarkSessionNo, d.Compacted}
	args = append(args, lists...)
	args = append(args, d.CharsInjected, d.Text, d.Reason, d.Looked)
	_, err := w.ExecContext(ctx, `INSERT INTO decisions(file, session_id, ts, cwd, prompt, watermark_session_no, compacted,
		spellings, candidates, injected, suppressed, dropped, thresholds, chars_injected, text, reason, looked)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (file) DO NOTHING`, args...)
	return err
}
