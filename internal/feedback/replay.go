package feedback

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
)

// A Replay says what other limits would have done on the logged prompts.
type Replay struct {
	// Thresholds are those that the prompts were decided by once more.
	Thresholds recall.Limits `json:"thresholds"`
	// Decisions counts the prompts: those of sessions that are closed.
	Decisions int64 `json:"decisions"`
	// Labels are all labels, in the order of Labels; none without a log.
	Labels []LabelChange `json:"labels"`
	// Changed are the decisions that would have had other labels, ascending.
	Changed []int64 `json:"changed"`
	// Reason says why there is nothing to decide.
	Reason string `json:"-"`
}

// A LabelChange is how often a label stands in the store, and how often it would.
type LabelChange struct {
	Label string `json:"label"`
	Old   int64  `json:"old"`
	New   int64  `json:"new"`
}

// NothingReplayed is the replay of no prompt under some limits: what is shown
// where there is no log.
func NothingReplayed(limits recall.Limits) Replay { return Replay{Thresholds: limits} }

const noneClosed = "no logged prompt is of a session that is closed"

// Run replays the log under limits. It changes nothing. progress, if not nil, is
// told how many sessions of how many are done.
func Run(ctx context.Context, r *search.Reader, limits recall.Limits, progress func(done, total int64)) (Replay, error) {
	sessions, res, err := closedSessions(ctx, r, limits)
	if err != nil || res.Reason != "" {
		return res, err
	}
	counts := [2]map[string]int64{{}, {}} // stored, and of the replay
	hidden := map[string]bool{}
	for i, id := range sessions {
		s := rerun{limits: limits, hidden: hidden, res: &res, counts: counts}
		if err := s.session(ctx, r, id); err != nil {
			return NothingReplayed(limits), err
		}
		if progress != nil {
			progress(int64(i+1), int64(len(sessions)))
		}
	}
	for _, name := range Labels() {
		res.Labels = append(res.Labels, LabelChange{name, counts[0][name], counts[1][name]})
	}
	slices.Sort(res.Changed)
	if res.Decisions == 0 {
		res.Reason = noneClosed
	}
	return res, nil
}

// closedSessions lists the closed sessions with decisions, by their harnesses' own
// ids. The replay has a reason where there is no log to ask.
func closedSessions(ctx context.Context, r *search.Reader, limits recall.Limits) ([]string, Replay, error) {
	res := NothingReplayed(limits)
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return nil, res, err
	}
	defer snap.Close()
	if res.Reason = snap.NoStore(); res.Reason != "" {
		return nil, res, nil
	}
	stored, err := present(ctx, snap)
	if err != nil {
		return nil, res, err
	}
	if !stored {
		res.Reason = nothingLogged
		return nil, res, nil
	}
	var ids []string
	err = snap.Each(ctx, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, `WITH RECURSIVE logged(session) AS (
		SELECT min(session_id) FROM decisions
		UNION ALL SELECT (SELECT min(session_id) FROM decisions WHERE session_id > session) FROM logged WHERE session IS NOT NULL
	) SELECT session FROM logged WHERE session IS NOT NULL`)
	if err != nil {
		return nil, res, err
	}
	ids, err = snap.ClosedIDs(ctx, ids)
	return ids, res, err
}

// A rerun replays one session.
type rerun struct {
	limits recall.Limits
	hidden map[string]bool
	res    *Replay
	counts [2]map[string]int64

	snap     *search.Snapshot
	judge    *judge
	replayer *recall.Replayer
}

// session replays the decisions of one session, in one state of the store.
func (s *rerun) session(ctx context.Context, r *search.Reader, id string) (err error) {
	if s.snap, err = r.Snapshot(ctx); err != nil {
		return err
	}
	defer s.snap.Close()
	shown := shower{s.snap, s.hidden}
	ids, err := shown.decisionsOf(ctx, id, `ts IS NOT NULL`)
	if err != nil || len(ids) == 0 {
		return err
	}
	if s.judge, err = newJudge(ctx, s.snap, id); err != nil {
		return err
	}
	if s.replayer, err = recall.NewReplayer(ctx, s.snap, id, s.limits); err != nil {
		return err
	}
	for _, decision := range ids {
		if err := s.decision(ctx, decision); err != nil {
			return err
		}
	}
	return nil
}

// decision decides one prompt once more, and compares what would be said of that
// with what the store says.
func (s *rerun) decision(ctx context.Context, id int64) error {
	l, ok, err := readLogged(ctx, s.snap, id)
	if err != nil {
		return err
	}
	s.res.Decisions++
	stored, replayed := map[string]int64{}, map[string]int64{}
	if ok {
		d := judged{at: l.At}
		if d.spellings, d.injected, err = s.replayer.Decide(ctx, &l); err != nil {
			return err
		}
		d.chars = int64(len(d.injected)) // more than none where something was handed over
		labels, err := s.judge.judge(ctx, &d)
		if err != nil {
			return err
		}
		for _, x := range labels {
			replayed[x.name]++
		}
	}
	err = s.snap.Each(ctx, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		stored[name]++
		return err
	}, `SELECT label FROM labels WHERE decision_id = ?`, id)
	if err != nil {
		return err
	}
	changed := false
	for _, name := range Labels() {
		s.counts[0][name] += stored[name]
		s.counts[1][name] += replayed[name]
		changed = changed || stored[name] != replayed[name]
	}
	if changed {
		s.res.Changed = append(s.res.Changed, id)
	}
	return nil
}

// readLogged reads a decision as it is replayed. ok is false where its time cannot
// be read.
func readLogged(ctx context.Context, snap *search.Snapshot, id int64) (l recall.Logged, ok bool, err error) {
	err = snap.Each(ctx, func(rows *sql.Rows) error {
		var ts, dir, prompt, thresholds, spellings, candidates, injected, suppressed, dropped sql.NullString
		var compacted sql.NullBool
		if err := rows.Scan(&ts, &dir, &prompt, &l.WatermarkSessionNo, &compacted, &l.Looked, &thresholds,
			&spellings, &candidates, &injected, &suppressed, &dropped); err != nil {
			return err
		}
		l.At, ok = archive.ParseTime(ts.String)
		var t Thresholds
		if json.Unmarshal([]byte(thresholds.String), &t) != nil || t == (Thresholds{}) {
			// Nobody knows by which numbers it was decided.
			t, l.Looked = Thresholds{PromptChars: recall.MaxChars}, nil
		}
		l.Prompt, l.Dir, l.Limits, l.Budget, l.Compacted = prompt.String, dir.String, t.Limits, t.PromptChars, compacted.Bool
		l.Spellings, l.Candidates = list[string](spellings), list[recall.Candidate](candidates)
		l.Injected, l.Suppressed = list[recall.Injected](injected), list[recall.Suppressed](suppressed)
		l.Dropped = list[int64](dropped)
		return nil
	}, `SELECT ts, cwd, prompt, watermark_session_no, compacted, looked, thresholds, spellings, candidates, injected, suppressed, dropped
		FROM decisions WHERE id = ?`, id)
	return l, ok, err
}
