package archive

import (
	"context"
	"crypto/sha256"
	"encoding"
	"fmt"
	"hash"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// ImportedSource begins the source of a session that came from an export: the path of the
// export's file stands behind it. No agent writes to it, and nothing is known of whether the
// agent's own transcript is there.
const ImportedSource = "import:"

// A Watermark says how far one source has been read. It is committed together
// with the bytes that it stands for.
type Watermark struct {
	Source    string
	No        int64 // session number
	Offset    int64 // bytes of the source that are archived
	Stat      fsx.Stat
	Stamp     string
	CheckedAt int64 // unix seconds of the last comparison of the whole prefix
	UpdatedAt string
	Revision  int64  // the source's newest revision
	TailHash  []byte // SHA-256 of the last TailSpan bytes before Offset
	SHAState  []byte // the running SHA-256 of the source's first Offset bytes
	StateSHA  []byte // that of the newest revision, where its bytes are not these; else empty
}

// TailSpan is how much of the end of the archived part is compared before new
// bytes are taken for an append. It holds several records, so that a rewritten
// file is not mistaken for a grown one.
const TailSpan = 64 << 10

// A Seen is what discovery compares: is the source as the last pass left it?
type Seen struct {
	No     int64
	Offset int64
	Stat   fsx.Stat
	Stamp  string
	// CheckedAt is when the whole prefix was compared last, in unix seconds;
	// UpdatedAt, in TimeForm, when bytes were taken in last.
	CheckedAt int64
	UpdatedAt string
}

// SeenSources reads the state of every known source in one go.
func SeenSources(ctx context.Context, q Querier) (map[string]Seen, error) {
	rows, err := q.QueryContext(ctx, `SELECT source, session_no, byte_offset, size, mtime, ctime, inode, stamp, checked_at, updated_at
		FROM watermarks`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]Seen{}
	for rows.Next() {
		var source string
		var s Seen
		var inode int64
		if err := rows.Scan(&source, &s.No, &s.Offset, &s.Stat.Size, &s.Stat.Mtime, &s.Stat.Ctime, &inode, &s.Stamp,
			&s.CheckedAt, &s.UpdatedAt); err != nil {
			return nil, err
		}
		s.Stat.Inode = uint64(inode)
		out[source] = s
	}
	return out, rows.Err()
}

// LoadWatermark reads one watermark whole.
func LoadWatermark(ctx context.Context, q Querier, source string) (Watermark, error) {
	w := Watermark{Source: source}
	var inode int64
	err := q.QueryRowContext(ctx, `SELECT session_no, byte_offset, size, mtime, ctime, inode, stamp, checked_at, updated_at,
		revision, tail_hash, sha_state, state_sha FROM watermarks WHERE source = ?`, source).
		Scan(&w.No, &w.Offset, &w.Stat.Size, &w.Stat.Mtime, &w.Stat.Ctime, &inode, &w.Stamp, &w.CheckedAt, &w.UpdatedAt,
			&w.Revision, &w.TailHash, &w.SHAState, &w.StateSHA)
	w.Stat.Inode = uint64(inode)
	if err != nil {
		return w, fmt.Errorf("read the watermark of %s: %w", source, err)
	}
	return w, nil
}

// Save writes a watermark. A known one is updated without naming its foreign
// keys unless they change: naming them needs a statement journal (see
// AddRevision).
func (m Watermark) Save(ctx context.Context, w Execer) error {
	res, err := w.ExecContext(ctx, `UPDATE watermarks SET byte_offset = ?, size = ?, mtime = ?, ctime = ?, inode = ?, stamp = ?,
			checked_at = ?, updated_at = ?, tail_hash = ?, sha_state = ?, state_sha = ?
		WHERE source = ? AND session_no = ? AND revision = ?`,
		m.Offset, m.Stat.Size, m.Stat.Mtime, m.Stat.Ctime, int64(m.Stat.Inode), m.Stamp, m.CheckedAt, m.UpdatedAt,
		m.TailHash, m.SHAState, orEmpty(m.StateSHA), m.Source, m.No, m.Revision)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	if _, err := w.ExecContext(ctx, `DELETE FROM watermarks WHERE source = ?`, m.Source); err != nil {
		return err
	}
	_, err = w.ExecContext(ctx, `INSERT INTO watermarks(source, session_no, byte_offset, size, mtime, ctime, inode, stamp,
			checked_at, updated_at, revision, tail_hash, sha_state, state_sha)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.Source, m.No, m.Offset, m.Stat.Size, m.Stat.Mtime, m.Stat.Ctime, int64(m.Stat.Inode), m.Stamp,
		m.CheckedAt, m.UpdatedAt, m.Revision, m.TailHash, m.SHAState, orEmpty(m.StateSHA))
	return err
}

// Touch writes only the stat of a source whose bytes did not change.
func Touch(ctx context.Context, w Execer, source string, s fsx.Stat, checkedAt int64) error {
	_, err := w.ExecContext(ctx, `UPDATE watermarks SET size = ?, mtime = ?, ctime = ?, inode = ?,
		checked_at = max(checked_at, ?) WHERE source = ?`, s.Size, s.Mtime, s.Ctime, int64(s.Inode), checkedAt, source)
	return err
}

// SaveHash stores a running SHA-256 so that a later process goes on with it.
func SaveHash(h hash.Hash) []byte {
	state, err := h.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		panic(err) // the standard library's SHA-256 always can
	}
	return state
}

// RestoreHash goes on with a stored SHA-256.
func RestoreHash(state []byte) (hash.Hash, error) {
	h := sha256.New()
	if len(state) == 0 {
		return h, nil
	}
	if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
		return nil, fmt.Errorf("the stored hash state cannot be used: %w", err)
	}
	return h, nil
}
