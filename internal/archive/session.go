package archive

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
)

// CreateSession gives a new session its number. Numbers only grow and are
// never used twice.
func CreateSession(ctx context.Context, w Execer, key, harness string) (int64, error) {
	var text string
	err := w.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'next_session_no'`).Scan(&text)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	no, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &DamageError{SessionKey: key, Detail: "the store lost the number of its next session"}
	}
	if _, err := w.ExecContext(ctx, `UPDATE meta SET value = ? WHERE key = 'next_session_no'`,
		strconv.FormatInt(no+1, 10)); err != nil {
		return 0, err
	}
	_, err = w.ExecContext(ctx, `INSERT INTO sessions(session_key, session_no, harness) VALUES (?, ?, ?)`, key, no, harness)
	return no, err
}

// SaveMeta writes everything of a session's metadata that an append changes.
func SaveMeta(ctx context.Context, w Execer, key string, m Meta, t Tail, unsettled bool) error {
	flag := 0
	if unsettled {
		flag = 1
	}
	_, err := w.ExecContext(ctx, `INSERT INTO session_meta(session_key, session_id, transcript_path, checksum, stream_len,
			continues_from, first_turn_at, last_turn_at, project, project_pre_worktree, cwd, branch, parent_session_key,
			settled_blocks, settled_hash, unsettled, derived_version, derive_state, pending_parent, capture_mode, told_cwd)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(session_key) DO UPDATE SET session_id = excluded.session_id,
			transcript_path = excluded.transcript_path, checksum = excluded.checksum, stream_len = excluded.stream_len,
			continues_from = excluded.continues_from, first_turn_at = excluded.first_turn_at,
			last_turn_at = excluded.last_turn_at, project = excluded.project,
			project_pre_worktree = excluded.project_pre_worktree, cwd = excluded.cwd, branch = excluded.branch,
			parent_session_key = excluded.parent_session_key, settled_blocks = excluded.settled_blocks,
			settled_hash = excluded.settled_hash, unsettled = excluded.unsettled,
			derived_version = excluded.derived_version, derive_state = excluded.derive_state,
			pending_parent = excluded.pending_parent, capture_mode = excluded.capture_mode, told_cwd = excluded.told_cwd`,
		key, null(m.SessionID), m.TranscriptPath, orEmpty(t.Sum), t.StreamLen, null(m.ContinuesFrom), null(m.FirstTurnAt),
		null(m.LastTurnAt), null(m.Project), null(m.PreWorktree), null(m.CWD), null(m.Branch), null(m.Parent),
		t.Settled, orEmpty(t.SettledHash), flag, m.DerivedVersion, m.State, m.PendingParent, null(m.CaptureMode),
		null(m.ToldCWD))
	return err
}

// SaveBlocks writes the blocks of an append.
func SaveBlocks(ctx context.Context, w Execer, no int64, up Append) error {
	if len(up.Blocks) == 0 {
		return nil
	}
	if up.Replaces {
		if _, err := w.ExecContext(ctx, `DELETE FROM blocks WHERE session_no = ? AND n >= ?`, no, up.From); err != nil {
			return err
		}
	}
	for _, b := range up.Blocks {
		_, err := w.ExecContext(ctx, `INSERT INTO blocks(session_no, n, stream_offset, byte_len, hash, codec, bytes)
			VALUES (?, ?, ?, ?, ?, ?, ?)`, no, b.N, b.Off, b.Len, b.Hash, b.codec, b.Bytes)
		if err != nil {
			return err
		}
	}
	return nil
}

// SlotBits is how many bits of a slot count inside one block of slots. A block
// belongs to one project, so a project's search rows are a handful of ranges.
const SlotBits = 10

// AssignSlot gives a session its slot, inside the newest block of its project.
// An empty project owns blocks like any other.
func AssignSlot(ctx context.Context, w Execer, key, project string) (int64, error) {
	var block, used int64
	err := w.QueryRowContext(ctx, `SELECT block, used FROM slot_blocks WHERE project IS ? ORDER BY block DESC LIMIT 1`,
		null(project)).Scan(&block, &used)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && used >= 1<<SlotBits:
		used = 0
		err = w.QueryRowContext(ctx, `SELECT 1 + coalesce(max(block), -1) FROM slot_blocks`).Scan(&block)
		if err == nil {
			_, err = w.ExecContext(ctx, `INSERT INTO slot_blocks(block, project, used) VALUES (?, ?, 0)`, block, null(project))
		}
	}
	if err != nil {
		return 0, err
	}
	if _, err := w.ExecContext(ctx, `UPDATE slot_blocks SET used = ? WHERE block = ?`, used+1, block); err != nil {
		return 0, err
	}
	slot := block<<SlotBits | used
	_, err = w.ExecContext(ctx, `UPDATE sessions SET slot = ? WHERE session_key = ?`, slot, key)
	return slot, err
}

// KeyOf is the key of a session number.
func KeyOf(ctx context.Context, q Querier, no int64) (string, error) {
	var key string
	err := q.QueryRowContext(ctx, `SELECT session_key FROM sessions WHERE session_no = ?`, no).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return "", damaged(no, nil, "its row is missing")
	}
	return key, err
}

// SetProject records where a session belongs.
func SetProject(ctx context.Context, w Execer, key, project, preWorktree string) error {
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET project = ?, project_pre_worktree = ? WHERE session_key = ?`,
		null(project), null(preWorktree), key)
	return err
}

// SetDiverged records that a pass could not archive what a transcript became.
func SetDiverged(ctx context.Context, w Execer, key string, diverged bool) error {
	var flag any
	if diverged {
		flag = 1
	}
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET transcript_diverged = ? WHERE session_key = ?`, flag, key)
	return err
}

// Unsettled lists the sessions whose last blocks settling would cut anew and
// whose sources have all been still since before.
func Unsettled(ctx context.Context, q Querier, before int64, limit int) ([]string, error) {
	return texts(ctx, q, `SELECT m.session_key FROM session_meta m INDEXED BY idx_session_meta_unsettled
		CROSS JOIN sessions s USING (session_key) WHERE m.unsettled <> 0
		  AND NOT EXISTS (SELECT 1 FROM watermarks w WHERE w.session_no = s.session_no AND w.mtime >= ?)
		ORDER BY s.session_no LIMIT ?`, before, limit)
}

// A Pending is a session whose first turn has a parent that no archived session
// was known to hold.
type Pending struct {
	Key, SessionID string
	Parent         any
}

// PendingParents lists them.
func PendingParents(ctx context.Context, q Querier) ([]Pending, error) {
	rows, err := q.QueryContext(ctx, `SELECT session_key, coalesce(session_id, ''), pending_parent FROM session_meta
		WHERE pending_parent IS NOT NULL ORDER BY session_key`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Pending
	for rows.Next() {
		var p Pending
		if err := rows.Scan(&p.Key, &p.SessionID, &p.Parent); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// SetContinuesFrom records what a session continues, found after the session.
func SetContinuesFrom(ctx context.Context, w Execer, key, sessionID string) error {
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET continues_from = ?, pending_parent = NULL WHERE session_key = ?`,
		sessionID, key)
	return err
}

// A PathKeyedSession is a session that is known by the path of its transcript
// alone. Of that, the first Len bytes were read; SHAState is their running SHA-256.
type PathKeyedSession struct {
	Key, Source string
	Len         int64
	SHAState    []byte
}

// PathKeyed lists the sessions whose key is the path of their only source, a file.
func PathKeyed(ctx context.Context, q Querier) ([]PathKeyedSession, error) {
	rows, err := q.QueryContext(ctx, `SELECT s.session_key, w.source, w.byte_offset, w.sha_state FROM sessions s
		JOIN watermarks w USING (session_no) WHERE s.session_key = w.source AND w.sha_state <> x''
		  AND (SELECT count(*) FROM watermarks o WHERE o.session_no = s.session_no) = 1 ORDER BY s.session_no`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []PathKeyedSession
	for rows.Next() {
		var o PathKeyedSession
		if err := rows.Scan(&o.Key, &o.Source, &o.Len, &o.SHAState); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, rows.Err()
}

// Rename gives a session another key.
func Rename(ctx context.Context, w Execer, from, to string) error {
	// The key stands in two tables that refer to each other: the reference is
	// checked when the transaction ends.
	if _, err := w.ExecContext(ctx, `PRAGMA defer_foreign_keys = ON`); err != nil {
		return err
	}
	for _, stmt := range []string{
		`UPDATE sessions SET session_key = ? WHERE session_key = ?`,
		`UPDATE session_meta SET session_key = ? WHERE session_key = ?`,
		`UPDATE session_meta SET parent_session_key = ? WHERE parent_session_key = ?`,
	} {
		if _, err := w.ExecContext(ctx, stmt, to, from); err != nil {
			return err
		}
	}
	return nil
}

// NewestSessionNo is the highest number that a session has; none where there is
// no session.
func NewestSessionNo(ctx context.Context, q Querier) (sql.NullInt64, error) {
	var no sql.NullInt64
	err := q.QueryRowContext(ctx, `SELECT max(session_no) FROM sessions`).Scan(&no)
	return no, err
}
