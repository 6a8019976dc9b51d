package index

import (
	"context"
	"fmt"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Damaged reports whether the search index is not whole by FTS5's own check, which
// reads all of it. w must not be in a transaction.
func Damaged(ctx context.Context, w *store.Writer) (bool, error) {
	_, err := w.ExecContext(ctx, `INSERT INTO turns_fts(turns_fts) VALUES ('integrity-check')`)
	if store.IsKind(err, store.Damaged) {
		return true, nil
	}
	return false, err
}

// A Checker compares a session's turns with what its stream gives: every turn
// must stand where deriving it again would put it. It is an archive.Checker.
type Checker struct {
	// Lookup finds a harness by its id.
	Lookup func(id string) (harness.Harness, bool)

	h        harness.Harness
	state    transcript.State
	no       int64
	want     []span           // by turn_seq, from the stream
	byNative map[string]int64 // turn_seq of a native id
	have     map[int64]span   // by turn_seq, from the table
	problem  string
}

type span struct{ off, n int64 }

// Begin reads the turns that the table holds.
func (c *Checker) Begin(ctx context.Context, q archive.Querier, key string, no int64) error {
	*c = Checker{Lookup: c.Lookup, no: no, have: map[int64]span{}, byNative: map[string]int64{}, state: transcript.State{Key: key}}
	var id string
	if err := q.QueryRowContext(ctx, `SELECT harness FROM sessions WHERE session_no = ?`, no).Scan(&id); err != nil {
		return err
	}
	h, ok := c.Lookup(id)
	if !ok {
		c.problem = fmt.Sprintf("its harness %q is not known to this build", id)
		return nil
	}
	c.h = h
	rows, err := q.QueryContext(ctx, `SELECT id, stream_offset, byte_len FROM turns WHERE id >= ? AND id < ?`,
		no<<archive.TurnBits, (no+1)<<archive.TurnBits)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var s span
		if err := rows.Scan(&id, &s.off, &s.n); err != nil {
			return err
		}
		c.have[id&(MaxTurns-1)] = s
	}
	return rows.Err()
}

// Line derives one line.
func (c *Checker) Line(l archive.Line) {
	if c.h == nil || !l.Whole() {
		return
	}
	for _, t := range c.h.Turns(l.Bytes, &c.state) {
		s := span{l.Off + int64(t.Off), int64(t.Len)}
		if t.NativeID != "" {
			if seq, ok := c.byNative[t.NativeID]; ok {
				c.want[seq] = s
				continue
			}
		}
		if len(c.want) == MaxTurns {
			continue
		}
		if t.NativeID != "" {
			c.byNative[t.NativeID] = int64(len(c.want))
		}
		c.want = append(c.want, s)
	}
}

// maxFindings bounds what one session reports about its turns: past it the
// table is simply wrong as a whole.
const maxFindings = 20

// End compares.
func (c *Checker) End(whole bool) []string {
	if c.problem != "" {
		return []string{c.problem}
	}
	if !whole {
		return nil
	}
	var out []string
	add := func(format string, args ...any) {
		if len(out) < maxFindings {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	for seq, want := range c.want {
		id := c.no<<archive.TurnBits | int64(seq)
		got, ok := c.have[int64(seq)]
		switch {
		case !ok:
			add("turn %d is missing", id)
		case got != want:
			add("turn %d is said to be %d bytes at %d, its record is %d bytes at %d", id, got.n, got.off, want.n, want.off)
		}
	}
	if extra := len(c.have) - len(c.want); extra > 0 {
		add("%d turns have no record", extra)
	}
	return out
}
