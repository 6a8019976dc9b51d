package feedback

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/store"
)

const (
	// labelTx ends a transaction: so many decisions are written within milliseconds.
	labelTx = 512
	// labelSessions bounds the sessions whose decisions one call judges. A large
	// one takes a tenth of a second to read.
	labelSessions = 200
	// manyWaiting is how many sessions may wait without being closed before it is
	// asked which of them are archived at all; to look at so many takes three
	// milliseconds.
	manyWaiting = 500
	// waitFor is how old a decision must be to be given up.
	waitFor = 30 * 24 * time.Hour
)

// A Labelled says what Label did.
type Labelled struct {
	// Decisions is how many were judged, and Labels how many of each label were
	// written.
	Decisions int
	Labels    map[string]int
	// Left is how many sessions are left for the next call.
	Left int
}

// Due lists the sessions that are closed and have decisions that were never
// judged, by their harnesses' own ids. It takes one seek for each session whose
// decisions wait, however many are stored.
//
// Sessions that were never archived, because the agent kept no transcript or
// because it was gone before a pass came, would wait for ever: where there are many
// of them, their decisions are given up after a month.
func Due(ctx context.Context, w *store.Writer, now time.Time) ([]string, error) {
	waiting, err := column(ctx, w, `WITH RECURSIVE waiting(session) AS (
		SELECT min(session_id) FROM decisions WHERE judged_at IS NULL
		UNION ALL
		SELECT (SELECT min(session_id) FROM decisions WHERE judged_at IS NULL AND session_id > session)
		FROM waiting WHERE session IS NOT NULL
	) SELECT session FROM waiting WHERE session IS NOT NULL`)
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	due, err := archive.ClosedIDs(ctx, w, waiting)
	if err == nil && len(waiting)-len(due) >= manyWaiting {
		err = giveUp(ctx, w, waiting, now)
	}
	return due, err
}

// giveUp marks the old decisions of sessions that are not archived as judged.
func giveUp(ctx context.Context, w *store.Writer, waiting []string, now time.Time) error {
	unknown, err := archive.UnknownIDs(ctx, w, waiting)
	if err != nil {
		return err
	}
	list, err := json.Marshal(unknown)
	if err != nil {
		return err
	}
	if err := w.Begin(ctx); err != nil {
		return err
	}
	defer w.Rollback()
	_, err = w.ExecContext(ctx, `UPDATE decisions SET judged_at = ? WHERE id IN (
		SELECT id FROM decisions WHERE judged_at IS NULL AND ts < ? AND session_id IN (SELECT value FROM json_each(?)) LIMIT ?)`,
		archive.Stamp(now), archive.Stamp(now.Add(-waitFor)), string(list), labelTx)
	if err != nil {
		return err
	}
	return w.Commit(ctx)
}

func column(ctx context.Context, w *store.Writer, query string, args ...any) ([]string, error) {
	rows, err := w.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, rows.Err()
}

// Label judges the decisions of the sessions in due, which Due gave, that were
// never judged. A decision is judged once, at the first closing of its session
// that follows it, and its labels stay: a session that grows after that opens
// again, and its next closing judges what was decided since.
//
// What was decided in an excluded directory is left as it is. w must not be in a
// transaction; r is a Reader of the same store.
func Label(ctx context.Context, w *store.Writer, r *search.Reader, due []string, now time.Time) (Labelled, error) {
	l := labeller{w: w, now: archive.Stamp(now), hidden: map[string]bool{}, res: Labelled{Labels: map[string]int{}}}
	defer w.Rollback()
	read := 0
	for i, id := range due {
		if read == labelSessions {
			l.res.Left = len(due) - i
			break
		}
		any, err := l.session(ctx, r, id)
		if err != nil {
			return l.res, err
		}
		if any {
			read++
		}
		if len(l.done) >= labelTx {
			if err := l.write(ctx); err != nil {
				return l.res, err
			}
		}
	}
	return l.res, l.write(ctx)
}

type labeller struct {
	w      *store.Writer
	now    string
	hidden map[string]bool // by directory
	res    Labelled
	done   []verdict // that are to be written
}

// A verdict is what is said of one decision.
type verdict struct {
	decision int64
	labels   []label
}

// session judges the decisions of one session, and reports whether there were any.
func (l *labeller) session(ctx context.Context, r *search.Reader, sessionID string) (bool, error) {
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	defer snap.Close() // before anything is written: a checkpoint waits for no reader
	s := shower{snap, l.hidden}
	ids, err := s.decisionsOf(ctx, sessionID, `judged_at IS NULL`)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	j, err := newJudge(ctx, snap, sessionID)
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		d, ok, err := readJudged(ctx, snap, id)
		if err != nil {
			return false, err
		}
		v := verdict{decision: id}
		if ok {
			if v.labels, err = j.judge(ctx, &d); err != nil {
				return false, err
			}
		}
		l.done = append(l.done, v)
	}
	return true, nil
}

// readJudged reads a decision. ok is false where its time cannot be read: nothing
// can then be said to have come after it.
func readJudged(ctx context.Context, snap *search.Snapshot, id int64) (d judged, ok bool, err error) {
	err = snap.Each(ctx, func(rows *sql.Rows) error {
		var ts, spellings, injected sql.NullString
		if err := rows.Scan(&ts, &spellings, &injected, &d.chars); err != nil {
			return err
		}
		d.at, ok = archive.ParseTime(ts.String)
		d.spellings = list[string](spellings)
		for _, x := range list[recall.Injected](injected) {
			d.injected = append(d.injected, x.TurnID)
		}
		return nil
	}, `SELECT ts, spellings, injected, coalesce(chars_injected, 0) FROM decisions WHERE id = ?`, id)
	return d, ok, err
}

// write writes what was found, in one transaction. A label that a decision has
// already, or another one of the same turn, stays.
func (l *labeller) write(ctx context.Context) error {
	if len(l.done) == 0 {
		return nil
	}
	if err := l.w.Begin(ctx); err != nil {
		return err
	}
	counts := map[string]int{}
	for _, v := range l.done {
		for _, x := range v.labels {
			res, err := l.w.ExecContext(ctx, `INSERT INTO labels(decision_id, turn_id, label, detail, labeled_at)
				SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (
					SELECT 1 FROM labels WHERE decision_id = ?1 AND turn_id IS ?2 AND (?2 IS NOT NULL OR label = ?3))`,
				v.decision, x.turn, x.name, x.detail, l.now)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return err
			}
			counts[x.name] += int(n)
		}
		if _, err := l.w.ExecContext(ctx, `UPDATE decisions SET judged_at = ? WHERE id = ?`, l.now, v.decision); err != nil {
			return err
		}
	}
	if err := l.w.Commit(ctx); err != nil {
		return err
	}
	for name, n := range counts {
		l.res.Labels[name] += n
	}
	l.res.Decisions += len(l.done)
	l.done = l.done[:0]
	return nil
}
