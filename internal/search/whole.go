package search

import (
	"context"
	"database/sql"
	"errors"
	"io"

	"github.com/terminus-archive/terminus/internal/archive"
)

// A Whole is one session with what it takes to copy it out of the archive.
type Whole struct {
	Key         string
	No          int64
	SessionID   *string
	Project     *string
	FirstTurnAt *string
	LastTurnAt  *string
	Turns       int64
	Bytes       int64 // of its stream; 0 for an evicted session, whose stream is gone
	Evicted     bool
}

const wholeColumns = `SELECT s.session_key, s.session_no, m.session_id, m.project, m.first_turn_at, m.last_turn_at, ` + turnCount + `,
	CASE WHEN m.is_evicted = 1 THEN 0 ELSE coalesce(m.stream_len,
		(SELECT max(b.stream_offset + b.byte_len) FROM blocks b WHERE b.session_no = s.session_no), 0) END, coalesce(m.is_evicted, 0)` + sessionFrom

func (h *Whole) targets() []any {
	return []any{&h.Key, &h.No, &h.SessionID, &h.Project, &h.FirstTurnAt, &h.LastTurnAt, &h.Turns, &h.Bytes, &h.Evicted}
}

// Wholes lists every session in view, in the order of their numbers.
func (s *Snapshot) Wholes(ctx context.Context, v View) ([]Whole, error) {
	var out []Whole
	if s.tx == nil || v.Reason != "" {
		return out, nil
	}
	cond, args := v.where()
	err := s.each(ctx, func(rows *sql.Rows) error {
		var h Whole
		if err := rows.Scan(h.targets()...); err != nil {
			return err
		}
		out = append(out, h)
		return nil
	}, wholeColumns+` WHERE `+cond+` ORDER BY s.session_no`, args...)
	return out, err
}

// CopyWhole writes the stream of one session of Wholes to w, as it is now, and returns what
// the session is now; ok is false where there is no such session any more. An evicted session
// has no bytes. It reads in a snapshot of its own.
func (r *Reader) CopyWhole(ctx context.Context, no int64, w io.Writer) (h Whole, ok bool, err error) {
	s, err := r.Snapshot(ctx)
	if err != nil {
		return h, false, err
	}
	defer s.Close()
	err = s.tx.QueryRowContext(ctx, wholeColumns+` WHERE s.session_no = ?`, no).Scan(h.targets()...)
	if errors.Is(err, sql.ErrNoRows) {
		return h, false, nil
	}
	if err != nil {
		return h, false, r.wrap(err)
	}
	dst := &target{w: w}
	if _, err = io.Copy(dst, archive.Stream(ctx, s.tx, no, h.Bytes)); err == nil {
		return h, true, nil
	}
	var damage *archive.DamageError
	switch {
	case dst.failed != nil, errors.As(err, &damage):
		return h, true, err
	}
	return h, true, r.wrap(err)
}

// A target tells failures of writing from those of reading.
type target struct {
	w      io.Writer
	failed error
}

func (t *target) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	if err != nil {
		t.failed = err
	}
	return n, err
}

// ArchiveFormat is the archive format that the store says it has.
func (s *Snapshot) ArchiveFormat(ctx context.Context) (n int, err error) {
	err = s.tx.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'archive_format'`).Scan(&n)
	return n, s.r.wrap(err)
}
