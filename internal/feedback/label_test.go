package feedback

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/search"
)

func (p *place) exec(query string, args ...any) {
	p.t.Helper()
	_, err := p.db.Exec(query, args...)
	p.check(err)
}

// known makes a session: one that is closed, unless open, and a subagent's, unless
// parent is "".
func (p *place) known(no int, id string, open bool, parent string) {
	p.t.Helper()
	key := fmt.Sprintf("%s-%d.jsonl", id, no)
	p.exec(`INSERT INTO sessions(session_key, session_no, harness) VALUES (?, ?, 'claude')`, key, no)
	p.exec(`INSERT INTO session_meta(session_key, session_id, transcript_path, checksum, stream_len, last_turn_at, is_final, parent_session_key)
		VALUES (?, ?, '', x'', 0, '2026-08-12T10:00:00.000Z', CASE WHEN ? THEN NULL ELSE 1 END, nullif(?, ''))`, key, id, open, parent)
}

// turn makes a turn that names an entity.
func (p *place) turn(no, seq int, ts, tool, kind, value string) {
	p.t.Helper()
	id := no<<archive.TurnBits | seq
	p.exec(`INSERT OR IGNORE INTO turns(id, record_type, tool_name, ts, stream_offset, byte_len) VALUES (?, 'assistant', nullif(?, ''), nullif(?, ''), 0, 0)`, id, tool, ts)
	p.exec(`INSERT OR IGNORE INTO entity_values(kind, value) VALUES (?, ?)`, kind, value)
	p.exec(`INSERT INTO entities(value, turn) SELECT id, ? FROM entity_values WHERE kind = ? AND value = ?`, id, kind, value)
}

func (p *place) decided(id int, session, ts, spellings, injected string, chars int) {
	p.t.Helper()
	p.exec(`INSERT INTO decisions(id, file, session_id, ts, cwd, spellings, injected, chars_injected) VALUES (?, ?, ?, ?, '/work/app', ?, ?, ?)`,
		id, fmt.Sprint(id), session, ts, spellings, injected, chars)
}

// label judges what is due, and gives the labels as text, in order.
func (p *place) label(now time.Time, exclude ...string) (Labelled, []string) {
	p.t.Helper()
	w, err := p.db.Writer(p.t.Context())
	p.check(err)
	due, err := Due(p.t.Context(), w, now)
	p.check(err)
	cfg := config.Config{DataDir: p.dir, Exclude: config.NewExclusions("/home/u", exclude)}
	r, err := search.Open(p.t.Context(), &cfg)
	p.check(err)
	defer r.Close()
	res, err := Label(p.t.Context(), w, r, due, now)
	p.check(err)
	p.check(w.Close())
	rows, err := p.db.Query(`SELECT decision_id || ' ' || label || coalesce(' ' || turn_id, '') || coalesce(': ' || detail, '') FROM labels ORDER BY id`)
	p.check(err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		p.check(rows.Scan(&text))
		all = append(all, text)
	}
	return res, all
}

const sid = "5e0a94cf-7a0b-4c1e-9a71-1f6d1a0e5f11"

func TestWhatALaterTurnNamesDecides(t *testing.T) {
	const at, before, after = "2026-08-12T09:00:00.000Z", "2026-08-12T08:59:59.999Z", "2026-08-12T09:00:00.001Z"
	recall := "mcp__terminus__recall_search"
	for _, tc := range []struct {
		name string
		// a later turn
		ts, tool, kind, value string
		no                    int
		want                  []string
	}{
		{"a path", after, "Edit", "path", "a.go", 1, []string{"1 hit 7"}},
		{"in a subagent's session", after, "", "path", "a.go", 2, []string{"1 hit 7"}},
		{"in another session", after, "", "path", "a.go", 3, []string{"1 false positive 7", "1 wasted budget: 90"}},
		{"an error", after, "", "error", "boom", 1, []string{"1 hit 7"}},
		{"a tool alone", after, "Read", "tool", "Read", 1, []string{"1 false positive 7", "1 wasted budget: 90"}},
		{"another kind", after, "", "symbol", "a.go", 1, []string{"1 false positive 7", "1 wasted budget: 90"}},
		{"before the prompt", before, "", "path", "a.go", 1, []string{"1 false positive 7", "1 wasted budget: 90"}},
		{"in the same millisecond", at, "", "path", "a.go", 1, []string{"1 false positive 7", "1 wasted budget: 90"}},
		{"before it, in another zone", "2026-08-12T10:59:00.000+02:00", "", "path", "a.go", 1, []string{"1 false positive 7", "1 wasted budget: 90"}},
		{"after it, in another zone", "2026-08-12T08:01:00.000-01:00", "", "path", "a.go", 1, []string{"1 hit 7"}},
		{"a time that is none", "tomorrow", "", "path", "a.go", 1, []string{"1 hit 7"}},
		{"no time", "", "", "path", "a.go", 1, []string{"1 false positive 7", "1 wasted budget: 90"}},
		{"asked of recall", after, recall, "path", "b.go", 1, []string{"1 false positive 7", "1 miss: b.go", "1 wasted budget: 90"}},
		{"asked of recall, in capitals", after, "X_RECALL_GET", "tool", "b.go", 1, []string{"1 false positive 7", "1 miss: b.go", "1 wasted budget: 90"}},
		{"asked of recall before", before, recall, "path", "b.go", 1, []string{"1 false positive 7", "1 wasted budget: 90"}},
		{"asked of another tool", after, "recall_search2", "path", "b.go", 1, []string{"1 false positive 7", "1 wasted budget: 90"}},
		{"asked of recall, and handed over", after, recall, "path", "a.go", 1, []string{"1 hit 7"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlace(t)
			p.known(0, "old", false, "")
			p.turn(0, 7, before, "Read", "path", "a.go")
			p.turn(0, 7, before, "Read", "tool", "Read")
			p.turn(0, 7, before, "Read", "error", "boom")
			p.known(1, sid, false, "")
			p.known(2, sid, false, sid+"-1.jsonl")
			p.known(3, "another", false, "")
			p.turn(tc.no, 1, tc.ts, tc.tool, tc.kind, tc.value)
			p.decided(1, sid, at, `["c.go","b.go","a.go"]`, `[{"turn_id":7,"chars":5},{"turn_id":7,"chars":5}]`, 90)
			if _, got := p.label(time.Now()); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDecisionsWaitForTheirSessionAndAreJudgedOnce(t *testing.T) {
	now := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	p := newPlace(t)
	p.known(0, "old", false, "")
	p.turn(0, 7, "", "", "path", "a.go")
	p.known(1, sid, true, "")
	p.known(2, sid, false, sid+"-1.jsonl")
	p.decided(1, sid, "2026-08-12T09:00:00.000Z", `[]`, `[{"turn_id":7,"chars":5}]`, 90)
	p.decided(2, sid, "2026-08-12T09:00:00.000Z", `[]`, `[]`, 0)
	p.decided(3, sid, "no time", `[]`, `[{"turn_id":7,"chars":5}]`, 90)
	p.decided(4, "nowhere", "2026-08-12T09:00:00.000Z", `[]`, `[{"turn_id":7,"chars":5}]`, 90)
	if res, got := p.label(now); res.Decisions != 0 || got != nil {
		t.Errorf("an open session, a subagent's of which is closed: %+v, %q", res, got)
	}
	p.exec(`UPDATE session_meta SET is_final = 1`)
	if res, got := p.label(now, "/work/app"); res.Decisions != 0 || got != nil {
		t.Errorf("excluded: %+v, %q", res, got)
	}
	want := []string{"1 false positive 7", "1 wasted budget: 90"}
	if res, got := p.label(now); res.Decisions != 3 || !reflect.DeepEqual(got, want) ||
		!reflect.DeepEqual(res.Labels, map[string]int{FalsePositive: 1, WastedBudget: 1}) {
		t.Errorf("closed: %+v, %q", res, got)
	}
	p.turn(1, 1, "2026-08-12T10:00:00.000Z", "", "path", "a.go")
	if res, got := p.label(now); res.Decisions != 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("again: %+v, %q", res, got)
	}
	// A label that stands there already stays, whatever is found now.
	p.exec(`UPDATE decisions SET judged_at = NULL`)
	if res, got := p.label(now); res.Decisions != 3 || !reflect.DeepEqual(got, want) || len(res.Labels) > 0 && res.Labels[Hit] > 0 {
		t.Errorf("judged anew: %+v, %q", res, got)
	}
}

func TestManySessionsThatAreNotArchivedAreGivenUpAfterAMonth(t *testing.T) {
	p := newPlace(t)
	p.known(1, "known", true, "")
	p.decided(1, "known", "2026-08-01T00:00:00.000Z", `[]`, `[]`, 0)
	for n := range manyWaiting {
		p.decided(n+2, fmt.Sprintf("lost%04d", n), []string{"2026-08-01T00:00:00.000Z", "2026-08-20T00:00:00.000Z"}[n%2], `[]`, `[]`, 0)
	}
	p.label(time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC))
	var given, wrong int
	p.check(p.db.QueryRow(`SELECT count(judged_at), coalesce(sum(judged_at IS NOT NULL AND (session_id = 'known' OR ts > '2026-08-10')), 0) FROM decisions`).Scan(&given, &wrong))
	if given != manyWaiting/2 || wrong != 0 {
		t.Errorf("%d were given up, %d of them wrongly", given, wrong)
	}
}
