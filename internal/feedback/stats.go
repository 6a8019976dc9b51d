package feedback

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
)

// Stats say how well recall did. Every count leaves out what was decided in an
// excluded directory.
type Stats struct {
	// Decisions counts every logged prompt, whatever came of it. It was the wider
	// look after a compaction for the second count and was not for the third; of
	// the rest that is not known.
	Decisions          int64 `json:"decisions"`
	CompactedDecisions int64 `json:"compacted_decisions"`
	OrdinaryDecisions  int64 `json:"ordinary_decisions"`
	InjectedTurns      int64 `json:"injected_turns"`
	Hits               int64 `json:"hits"`
	FalsePositives     int64 `json:"false_positives"`
	// Precision is the share of hits among the turns that were judged, nil where
	// none was.
	Precision    *float64 `json:"precision"`
	Misses       int64    `json:"misses"`
	WastedBudget int64    `json:"wasted_budget"`
	// CharsInjected is what was handed over, in characters, and CharsReferenced
	// what excerpts of turns that were hits have of it.
	CharsInjected   int64 `json:"chars_injected"`
	CharsReferenced int64 `json:"chars_referenced"`
	// Reason says why there is nothing to count.
	Reason string `json:"-"`
}

// tables are those of this package.
var tables = []string{"decisions", "labels"}

// present reports whether the store has the tables. One without the other is
// damage; neither is an older build's store.
func present(ctx context.Context, snap *search.Snapshot) (bool, error) {
	have := 0
	var missing string
	for _, name := range tables {
		there, err := snap.HasTable(ctx, name)
		if err != nil {
			return false, err
		}
		if there {
			have++
		} else {
			missing = name
		}
	}
	if have == 1 {
		return false, fmt.Errorf("the store is damaged: it has no table %s", missing)
	}
	return have > 0, nil
}

// Tally counts what the log of decisions and its labels hold.
func Tally(ctx context.Context, r *search.Reader) (Stats, error) {
	var st Stats
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return st, err
	}
	defer snap.Close()
	if st.Reason = snap.NoStore(); st.Reason != "" {
		return st, nil
	}
	stored, err := present(ctx, snap)
	if err != nil {
		return st, err
	}
	if stored {
		t := tally{shower: newShower(snap)}
		if err := t.all(ctx); err != nil {
			return Stats{}, err
		}
		st = t.Stats
	}
	if st.Decisions == 0 {
		st.Reason = nothingLogged
	}
	if judged := st.Hits + st.FalsePositives; judged > 0 {
		precision := float64(st.Hits) / float64(judged)
		st.Precision = &precision
	}
	return st, nil
}

type tally struct {
	shower
	Stats
	// dirs are the excluded directories in which something was decided: a JSON list,
	// "" for none.
	dirs string
}

// shown renders the condition of decisions that may be shown. To look up each of a
// hundred thousand in an empty list would take as long as to count them.
func (t *tally) shown() (condition string, args []any) {
	if t.dirs == "" {
		return `1`, nil
	}
	return `(cwd IS NULL OR cwd NOT IN (SELECT value FROM json_each(?)))`, []any{t.dirs}
}

// all counts with the index idx_decisions_tally alone: a decision's row, with the
// prompt, the candidates and the text, is a hundred times as long.
func (t *tally) all(ctx context.Context) error {
	if err := t.hide(ctx); err != nil {
		return err
	}
	shown, args := t.shown()
	err := t.snap.Each(ctx, func(rows *sql.Rows) error {
		return rows.Scan(&t.Decisions, &t.CompactedDecisions, &t.OrdinaryDecisions, &t.CharsInjected)
	}, `SELECT count(*), count(CASE compacted WHEN 1 THEN 1 END), count(CASE compacted WHEN 0 THEN 1 END), coalesce(sum(chars_injected), 0)
		FROM decisions INDEXED BY idx_decisions_tally WHERE `+shown, args...)
	if err != nil {
		return err
	}
	if err := t.labels(ctx); err != nil {
		return err
	}
	return t.turns(ctx)
}

// turns counts the turns that were handed over, and what the hits among them have
// of the text.
func (t *tally) turns(ctx context.Context) error {
	type judgedTurn struct{ decision, turn int64 }
	hits := map[judgedTurn]bool{}
	err := t.snap.Each(ctx, func(rows *sql.Rows) error {
		var x judgedTurn
		err := rows.Scan(&x.decision, &x.turn)
		hits[x] = true
		return err
	}, `SELECT decision_id, turn_id FROM labels WHERE label = ? AND turn_id IS NOT NULL`, Hit)
	if err != nil {
		return err
	}
	shown, args := t.shown()
	return t.snap.Each(ctx, func(rows *sql.Rows) error {
		var decision int64
		var injected sql.RawBytes
		if err := rows.Scan(&decision, &injected); err != nil {
			return err
		}
		var turns []recall.Injected
		if json.Unmarshal(injected, &turns) != nil {
			return nil
		}
		for _, x := range turns {
			t.InjectedTurns++
			if hits[judgedTurn{decision, x.TurnID}] {
				t.CharsReferenced += int64(x.Chars)
			}
		}
		return nil
	}, `SELECT id, injected FROM decisions INDEXED BY idx_decisions_tally WHERE injected <> '[]' AND `+shown, args...)
}

// hide finds the directories of decisions that may not be shown.
func (t *tally) hide(ctx context.Context) error {
	var dirs, hidden []string
	err := t.snap.Each(ctx, func(rows *sql.Rows) error {
		var dir string
		err := rows.Scan(&dir)
		dirs = append(dirs, dir)
		return err
	}, `WITH RECURSIVE dirs(dir) AS (
		SELECT min(cwd) FROM decisions
		UNION ALL SELECT (SELECT min(cwd) FROM decisions WHERE cwd > dir) FROM dirs WHERE dir IS NOT NULL
	) SELECT dir FROM dirs WHERE dir IS NOT NULL`)
	for _, dir := range dirs {
		shown := true
		if err == nil {
			shown, err = t.shows(ctx, dir)
		}
		if !shown {
			hidden = append(hidden, dir)
		}
	}
	if err != nil || len(hidden) == 0 {
		return err
	}
	list, err := json.Marshal(hidden)
	t.dirs = string(list)
	return err
}

// labels counts the labels: all of them, without those of decisions that may not
// be shown, which are few.
func (t *tally) labels(ctx context.Context) error {
	counts := map[string]int64{}
	for _, part := range []struct {
		sign  int64
		query string
		args  []any
	}{
		{1, `SELECT label, count(*) FROM labels GROUP BY label`, nil},
		{-1, `SELECT l.label, count(*) FROM json_each(?) j CROSS JOIN decisions d INDEXED BY idx_decisions_tally ON d.cwd = j.value
			CROSS JOIN labels l ON l.decision_id = d.id GROUP BY l.label`, []any{t.dirs}},
	} {
		if part.args != nil && t.dirs == "" {
			continue
		}
		err := t.snap.Each(ctx, func(rows *sql.Rows) error {
			var name string
			var n int64
			err := rows.Scan(&name, &n)
			counts[name] += part.sign * n
			return err
		}, part.query, part.args...)
		if err != nil {
			return err
		}
	}
	t.Hits, t.FalsePositives = counts[Hit], counts[FalsePositive]
	t.Misses, t.WastedBudget = counts[Miss], counts[WastedBudget]
	return nil
}
