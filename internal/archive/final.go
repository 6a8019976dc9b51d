package archive

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// timeForms are the forms of a time without a fraction, which Go reads behind the
// seconds of each. A time without a zone is UTC.
var timeForms = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05"}

// ParseTime reads a time as an agent may have written it: RFC 3339 in any zone,
// with any fraction; a blank or a small t for the T, a small z for the Z; a zone
// without its colon or its minutes; no zone, which is UTC. Anything else, a number
// above all, is no time.
func ParseTime(text string) (t time.Time, ok bool) {
	const date = len("2006-01-02")
	text = strings.TrimSpace(text)
	if len(text) > date && (text[date] == ' ' || text[date] == 't') {
		text = text[:date] + "T" + text[date+1:]
	}
	if head, small := strings.CutSuffix(text, "z"); small {
		text = head + "Z"
	}
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// IdleAfter is how old a session's last turn is when the session is closed, the contract's
// number: longer than a meeting, shorter than a night.
const IdleAfter = 6 * time.Hour

// A Closing is an open session that is to be closed.
type Closing struct {
	Key, Project, PreWorktree string // "" stands for null
	No                        int64
	Evicted                   bool
}

// Idle lists the open sessions whose last turn is older than before, by that turn.
// Times are compared, not their texts. A session whose last turn has none, or one
// that ParseTime does not read, is never idle. It reads the open sessions alone.
func Idle(ctx context.Context, q Querier, before time.Time) ([]Closing, error) {
	rows, err := q.QueryContext(ctx, `SELECT last_turn_at, session_key, coalesce(project, ''), coalesce(project_pre_worktree, ''),
		session_no, is_evicted IS 1 FROM session_meta INDEXED BY idx_session_meta_open CROSS JOIN sessions USING (session_key)
		WHERE is_final IS NULL AND last_turn_at IS NOT NULL ORDER BY last_turn_at, session_key`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Closing
	for rows.Next() {
		var last string
		var c Closing
		if err := rows.Scan(&last, &c.Key, &c.Project, &c.PreWorktree, &c.No, &c.Evicted); err != nil {
			return nil, err
		}
		if at, ok := ParseTime(last); ok && at.Before(before) {
			out = append(out, c)
		}
	}
	return out, rows.Err()
}

// Finalize closes a session. Its facts are then to be observed.
func Finalize(ctx context.Context, w Execer, key string) error {
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET is_final = 1,
		unobserved = (SELECT session_no FROM sessions s WHERE s.session_key = session_meta.session_key) WHERE session_key = ?`, key)
	return err
}

// Reopen takes back that a session is closed: it has grown.
func Reopen(ctx context.Context, w Execer, key string) error {
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET is_final = NULL, unobserved = NULL
		WHERE session_key = ? AND is_final IS NOT NULL`, key)
	return err
}

// An Unobserved is a closed session whose facts are to be observed.
type Unobserved struct {
	Key, Project, PreWorktree string // "" stands for null
	// Place orders them: its number, or a higher one where it could not be read.
	Place int64
}

// unobserved are those that still have their bytes, the ones that could not be
// read behind all others.
const unobserved = ` FROM session_meta INDEXED BY idx_session_meta_unobserved
	WHERE unobserved IS NOT NULL AND is_evicted IS NOT 1`

// EachUnobserved calls see for each in the order of their numbers, those that were
// postponed last, until it says false.
func EachUnobserved(ctx context.Context, q Querier, see func(Unobserved) bool) error {
	rows, err := q.QueryContext(ctx, `SELECT session_key, coalesce(project, ''), coalesce(project_pre_worktree, ''), unobserved`+
		unobserved+` ORDER BY unobserved`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var u Unobserved
		if err := rows.Scan(&u.Key, &u.Project, &u.PreWorktree, &u.Place); err != nil {
			return err
		}
		if !see(u) {
			return nil
		}
	}
	return rows.Err()
}

// CountUnobserved counts them, those left out of which hidden, if not nil, says so.
func CountUnobserved(ctx context.Context, q Querier, hidden func(project, preWorktree string) bool) (int64, error) {
	if hidden == nil {
		var n int64
		err := q.QueryRowContext(ctx, `SELECT count(*)`+unobserved).Scan(&n)
		return n, err
	}
	rows, err := q.QueryContext(ctx, `SELECT coalesce(project, ''), coalesce(project_pre_worktree, ''), count(*)`+
		unobserved+` GROUP BY 1, 2`)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var all int64
	for rows.Next() {
		var project, pre string
		var n int64
		if err := rows.Scan(&project, &pre, &n); err != nil {
			return 0, err
		}
		if !hidden(project, pre) {
			all += n
		}
	}
	return all, rows.Err()
}

// MarkObserved notes that the facts of a session are what its bytes say.
func MarkObserved(ctx context.Context, w Execer, key string) error {
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET unobserved = NULL WHERE session_key = ?`, key)
	return err
}

// postponed is above every session number, which has 39 bits.
const postponed = 1 << 40

// PostponeObserving puts a session that could not be read behind all others: it
// must not keep them from being observed.
func PostponeObserving(ctx context.Context, w Execer, key string) error {
	_, err := w.ExecContext(ctx, `UPDATE session_meta SET unobserved = unobserved | ? WHERE session_key = ?`, postponed, key)
	return err
}

// A Place is where a session belongs, when it ended, and how long its stream is;
// "" stands for null.
type Place struct {
	Project, PreWorktree, LastTurnAt string
	StreamLen                        int64
}

// PlaceOf looks up the Place of a session. It is empty for one without metadata.
func PlaceOf(ctx context.Context, q Querier, key string) (Place, error) {
	var p Place
	err := q.QueryRowContext(ctx, `SELECT coalesce(max(project), ''), coalesce(max(project_pre_worktree), ''),
		coalesce(max(last_turn_at), ''), coalesce(max(stream_len), 0) FROM session_meta WHERE session_key = ?`, key).
		Scan(&p.Project, &p.PreWorktree, &p.LastTurnAt, &p.StreamLen)
	return p, err
}

// BlocksEnd is where a session's stream ends by its blocks alone.
func BlocksEnd(ctx context.Context, q Querier, no int64) (int64, error) {
	var end sql.NullInt64
	err := q.QueryRowContext(ctx, `SELECT max(stream_offset + byte_len) FROM blocks WHERE session_no = ?`, no).Scan(&end)
	return end.Int64, err
}
