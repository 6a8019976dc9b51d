package recall_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/recall"
)

// decidedAt lies after whatever was archived by then, and before what later writes.
var decidedAt = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)

// logged is what the log keeps of a lookup.
func logged(l recall.Lookup, prompt string, budget int) recall.Logged {
	return recall.Logged{
		Prompt: prompt, Dir: work, At: decidedAt, Limits: recall.DefaultLimits, Budget: budget, Looked: &l.Looked,
		Spellings: l.Spellings, Candidates: l.Candidates, Injected: l.Injected, Suppressed: l.Suppressed,
		Compacted: l.Compacted, Dropped: l.Dropped, WatermarkSessionNo: l.WatermarkSessionNo,
	}
}

// replay decides logged prompts of the session once more.
func (m *machine) replay(limits recall.Limits, prompts ...recall.Logged) (turns [][]int64) {
	m.t.Helper()
	snap, err := m.reader().Snapshot(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	defer snap.Close()
	r, err := recall.NewReplayer(m.t.Context(), snap, sessionID(now), limits)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, l := range prompts {
		_, given, err := r.Decide(m.t.Context(), &l)
		if err != nil {
			m.t.Fatal(err)
		}
		turns = append(turns, given)
	}
	return turns
}

func by(n int) members { return members{"sessionId": sessionID(n)} }

// history is what is archived when the prompts come: turns that match one thing and
// two, tool results, a copy, and turns of the session itself.
func (m *machine) history() {
	m.session(1, readCall("/work/app/src/retry.go"), result("src/retry.go", "/work/app/src/retry.go"), answer("src/retry.go is short"),
		call("Edit", members{"file_path": "/work/app/src/retry.go", "old_string": "retryBudget", "new_string": "waitFor"}, uuid(1)))
	m.session(2, call("Edit", members{"file_path": "/work/app/src/retry.go", "old_string": "retryBudget", "new_string": "waitFor"}, uuid(1)),
		call("Grep", members{"pattern": "retryBudget", "path": "src"}), typed("src/retry.go"), typed("retryBudget"))
	var more []string
	for n := range 12 {
		more = append(more, readCall("/work/app/src/retry.go", members{"timestamp": fmt.Sprintf("2026-08-13T10:%02d:00.000Z", n)}))
	}
	m.session(3, more...)
	m.session(now, typed("hello", by(now)), readCall("/work/app/src/retry.go", by(now)), call("Grep", members{"pattern": "retryBudget"}, by(now)))
}

// later is what happens after the prompts: the session and others go on, and new
// ones come.
func (m *machine) later() {
	after := at("2026-08-21T09:00:00.000Z")
	m.session(now, readCall("/work/app/src/retry.go", by(now), after), call("Grep", members{"pattern": "retryBudget"}, by(now), after))
	m.session(1, readCall("/work/app/src/retry.go", at("2026-08-20T15:00:00.000+02:00")))
	for n := 20; n < 26; n++ {
		m.session(n, readCall("/work/app/src/retry.go"), call("Grep", members{"pattern": "retryBudget", "path": "src/retry.go"}))
	}
}

// The oracle is the hook itself: what it would have handed over then under the
// other limits.
func TestAReplayGivesWhatTheHookWouldHaveGiven(t *testing.T) {
	m := newMachine(t)
	m.history()
	type asked struct {
		prompt string
		budget int
		state  recall.State
	}
	prompts := []asked{
		{"src/retry.go", 4000, recall.State{}},
		{"read src/retry.go for retryBudget", 4000, recall.State{}},
		{"retryBudget", 4000, recall.State{Injected: []int64{turn(1, 1)}}},
		{"retryBudget in src/retry.go, and otherName", 300, recall.State{}},
		{"src/retry.go", 330, recall.State{Brief: []int64{turn(2, 11)}}},
		{"retryBudget", 10, recall.State{}},
		{"nothing", 4000, recall.State{}},
	}
	limits := []recall.Limits{recall.DefaultLimits}
	for n := range 14 {
		for _, f := range []func(l *recall.Limits){
			func(l *recall.Limits) { l.EntityRank = n },
			func(l *recall.Limits) { l.EntityRank, l.CoOccurring = 0, n },
			func(l *recall.Limits) { l.MaxTurns = n },
			func(l *recall.Limits) { l.Ranked, l.MaxTurns = n, 9 },
			func(l *recall.Limits) { l.EntityRank, l.MaxTurns = n, n },
			func(l *recall.Limits) { l.MaxCandidates = n },
		} {
			l := recall.DefaultLimits
			f(&l)
			limits = append(limits, l)
		}
	}
	log := make([]recall.Logged, len(prompts))
	want := make([][][]int64, len(prompts))
	fired := 0
	for i, p := range prompts {
		ask := func(limits recall.Limits) recall.Lookup {
			return m.ask(recall.LookupRequest{Transcript: m.transcript(now), Prompt: p.prompt, State: p.state, Budget: p.budget, Limits: limits})
		}
		log[i] = logged(ask(recall.DefaultLimits), p.prompt, p.budget)
		for _, l := range limits {
			turns := ids(ask(l))
			fired += len(turns)
			want[i] = append(want[i], turns)
		}
	}
	if fired < 100 {
		t.Fatalf("only %d turns are handed over: the test compares little", fired)
	}
	for _, when := range []string{"at once", "later"} {
		for i := range prompts {
			for k, l := range limits {
				if got := m.replay(l, log[i])[0]; !slices.Equal(got, want[i][k]) && l.MaxCandidates == recall.DefaultLimits.MaxCandidates {
					t.Errorf("%s: %q by %+v: %v, the hook gave %v", when, prompts[i].prompt, l, got, want[i][k])
				} else if !sameSet(got, want[i][k]) && when == "at once" {
					t.Errorf("%s: %q by %+v: %v, the hook gave %v", when, prompts[i].prompt, l, got, want[i][k])
				}
			}
		}
		m.later()
	}
}

func sameSet(a, b []int64) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// What one prompt was given is not given to the next, under the limits of the
// replay either.
func TestAReplayGivesATurnOnce(t *testing.T) {
	m := newMachine(t)
	m.session(1, readCall("/work/app/src/retry.go"))
	first := logged(m.prompt(now, "src/retry.go", recall.State{}), "src/retry.go", 4000)
	first.Injected = nil
	if got := m.replay(recall.DefaultLimits, first, first); len(got[0]) != 1 || len(got[1]) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestAReplayOfTheLookAfterACompaction(t *testing.T) {
	m := newMachine(t)
	m.session(now, readCall("/work/app/src/retry.go", by(now), uuid(1)), readCall("/work/app/src/retry.go", by(now)),
		boundary(namedUUID(1)), readCall("/work/app/src/retry.go", by(now)))
	m.session(1, readCall("/work/app/src/retry.go"))
	compacted := m.prompt(now, "src/retry.go", recall.State{CompactionOwed: true})
	dropped := turn(0, 1)
	if got := ids(compacted); !slices.Equal(got, []int64{dropped}) {
		t.Fatalf("the hook gave %v", got)
	}
	wide := recall.Limits{Ranked: 99, CompactedRanked: 99, EntityRank: 99, CoOccurring: 1, MaxTurns: 99, MaxCandidates: 8}
	none := recall.DefaultLimits
	none.CompactedRanked = 0
	log := logged(compacted, "src/retry.go", 4000)
	for _, tc := range []struct {
		limits recall.Limits
		want   []int64
	}{{recall.DefaultLimits, []int64{dropped}}, {wide, []int64{dropped}}, {none, nil}} {
		if got := m.replay(tc.limits, log)[0]; !slices.Equal(got, tc.want) {
			t.Errorf("%+v: %v, want %v", tc.limits, got, tc.want)
		}
	}
	// What the compaction took out may be given to a later prompt as well.
	after := logged(m.prompt(now, "src/retry.go", recall.State{}), "src/retry.go", 4000)
	if got := m.replay(wide, log, after); !slices.Equal(got[1], []int64{turn(1, 0)}) {
		t.Errorf("after that: %v", got)
	}
}

func TestAPromptThatWasNotLookedUpIsGivenNothing(t *testing.T) {
	m := newMachine(t)
	m.session(1, readCall("/work/app/src/retry.go"))
	l := logged(m.prompt(now, "src/retry.go", recall.State{}), "src/retry.go", 4000)
	l.Candidates, l.Injected = nil, nil
	looked := false
	l.Looked = &looked
	if got := m.replay(recall.DefaultLimits, l)[0]; got != nil {
		t.Errorf("got %v", got)
	}
	l.Looked = nil // a log that does not say so
	if got := m.replay(recall.DefaultLimits, l)[0]; len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestATurnThatIsGoneKeepsItsRankAndIsNotGiven(t *testing.T) {
	m := newMachine(t)
	m.session(1, readCall("/work/app/src/retry.go"), readCall("/work/app/src/retry.go"))
	l := logged(m.prompt(now, "src/retry.go", recall.State{}), "src/retry.go", 4000)
	m.exec(fmt.Sprintf(`DELETE FROM turns WHERE id = %d`, l.Candidates[0].TurnID))
	limits := recall.DefaultLimits
	limits.EntityRank = 2
	if got := m.replay(limits, l)[0]; !slices.Equal(got, []int64{l.Candidates[1].TurnID}) {
		t.Errorf("got %v", got)
	}
	limits.EntityRank = 1
	if got := m.replay(limits, l)[0]; got != nil {
		t.Errorf("got %v", got)
	}
}
