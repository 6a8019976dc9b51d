package observe

import (
	"context"
	"errors"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/store"
)

// A Regenerated is what Regenerate did.
type Regenerated struct {
	Selected    int64
	Regenerated int64
	// Notes say why the facts of a selected session stayed as they were, a line each.
	Notes []string
}

// Regenerate computes the facts anew of every session that has a row and is not
// excluded, or of those whose last turn is at or after since, if that is not zero.
// Times are compared, not their texts; a session without that time is outside every
// bound. It changes the facts and nothing else of a row, in the order of keys, a
// transaction each, and makes no row. q reads while w writes; progress is told how
// many rows are done.
func Regenerate(ctx context.Context, q archive.Querier, w *store.Writer, since time.Time, o Options, progress func(done, total int64)) (Regenerated, error) {
	var r Regenerated
	list, total, err := selected(ctx, q, since, o.Hidden)
	if err != nil {
		return r, err
	}
	r.Selected = int64(len(list))
	var done int64
	for _, s := range list {
		err := rewrite(ctx, q, w, s.key, o.Lookup)
		var unreadable *UnreadableError
		switch {
		case errors.As(err, &unreadable):
			r.Notes = append(r.Notes, unreadable.Error())
		case err != nil:
			w.Rollback()
			return r, err
		default:
			r.Regenerated++
		}
		if err := w.TrimWAL(ctx); err != nil {
			return r, err
		}
		if done += s.len; progress != nil {
			progress(done, total)
		}
	}
	return r, nil
}

// A row is one that is to be rewritten, with the length of its session's stream.
type row struct {
	key string
	len int64
}

// selected are the rows that are to be rewritten, in the order of keys, and the
// length of all their streams.
func selected(ctx context.Context, q archive.Querier, since time.Time, hidden Hidden) (out []row, total int64, err error) {
	keys, err := observed(ctx, q)
	if err != nil {
		return nil, 0, err
	}
	for _, key := range keys {
		at, err := archive.PlaceOf(ctx, q, key)
		if err != nil {
			return nil, 0, err
		}
		if hidden.hides(at.Project, at.PreWorktree) {
			continue
		}
		if last, ok := archive.ParseTime(at.LastTurnAt); since.IsZero() || ok && !last.Before(since) {
			out = append(out, row{key, at.StreamLen})
			total += at.StreamLen
		}
	}
	return out, total, nil
}

// observed are the keys of all rows, in order.
func observed(ctx context.Context, q archive.Querier) ([]string, error) {
	rows, err := q.QueryContext(ctx, `SELECT session_key FROM observations ORDER BY session_key`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}

func rewrite(ctx context.Context, q archive.Querier, w *store.Writer, key string, lookup Lookup) error {
	f, err := Read(ctx, q, key, lookup)
	if err != nil {
		return err
	}
	text, err := encode(f)
	if err != nil {
		return &UnreadableError{key, err}
	}
	if err := w.Begin(ctx); err != nil {
		return err
	}
	if _, err := w.ExecContext(ctx, `UPDATE observations SET mechanical = ? WHERE session_key = ?`, text, key); err != nil {
		return err
	}
	return w.Commit(ctx)
}
