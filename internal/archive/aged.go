package archive

import (
	"context"
	"database/sql"
)

// An Aged is a session as retention looks at it.
type Aged struct {
	Key         string
	No          int64
	Slot        int64 // -1 for none
	Harness     string
	SessionID   string // "" for none
	LastTurnAt  string // as its record says it
	Project     string
	PreWorktree string
	Sidecar     bool
	// Held tells that the archive holds bytes of its stream.
	Held bool
	// Unobserved tells that its facts are still to be read from them, as those of a session
	// that is not closed yet are. One that
	// could not be read is not, though each pass tries it again.
	Unobserved bool
}

// AgedBefore lists, in no order, the sessions whose last turn, by the text of its
// time, is older than before; with held those alone of which bytes are there.
func AgedBefore(ctx context.Context, q Querier, before string, held bool) ([]Aged, error) {
	query := `SELECT m.session_key, s.session_no, coalesce(s.slot, -1), s.harness, coalesce(m.session_id, ''), m.last_turn_at,
		coalesce(m.project, ''), coalesce(m.project_pre_worktree, ''), m.parent_session_key IS NOT NULL, m.stream_len > m.evicted_len,
		(m.is_final IS NULL OR m.unobserved < ?) AND m.is_evicted IS NOT 1
		FROM session_meta m CROSS JOIN sessions s USING (session_key)
		WHERE m.last_turn_at IS NOT NULL AND m.last_turn_at < ?`
	if held {
		query += ` AND m.stream_len > m.evicted_len`
	}
	rows, err := q.QueryContext(ctx, query, postponed, before)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Aged
	for rows.Next() {
		var c Aged
		var unobserved sql.NullBool
		if err := rows.Scan(&c.Key, &c.No, &c.Slot, &c.Harness, &c.SessionID, &c.LastTurnAt, &c.Project, &c.PreWorktree, &c.Sidecar, &c.Held,
			&unobserved); err != nil {
			return nil, err
		}
		c.Unobserved = unobserved.Bool
		out = append(out, c)
	}
	return out, rows.Err()
}

// A ProjectCount is how many closed sessions two directories stand for.
type ProjectCount struct {
	Project, PreWorktree string
	Sessions             int
}

// ClosedByProject counts the closed sessions that have a time, by project and by
// the worktree that was folded into it.
func ClosedByProject(ctx context.Context, q Querier) ([]ProjectCount, error) {
	rows, err := q.QueryContext(ctx, `SELECT coalesce(project, ''), coalesce(project_pre_worktree, ''), count(*) FROM session_meta
		WHERE is_final = 1 AND last_turn_at IS NOT NULL GROUP BY 1, 2`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []ProjectCount
	for rows.Next() {
		var c ProjectCount
		if err := rows.Scan(&c.Project, &c.PreWorktree, &c.Sessions); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// A Source is one of the files that a session was read from.
type Source struct {
	Path string
	// Rows tells that it is no file: records of a document or a database.
	Rows bool
}

// Sources lists the files that have a watermark, by the number of their session.
func Sources(ctx context.Context, q Querier) (map[int64][]Source, error) {
	rows, err := q.QueryContext(ctx, `SELECT session_no, source, length(tail_hash) = 0 FROM watermarks`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64][]Source{}
	for rows.Next() {
		var no int64
		var s Source
		if err := rows.Scan(&no, &s.Path, &s.Rows); err != nil {
			return nil, err
		}
		out[no] = append(out[no], s)
	}
	return out, rows.Err()
}

// TopLevelOf reports whether a session that is no subagent's, other than the one
// of the key except, has that id or is known by it.
func TopLevelOf(ctx context.Context, q Querier, sessionID, knownAs, except string) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM session_meta WHERE (session_id = ? OR session_key = ?)
		AND parent_session_key IS NULL AND session_key <> ?`, sessionID, knownAs, except).Scan(&n)
	return n > 0, err
}
