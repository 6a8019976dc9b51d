package search

import (
	"context"
	"database/sql"
)

// A SessionQuery asks for a list of sessions.
type SessionQuery struct {
	Scope Scope
	// Since and Until bound the time between a session's first and last turn,
	// which must meet the window. A session without that time lies outside.
	Since, Until string
	// Limit is the most sessions listed; 0 is all.
	Limit int
}

// A Session is one session as it is listed.
type Session struct {
	SessionKey         string  `json:"session_key"`
	SessionNo          int64   `json:"session_no"`
	Project            *string `json:"project"`
	ProjectPreWorktree *string `json:"project_pre_worktree"`
	Branch             *string `json:"branch"`
	FirstTurnAt        *string `json:"first_turn_at"`
	LastTurnAt         *string `json:"last_turn_at"`
	Turns              int64   `json:"turns"`
	// Watermark is how far its transcript was read, in bytes; of several files
	// that of the newest.
	Watermark *int64 `json:"watermark"`
	Sidecar   bool   `json:"sidecar"` // a subagent's session
	Evicted   bool   `json:"evicted"`
}

// A SessionList answers a SessionQuery.
type SessionList struct {
	Sessions []Session `json:"sessions"`
	// Reason says why there is no session to list, "" where it is only the
	// window that is empty.
	Reason string `json:"-"`
	// Elsewhere is that of the View that Reason comes from.
	Elsewhere bool `json:"-"`
}

// turnCount is the number of turns of session s. turn_seq is dense and counts
// from 0, so that the newest turn tells it without reading the others.
const turnCount = `coalesce((SELECT (max(t.id) & 0xffffff) + 1 FROM turns t
	WHERE t.id BETWEEN s.session_no << 24 AND (s.session_no << 24 | 0xffffff)), 0)`

const sessionFrom = ` FROM sessions s LEFT JOIN session_meta m ON m.session_key = s.session_key`

// Sessions lists the sessions in scope in the order of their numbers.
func (r *Reader) Sessions(ctx context.Context, q SessionQuery) (SessionList, error) {
	list := SessionList{Sessions: []Session{}}
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return list, err
	}
	defer snap.Close()
	view, err := snap.View(ctx, q.Scope)
	if err != nil || view.Reason != "" {
		list.Reason, list.Elsewhere = view.Reason, view.Elsewhere()
		return list, err
	}
	cond, args := view.where()
	query := `SELECT s.session_key, s.session_no, m.project, m.project_pre_worktree, m.branch,
		m.first_turn_at, m.last_turn_at, ` + turnCount + `,
		(SELECT w.byte_offset FROM watermarks w WHERE w.session_no = s.session_no
		 ORDER BY w.source IS m.transcript_path DESC, w.updated_at DESC LIMIT 1),
		m.parent_session_key IS NOT NULL, coalesce(m.is_evicted, 0)` + sessionFrom + ` WHERE ` + cond
	if q.Since != "" {
		query += ` AND m.last_turn_at >= ?`
		args = append(args, q.Since)
	}
	if q.Until != "" {
		query += ` AND m.first_turn_at <= ?`
		args = append(args, q.Until)
	}
	query += ` ORDER BY s.session_no`
	if q.Limit > 0 {
		query += ` LIMIT ?`
		args = append(args, q.Limit)
	}
	err = snap.each(ctx, func(rows *sql.Rows) error {
		var e Session
		if err := rows.Scan(&e.SessionKey, &e.SessionNo, &e.Project, &e.ProjectPreWorktree, &e.Branch,
			&e.FirstTurnAt, &e.LastTurnAt, &e.Turns, &e.Watermark, &e.Sidecar, &e.Evicted); err != nil {
			return err
		}
		list.Sessions = append(list.Sessions, e)
		return nil
	}, query, args...)
	return list, err
}

// lastElement is the last part of a session key, as lists print it: what stands
// behind the longest beginning that ends with a slash.
const lastElement = `substr(s.session_key, 1 + length(rtrim(s.session_key, replace(s.session_key, '/', ''))))`

// Named finds the sessions in view that a name may mean. The first of these that
// names any decides: a key in full; the beginning of a key; that of a harness's
// own session id; that of the last part of a key, by which a subagent's session
// is listed. A name that stops before the subagents of a session means the
// session alone. At most limit are given, by key.
func (s *Snapshot) Named(ctx context.Context, v View, name string, limit int) ([]Owner, error) {
	begins := func(text string) string { return `substr(` + text + `, 1, length(asked.name)) = asked.name` }
	cond, args := v.where()
	query := `WITH asked(name) AS (VALUES (?)) SELECT ` + ownerColumns + `, CASE
		WHEN s.session_key = asked.name THEN 0
		WHEN ` + begins("s.session_key") + ` THEN 1
		WHEN m.parent_session_key IS NULL AND ` + begins("m.session_id") + ` THEN 2
		WHEN ` + begins(lastElement) + ` THEN 3 END AS way
		FROM asked, sessions s LEFT JOIN session_meta m ON m.session_key = s.session_key
		WHERE way IS NOT NULL AND ` + cond + `
		ORDER BY way, m.parent_session_key IS NOT NULL, s.session_key LIMIT ?`
	args = append(append([]any{name}, args...), limit)
	var found []Owner
	first := 0 // the way that names any
	err := s.each(ctx, func(rows *sql.Rows) error {
		var o Owner
		var way int
		if err := rows.Scan(append(o.targets(), &way)...); err != nil {
			return err
		}
		if len(found) == 0 {
			first = way
		}
		if len(found) == 0 || way == first && o.Sidechain == found[0].Sidechain {
			found = append(found, o)
		}
		return nil
	}, query, args...)
	return found, err
}
