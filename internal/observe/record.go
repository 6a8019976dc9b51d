package observe

import (
	"context"
	"errors"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/store"
)

// PerPass bounds how many sessions one pass observes, the contract's number:
// each is read whole, and the next pass goes on.
const PerPass = 100

// Options say what is observed, and how.
type Options struct {
	Lookup Lookup
	Hidden Hidden
	// Now is when the rows are made.
	Now time.Time
}

// A Recorded is what Record did.
type Recorded struct {
	// Observed counts the sessions whose facts were written.
	Observed int
	// Unreadable says why there are none of a session, a line each.
	Unreadable []string
	// Waiting counts the visible sessions that are left for the next pass.
	Waiting int64
}

// Record writes the facts of sessions that were closed, at most 100, in the order in
// which they were archived: a row for one that has none, else new facts in its row.
// One whose bytes retention took is left alone. One that cannot be read is tried
// again by each pass, after all others. Each session is a transaction of its own.
func Record(ctx context.Context, w *store.Writer, o Options) (Recorded, error) {
	var r Recorded
	var keys []string
	more := false
	err := archive.EachUnobserved(ctx, w, func(u archive.Unobserved) bool {
		if o.Hidden.hides(u.Project, u.PreWorktree) {
			return true
		}
		if more = len(keys) == PerPass; !more {
			keys = append(keys, u.Key)
		}
		return !more
	})
	if err != nil {
		return r, err
	}
	if more {
		if r.Waiting, err = archive.CountUnobserved(ctx, w, o.Hidden); err != nil {
			return r, err
		}
		r.Waiting -= int64(len(keys))
	}
	for _, key := range keys {
		err := record(ctx, w, key, o)
		var unreadable *UnreadableError
		switch {
		case errors.As(err, &unreadable):
			r.Unreadable = append(r.Unreadable, unreadable.Error())
			err = postpone(ctx, w, key)
		case err == nil:
			r.Observed++
		}
		if err != nil {
			w.Rollback()
			return r, err
		}
		if err := w.TrimWAL(ctx); err != nil {
			return r, err
		}
	}
	return r, nil
}

func record(ctx context.Context, w *store.Writer, key string, o Options) error {
	f, id, err := read(ctx, w, key, o.Lookup)
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
	_, err = w.ExecContext(ctx, `INSERT INTO observations(session_key, session_id, generated_at, mechanical) VALUES (?, ?, ?, ?)
		ON CONFLICT(session_key) DO UPDATE SET session_id = excluded.session_id, mechanical = excluded.mechanical`,
		key, some(id), archive.Stamp(o.Now), text)
	if err == nil {
		err = archive.MarkObserved(ctx, w, key)
	}
	if err != nil {
		return err
	}
	return w.Commit(ctx)
}

func postpone(ctx context.Context, w *store.Writer, key string) error {
	if err := w.Begin(ctx); err != nil {
		return err
	}
	if err := archive.PostponeObserving(ctx, w, key); err != nil {
		return err
	}
	return w.Commit(ctx)
}
