// Package observe owns the table of observations: the mechanical facts of each
// session that is closed, read from its archived records and from nothing else.
//
// A row is made once, when a session has been closed, and kept for as long as the
// session is: after its bytes are gone as well, for nothing could make it again.
// Facts are computed anew where the session has grown, and where that is asked for.
//
// What a session is remembered by costs memory that does not depend on its length.
package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/document"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// A Lookup finds a harness by its id.
type Lookup func(id string) (harness.Harness, bool)

// A Hidden reports whether a session of that project, and of that directory before
// it was folded onto the project, is excluded. A nil one excludes nothing.
type Hidden func(project, preWorktree string) bool

func (h Hidden) hides(project, preWorktree string) bool { return h != nil && h(project, preWorktree) }

// An UnreadableError is why the facts of one session cannot be computed. Another
// session's can.
type UnreadableError struct {
	Key string
	Err error
}

func (e *UnreadableError) Error() string {
	var damage *archive.DamageError
	why := e.Err.Error()
	if errors.As(e.Err, &damage) {
		if why = damage.Detail; damage.Block != nil {
			why = fmt.Sprintf("block %d: %s", *damage.Block, damage.Detail)
		}
	}
	return e.Key + ": " + why
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// Read computes the facts of a session. The error is an *UnreadableError, or that
// of the store.
func Read(ctx context.Context, q archive.Querier, key string, lookup Lookup) (Facts, error) {
	f, _, err := read(ctx, q, key, lookup)
	return f, err
}

func read(ctx context.Context, q archive.Querier, key string, lookup Lookup) (f Facts, sessionID string, err error) {
	s, ok, err := archive.Load(ctx, q, key)
	var damage *archive.DamageError
	switch {
	case errors.As(err, &damage) && ok && s.Meta.TranscriptPath == "":
		// Without its metadata a session still has its records.
		if s.Tail.StreamLen, err = archive.BlocksEnd(ctx, q, s.No); err == nil && s.Tail.StreamLen == 0 {
			err = damage // its records are gone as well: nothing may take the place of what was observed
		}
	case err == nil && !ok:
		err = errors.New("it is gone")
	case s.Evicted:
		err = archive.ErrEvicted
	}
	if err == nil {
		f, err = ofSession(ctx, q, s, lookup)
	}
	var broken *store.Error
	if err != nil && ctx.Err() == nil && (!errors.As(err, &broken) || broken.Kind == store.Damaged) {
		err = &UnreadableError{key, err}
	}
	return f, s.Meta.SessionID, err
}

func ofSession(ctx context.Context, q archive.Querier, s archive.Session, lookup Lookup) (Facts, error) {
	h, ok := lookup(s.Harness)
	if !ok {
		return Facts{}, fmt.Errorf("its harness %q is not known to this build", s.Harness)
	}
	var c collector
	if m, ok := h.(harness.Modifier); ok {
		c.modifies = m.Modifies
	}
	if err := c.stream(ctx, q, s, h); err != nil {
		return Facts{}, err
	}
	f := c.facts()
	var err error
	if f.Turns, err = index.CountTurns(ctx, q, s.No); err != nil {
		return Facts{}, err
	}
	if f.Compactions, err = index.CountBoundaries(ctx, q, s.No); err != nil {
		return Facts{}, err
	}
	f.Branch, f.FirstTurnAt, f.LastTurnAt = some(s.Meta.Branch), some(s.Meta.FirstTurnAt), some(s.Meta.LastTurnAt)
	first, began := archive.ParseTime(s.Meta.FirstTurnAt)
	last, ended := archive.ParseTime(s.Meta.LastTurnAt)
	if began && ended {
		seconds := int64(last.Sub(first) / time.Second)
		f.DurationSeconds = &seconds
	}
	return f, nil
}

func some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// stream takes in every turn of a session. Of a record that is a row only the
// newest line counts.
func (c *collector) stream(ctx context.Context, q archive.Querier, s archive.Session, h harness.Harness) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading it failed: %v", r)
		}
	}()
	rows, err := archive.HasRecordIDs(ctx, q, s.No)
	if err != nil {
		return err
	}
	lines := archive.NewLineReader(archive.Stream(ctx, q, s.No, s.Tail.StreamLen), 0)
	defer lines.Release()
	state := transcript.State{Key: s.Key}
	for {
		l, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !l.Whole():
			continue
		}
		if id, ok := transcript.WrappedID(l.Bytes); rows && ok {
			newest, err := index.HoldsAt(ctx, q, s.No, id, l.Off)
			if err != nil {
				return err
			}
			if !newest {
				continue
			}
		}
		turns := h.Turns(l.Bytes, &state)
		for i := range turns {
			c.turn(&turns[i])
		}
	}
}

// encode is how facts stand in the table: with sorted keys, as they are printed.
func encode(f Facts) (string, error) {
	text, err := document.Encode(f)
	return string(text), err
}

// Decode reads facts as the table, or a document, holds them. ok is false where
// text is something else.
func Decode(text []byte) (f Facts, ok bool) {
	return f, json.Unmarshal(text, &f) == nil
}

// Delete removes the row of a session, before the session itself is deleted, and
// reports whether there was one.
func Delete(ctx context.Context, w archive.Execer, key string) (bool, error) {
	res, err := w.ExecContext(ctx, `DELETE FROM observations WHERE session_key = ?`, key)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// Rename files the row of a session under its new key, in the transaction in which
// the session gets it.
func Rename(ctx context.Context, w archive.Execer, from, to string) error {
	_, err := w.ExecContext(ctx, `UPDATE observations SET session_key = ? WHERE session_key = ?`, to, from)
	return err
}
