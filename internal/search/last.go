package search

import (
	"context"
	"database/sql"
	"errors"
)

// A LastSession is the newest session of a project that is not a subagent's.
type LastSession struct {
	Owner
	LastTurnAt *string // as the harness wrote it
}

// LastSession finds the newest session in view: the one with the highest last
// turn's time, one without a time last, of several the one with the highest key.
// ok is false when there is none.
func (s *Snapshot) LastSession(ctx context.Context, v View) (last LastSession, ok bool, err error) {
	cond, args := v.where()
	err = s.tx.QueryRowContext(ctx, `SELECT m.last_turn_at, `+ownerColumns+`
		FROM session_meta m JOIN sessions s ON s.session_key = m.session_key
		WHERE m.session_key = (SELECT m.session_key FROM session_meta m WHERE m.parent_session_key IS NULL AND `+cond+`
			ORDER BY m.last_turn_at DESC, m.session_key DESC LIMIT 1)`, args...).
		Scan(append([]any{&last.LastTurnAt}, last.targets()...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return last, false, nil
	}
	return last, err == nil, s.r.wrap(err)
}

// Counts are the numbers of sessions and turns in view, as Sessions lists them.
func (s *Snapshot) Counts(ctx context.Context, v View) (sessions, turns int64, err error) {
	cond, args := v.where()
	err = s.tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(m.turns), 0) FROM session_meta m WHERE `+cond, args...).
		Scan(&sessions, &turns)
	return sessions, turns, s.r.wrap(err)
}

// LastTyped finds the last turn of a session that a person typed, LastReply the
// last one of its agent. Neither looks at what is no longer part of the
// transcript. The session is one that a View showed.
func (s *Snapshot) LastTyped(ctx context.Context, session int64) (Turn, bool, error) {
	return s.lastTurn(ctx, session, `(t.is_typed = 1 OR t.is_typed IS NULL AND t.record_type = 'user')`)
}

// LastReply is described at LastTyped.
func (s *Snapshot) LastReply(ctx context.Context, session int64) (Turn, bool, error) {
	return s.lastTurn(ctx, session, `t.record_type = 'assistant'`)
}

func (s *Snapshot) lastTurn(ctx context.Context, session int64, cond string) (t Turn, ok bool, err error) {
	err = s.tx.QueryRowContext(ctx, `SELECT `+turnColumns+turnFrom+` WHERE t.id BETWEEN ? AND ? AND t.in_current = 1 AND `+cond+`
		ORDER BY t.id DESC LIMIT 1`, session<<turnBits, session<<turnBits|seqMask).Scan(t.targets()...)
	if errors.Is(err, sql.ErrNoRows) {
		return t, false, nil
	}
	return t, err == nil, s.r.wrap(err)
}
