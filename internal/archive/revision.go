package archive

import (
	"context"
	"database/sql"
	"errors"
)

// Causes of a revision.
const (
	CauseFirst   = "first"   // the first state of the first transcript of a session
	CauseCopy    = "copy"    // the first state of a further transcript with the same key
	CauseChanged = "changed" // the transcript was cut, rewound, replaced or rewritten
)

// A Revision is one state of a transcript: the newest one of a source grows
// with plain appends, older ones never change.
type Revision struct {
	ID      int64
	No      int64 // session number
	Source  string
	N       int64 // counts from 1 for each source
	MadeAt  string
	Cause   string
	Len     int64  // of the state as it is archived, which is its extents' length
	Hash    []byte // SHA-256 of the whole state, as it is archived
	Extents Extents
}

// LoadRevision reads a revision with its extents.
func LoadRevision(ctx context.Context, q Querier, id int64) (Revision, error) {
	r := Revision{ID: id}
	err := q.QueryRowContext(ctx, `SELECT session_no, source, n, made_at, cause, file_len, file_hash FROM revisions
		WHERE id = ?`, id).Scan(&r.No, &r.Source, &r.N, &r.MadeAt, &r.Cause, &r.Len, &r.Hash)
	if err != nil {
		return r, err
	}
	r.Extents, err = loadExtents(ctx, q, id)
	return r, err
}

func loadExtents(ctx context.Context, q Querier, revision int64) (Extents, error) {
	rows, err := q.QueryContext(ctx, `SELECT stream_offset, length FROM extents WHERE revision = ? ORDER BY seq`, revision)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out Extents
	for rows.Next() {
		var e Extent
		if err := rows.Scan(&e.Off, &e.Len); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

// lastExtent reads only the end of a revision, all that a plain append needs.
func lastExtent(ctx context.Context, q Querier, revision int64) (seq int64, e Extent, err error) {
	err = q.QueryRowContext(ctx, `SELECT seq, stream_offset, length FROM extents WHERE revision = ?
		ORDER BY seq DESC LIMIT 1`, revision).Scan(&seq, &e.Off, &e.Len)
	if errors.Is(err, sql.ErrNoRows) {
		return -1, Extent{}, nil
	}
	return seq, e, err
}

// Grow lengthens a revision by n bytes of stream at off.
func Grow(ctx context.Context, w Execer, id, off, n int64, fileLen int64, fileHash []byte) error {
	if n > 0 {
		seq, last, err := lastExtent(ctx, w, id)
		if err != nil {
			return err
		}
		if seq >= 0 && last.Off+last.Len == off {
			_, err = w.ExecContext(ctx, `UPDATE extents SET length = length + ? WHERE revision = ? AND seq = ?`, n, id, seq)
		} else {
			_, err = w.ExecContext(ctx, `INSERT INTO extents(revision, seq, stream_offset, length) VALUES (?, ?, ?, ?)`,
				id, seq+1, off, n)
		}
		if err != nil {
			return err
		}
	}
	_, err := w.ExecContext(ctx, `UPDATE revisions SET file_len = ?, file_hash = ? WHERE id = ?`, fileLen, fileHash, id)
	return err
}

// AddRevision records a new state of a source and returns its id. N is set to
// the source's next number.
//
// Every INSERT of the write path is of plain values: one that selects needs a
// statement journal, and opening that makes the search index flush a segment
// for each session.
func AddRevision(ctx context.Context, w Execer, r Revision) (int64, error) {
	err := w.QueryRowContext(ctx, `SELECT 1 + coalesce(max(n), 0) FROM revisions WHERE session_no = ? AND source = ?`,
		r.No, r.Source).Scan(&r.N)
	if err != nil {
		return 0, err
	}
	res, err := w.ExecContext(ctx, `INSERT INTO revisions(session_no, source, n, made_at, cause, file_len, file_hash)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, r.No, r.Source, r.N, r.MadeAt, r.Cause, r.Len, r.Hash)
	if err != nil {
		return 0, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return 0, err
	}
	return id, insertExtents(ctx, w, id, r.Extents)
}

// SetExtents replaces the extents of a revision that grew.
func SetExtents(ctx context.Context, w Execer, r Revision) error {
	if _, err := w.ExecContext(ctx, `DELETE FROM extents WHERE revision = ?`, r.ID); err != nil {
		return err
	}
	if err := insertExtents(ctx, w, r.ID, r.Extents); err != nil {
		return err
	}
	_, err := w.ExecContext(ctx, `UPDATE revisions SET file_len = ?, file_hash = ? WHERE id = ?`, r.Len, r.Hash, r.ID)
	return err
}

func insertExtents(ctx context.Context, w Execer, id int64, extents Extents) error {
	for i, e := range extents {
		_, err := w.ExecContext(ctx, `INSERT INTO extents(revision, seq, stream_offset, length) VALUES (?, ?, ?, ?)`,
			id, i, e.Off, e.Len)
		if err != nil {
			return err
		}
	}
	return nil
}

// Revisions lists the states of a session's transcripts, oldest first.
func Revisions(ctx context.Context, q Querier, sessionNo int64) ([]Revision, error) {
	rows, err := q.QueryContext(ctx, `SELECT id FROM revisions WHERE session_no = ? ORDER BY id`, sessionNo)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			_ = rows.Close()
			return nil, err
		}
		ids = append(ids, id)
	}
	_ = rows.Close()
	if err := rows.Err(); err != nil {
		return nil, err
	}
	var out []Revision
	for _, id := range ids {
		r, err := LoadRevision(ctx, q, id)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Newest returns the newest states of all of a session's sources, as one set
// of ranges: what lies outside was rewound.
func Newest(ctx context.Context, q Querier, sessionNo int64) (Cover, error) {
	rows, err := q.QueryContext(ctx, `SELECT e.stream_offset, e.length FROM watermarks w
		JOIN extents e ON e.revision = w.revision WHERE w.session_no = ?`, sessionNo)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all Extents
	for rows.Next() {
		var e Extent
		if err := rows.Scan(&e.Off, &e.Len); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return NewCover(all), rows.Err()
}

// NewestRevision is the id of a source's newest revision, 0 for none.
func NewestRevision(ctx context.Context, q Querier, sessionNo int64, source string) (int64, error) {
	var id int64
	err := q.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM revisions WHERE session_no = ? AND source = ?`,
		sessionNo, source).Scan(&id)
	return id, err
}
