package search

import (
	"context"
	"database/sql"
	"errors"

	"github.com/terminus-archive/terminus/internal/archive"
)

const turnBits = archive.TurnBits

// TurnBits is how many low bits of a turn id are its turn_seq; the others are its
// session's number.
const TurnBits = archive.TurnBits

// An Owner is the session that a turn belongs to.
type Owner struct {
	No            int64
	Key           string
	Harness       string
	Project       *string
	Branch        *string
	ContinuesFrom *string
	Sidechain     bool // a subagent's session
	Evicted       bool // retention dropped bytes of it
}

// A Turn is a row of the table turns, with its session.
type Turn struct {
	ID       int64
	Type     string  // the record type
	Tool     *string // the name of its first tool call
	TS       *string // as the harness wrote it
	Typed    bool    // a person typed it
	Current  bool    // part of the newest state of its transcript
	NativeID string  // the harness's own id, where its records are rows
	Off, Len int64   // its span in the session's stream, in bytes
	Session  Owner
}

// Seq is the turn's place in its session, from 0.
func (t *Turn) Seq() int64 { return t.ID & seqMask }

// turnColumns are the columns that targets scans, of turns as t, sessions as s
// and session_meta as m.
const turnColumns = `t.id, t.record_type, t.tool_name, t.ts, coalesce(t.is_typed, 0), t.in_current,
	coalesce(t.native_id, ''), t.stream_offset, t.byte_len, ` + ownerColumns

const ownerColumns = `s.session_no, s.session_key, s.harness, m.project, m.branch, m.continues_from,
	m.parent_session_key IS NOT NULL, coalesce(m.is_evicted, 0)`

func (t *Turn) targets() []any {
	return append([]any{
		&t.ID, &t.Type, &t.Tool, &t.TS, &t.Typed, &t.Current, &t.NativeID, &t.Off, &t.Len,
	}, t.Session.targets()...)
}

func (o *Owner) targets() []any {
	return []any{&o.No, &o.Key, &o.Harness, &o.Project, &o.Branch, &o.ContinuesFrom, &o.Sidechain, &o.Evicted}
}

const turnFrom = ` FROM turns t JOIN sessions s ON s.session_no = t.id >> 24
	LEFT JOIN session_meta m ON m.session_key = s.session_key`

// Turn looks up one turn. ok is false when there is none, and when v does not
// show it.
func (s *Snapshot) Turn(ctx context.Context, v View, id int64) (t Turn, ok bool, err error) {
	cond, args := v.where()
	args = append([]any{id}, args...)
	err = s.tx.QueryRowContext(ctx, `SELECT `+turnColumns+turnFrom+` WHERE t.id = ? AND `+cond, args...).Scan(t.targets()...)
	if errors.Is(err, sql.ErrNoRows) {
		return t, false, nil
	}
	return t, err == nil, s.r.wrap(err)
}

// Turns reads at most limit turns of one session whose turn_seq lies from first
// to last, both included, in that order. The session is one that a View showed.
func (s *Snapshot) Turns(ctx context.Context, session, first, last int64, limit int) ([]Turn, error) {
	var out []Turn
	first, last = max(first, 0), min(last, seqMask)
	if first > last {
		return nil, nil
	}
	err := s.each(ctx, func(rows *sql.Rows) error {
		var t Turn
		if err := rows.Scan(t.targets()...); err != nil {
			return err
		}
		out = append(out, t)
		return nil
	}, `SELECT `+turnColumns+turnFrom+` WHERE t.id BETWEEN ? AND ? ORDER BY t.id LIMIT ?`,
		session<<turnBits|first, session<<turnBits|last, limit)
	return out, err
}

// Ends gives the lowest and the highest turn_seq of a session. ok is false when
// it has no turn.
func (s *Snapshot) Ends(ctx context.Context, session int64) (first, last int64, ok bool, err error) {
	var low, high sql.NullInt64
	// Two statements in one: min and max together would read every turn.
	err = s.tx.QueryRowContext(ctx, `SELECT
		(SELECT min(id) FROM turns WHERE id BETWEEN ?1 AND ?2),
		(SELECT max(id) FROM turns WHERE id BETWEEN ?1 AND ?2)`,
		session<<turnBits, session<<turnBits|seqMask).Scan(&low, &high)
	return low.Int64 & seqMask, high.Int64 & seqMask, low.Valid, s.r.wrap(err)
}
