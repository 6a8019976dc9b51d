package archive

import (
	"context"
	"database/sql"
	"errors"
)

// A Derivable is a session as reindex looks at it.
type Derivable struct {
	Key     string
	No      int64
	Slot    int64 // -1 for none
	Len     int64 // bytes of stream
	Version int   // of the derivation that made its rows
	Evicted bool
}

// Derivables lists every session in the order of slots, the order in which the
// search index takes rows without being flushed between sessions.
func Derivables(ctx context.Context, q Querier) ([]Derivable, error) {
	rows, err := q.QueryContext(ctx, `SELECT s.session_key, s.session_no, coalesce(s.slot, -1), coalesce(m.stream_len, 0),
		coalesce(m.derived_version, 0), coalesce(m.is_evicted, 0) FROM sessions s LEFT JOIN session_meta m USING (session_key)
		ORDER BY 3, 2`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Derivable
	for rows.Next() {
		var d Derivable
		if err := rows.Scan(&d.Key, &d.No, &d.Slot, &d.Len, &d.Version, &d.Evicted); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, rows.Err()
}

// After reports whether d comes after the session with that slot and number.
func (d Derivable) After(slot, no int64) bool {
	return d.Slot > slot || d.Slot == slot && d.No > no
}

// HasRecordIDs reports whether lines of a session are the rows of a document or
// a database; an agent may have moved a session there from a file. Such a source
// has no end of file to compare, and its watermark keeps no hash of one.
func HasRecordIDs(ctx context.Context, q Querier, no int64) (bool, error) {
	var rows bool
	err := q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM watermarks WHERE session_no = ? AND coalesce(length(tail_hash), 0) = 0)`,
		no).Scan(&rows)
	return rows, err
}

// A DerivedMeta is the derived part of session_meta. Empty strings are stored
// as null.
type DerivedMeta struct {
	SessionID, CWD, Branch, FirstTurnAt, LastTurnAt string
	// ContinuesFrom is what the records say; where they only name a parent, what
	// stands there stays until its session is looked for again.
	ContinuesFrom string
	PendingParent any
	State         string
	Version       int
}

// SaveDerived writes what deriving a session again told of it.
func SaveDerived(ctx context.Context, w Execer, key string, m DerivedMeta) error {
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET session_id = ?, cwd = ?, branch = ?, first_turn_at = ?,
			last_turn_at = ?, continues_from = coalesce(?, CASE WHEN ? THEN continues_from END), pending_parent = ?,
			derive_state = ?, derived_version = ?
		WHERE session_key = ?`,
		null(m.SessionID), null(m.CWD), null(m.Branch), null(m.FirstTurnAt), null(m.LastTurnAt), null(m.ContinuesFrom),
		m.PendingParent != nil, m.PendingParent, m.State, m.Version, key)
	return err
}

// SetTurns notes how many turns a session has. It does nothing where the session
// has no metadata.
func SetTurns(ctx context.Context, w Execer, no, turns int64) error {
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET turns = ?
		WHERE session_key = (SELECT session_key FROM sessions WHERE session_no = ?)`, turns, no)
	return err
}

// MarkUnderived notes that a session's rows are being replaced in more than
// one transaction: whoever finds it so derives it again from the start.
func MarkUnderived(ctx context.Context, w Execer, key string) error {
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET derived_version = 0 WHERE session_key = ?`, key)
	return err
}

// MarkAllUnderived is MarkUnderived for every session whose bytes are there.
func MarkAllUnderived(ctx context.Context, w Execer) error {
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET derived_version = 0 WHERE is_evicted IS NOT 1`)
	return err
}

// DropStalePredecessors forgets what sessions continue where neither their
// records nor the turns of any other session say so.
func DropStalePredecessors(ctx context.Context, w Execer) error {
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET continues_from = NULL
		WHERE pending_parent IS NOT NULL AND continues_from IS NOT NULL`)
	return err
}

// MetaValue reads a row of the table meta; "" if there is none.
func MetaValue(ctx context.Context, q Querier, key string) (string, error) {
	var value string
	err := q.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, err
}

// SetMetaValue writes a row of the table meta, or with "" removes it.
func SetMetaValue(ctx context.Context, w Execer, key, value string) error {
	if _, err := w.ExecContext(ctx, `DELETE FROM meta WHERE key = ?`, key); err != nil || value == "" {
		return err
	}
	_, err := w.ExecContext(ctx, `INSERT INTO meta(key, value) VALUES (?, ?)`, key, value)
	return err
}
