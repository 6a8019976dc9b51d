package search_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/search/searchtest"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// promptHits looks a prompt up in dir.
func promptHits(t testing.TB, r *search.Reader, dir string, q search.PromptQuery) []search.PromptHit {
	t.Helper()
	snap, err := r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	view, err := snap.View(t.Context(), search.Scope{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if q.Limit == 0 {
		q.Limit = 10
	}
	if q.Words == "" {
		q.Words = strings.Join(q.Spellings, " ")
	}
	hits, err := snap.PromptHits(t.Context(), view, q)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func hitIDs(hits []search.PromptHit) (out []int64) {
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

// A filler writes whole sessions with their entities.
type filler struct {
	t testing.TB
	s *searchtest.Store
	w *sql.DB
}

func newFiller(t testing.TB) filler {
	t.Helper()
	s := searchtest.New(t)
	w, err := sql.Open("sqlite", "file:"+s.Path()+"?_pragma=busy_timeout(5000)&_pragma=synchronous(0)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return filler{t, s, w}
}

func (f filler) session(o searchtest.Session, rows ...index.Row) *searchtest.Handle {
	f.t.Helper()
	h := f.s.Session(o)
	if _, _, err := index.Write(f.t.Context(), f.w, index.Target{No: h.No, Slot: h.Slot}, rows); err != nil {
		f.t.Fatal(err)
	}
	return h
}

// reads is the row of a turn that reads a file.
func reads(path string) index.Row {
	return index.Row{
		Type: transcript.Assistant, ToolName: "Read", Body: []byte("Read " + path),
		Entities: []derive.Entity{{Kind: derive.KindTool, Value: "Read"}, {Kind: derive.KindPath, Value: path}},
	}
}

func says(text string) index.Row { return index.Row{Type: transcript.User, Body: []byte(text)} }

func repeat(n int, row index.Row) []index.Row {
	rows := make([]index.Row, n)
	for i := range rows {
		rows[i] = row
	}
	return rows
}

// As long as it is searched for, a spelling finds what a query of its words finds,
// with the same scores and in the same order.
func TestASpellingIsSearchedForLikeAQuery(t *testing.T) {
	f := newFiller(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	paths := []string{"/p/src/a.go", "/p/src/b.go", "/p/test/a_test.go"}
	for i := range 30 {
		var rows []index.Row
		for range 20 {
			row := says(strings.Repeat("src go ", rnd.IntN(3)) + paths[rnd.IntN(len(paths))] + strings.Repeat(" filler", rnd.IntN(9)))
			if rnd.IntN(3) == 0 {
				row = reads(paths[rnd.IntN(len(paths))])
			}
			row.TS = fmt.Sprintf("2026-01-%02dT", rnd.IntN(30))
			rows = append(rows, row)
		}
		o := searchtest.Session{Key: fmt.Sprintf("%d.jsonl", i), Project: []string{"/p", "/q"}[i%2]}
		if i%5 == 0 {
			o.Parent = "parent.jsonl"
		}
		f.session(o, rows...)
	}
	r, plain := f.s.Reader(), f.s.Reader()
	plain.MakePlain()
	for _, spelling := range []string{"src/a.go", "/p/src/b.go", "a_test", "absent", "go"} {
		res, err := r.Find(t.Context(), search.Query{Words: spelling, Scope: search.Scope{Dir: "/p"}, Limit: search.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		hits := promptHits(t, r, "/p", search.PromptQuery{Spellings: []string{spelling}})
		hits = hits[:min(len(hits), search.MaxLimit)]
		other := promptHits(t, plain, "/p", search.PromptQuery{Spellings: []string{spelling}})
		if !reflect.DeepEqual(other[:len(hits)], hits) {
			t.Errorf("%q: the plain statement gives %+v, not %+v", spelling, other, hits)
		}
		if len(hits) != len(res.Hits) {
			t.Fatalf("%q: %d hits, a query has %d", spelling, len(hits), len(res.Hits))
		}
		for i, want := range res.Hits {
			if got := hits[i]; got.ID != want.TurnID || got.Relevance != want.Relevance || got.EntityScore != want.EntityScore || !reflect.DeepEqual(got.MatchedOn, want.MatchedOn) {
				t.Errorf("%q: hit %d is %+v, a query has %+v", spelling, i, got, want)
			}
		}
	}
}

// Several spellings are ranked as FTS5 ranks their expression.
func TestSeveralSpellingsAreRankedTogether(t *testing.T) {
	f := newFiller(t)
	f.session(searchtest.Session{Key: "a.jsonl", Project: "/p"},
		says("alpha one"), says("beta two two"), says("alpha one beta two"), says("alpha two"), says("one beta"), says("other"))
	q := search.PromptQuery{Spellings: []string{"alpha/one", "beta/two", "!"}}
	hits := promptHits(t, f.s.Reader(), "/p", q)
	var want []int64
	rows, err := f.w.QueryContext(t.Context(), `SELECT rowid & 0xffffff, -bm25(turns_fts) FROM turns_fts
		WHERE turns_fts MATCH '("alpha" AND "one") OR ("beta" AND "two")' ORDER BY 2 DESC, 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var score float64
		if err := rows.Scan(&id, &score); err != nil {
			t.Fatal(err)
		}
		if i := len(want); i < len(hits) && hits[i].Relevance != score {
			t.Errorf("hit %d has %v, FTS5 gives %v", i, hits[i].Relevance, score)
		}
		want = append(want, id)
	}
	if rows.Err() != nil || !slices.Equal(hitIDs(hits), want) || len(want) != 3 {
		t.Errorf("got %v, want %v (%v)", hitIDs(hits), want, rows.Err())
	}
}

// Where a spelling's words are everywhere, the turns that name it are given.
func TestASpellingOfFrequentWordsIsNarrowed(t *testing.T) {
	f := newFiller(t)
	const path = "/p/src/server/index.go"
	f.session(searchtest.Session{Key: "noise.jsonl", Project: "/p"}, repeat(2000, says("Read /p/src/server/index.go"))...)
	other := f.session(searchtest.Session{Key: "other.jsonl", Project: "/q"}, reads(path))
	first := f.session(searchtest.Session{Key: "a.jsonl", Project: "/p"}, repeat(30, reads(path))...)
	agent := f.session(searchtest.Session{Key: "b.jsonl", Project: "/p", Parent: "a.jsonl"}, reads(path))
	last := f.session(searchtest.Session{Key: "c.jsonl", Project: "/p", PreWorktree: "/w"}, reads(path), reads("/p/src"), says("rareName"))
	r := f.s.Reader()
	id := func(h *searchtest.Handle, seq int64) int64 { return h.No<<search.TurnBits | seq }

	q := search.PromptQuery{Spellings: []string{path, "src/server/index.go", "rareName"}}
	hits := promptHits(t, r, "/p", q)
	got := hitIDs(hits)
	if slices.Contains(got, id(other, 0)) || slices.Contains(got, id(last, 1)) || !slices.Contains(got, id(last, 2)) {
		t.Errorf("got %v", got)
	}
	// Twenty turns that name it, the newest, and the one that was searched for.
	if len(got) != 21 || !slices.Contains(got, id(first, 29)) || !slices.Contains(got, id(first, 12)) || slices.Contains(got, id(first, 11)) {
		t.Errorf("%d hits: %v", len(got), got)
	}
	named := hits[slices.Index(got, id(last, 0))]
	if !reflect.DeepEqual(named.MatchedOn, []search.Match{{Kind: "path", Value: path}}) || named.EntityScore <= 0 || named.Relevance <= named.EntityScore {
		t.Errorf("got %+v", named)
	}
	if a, b := slices.Index(got, id(agent, 0)), slices.Index(got, id(first, 12)); a < b {
		t.Errorf("a subagent's turn ranks %d, before %d", a, b)
	}

	q.Spellings = []string{"(" + path + ")."}
	if got := hitIDs(promptHits(t, r, "/p", q)); len(got) != 20 {
		t.Errorf("punctuation: %v", got)
	}
	q.Before = id(first, 3)
	if got := hitIDs(promptHits(t, r, "/p", q)); !slices.Equal(got, []int64{id(first, 0), id(first, 1), id(first, 2)}) {
		t.Errorf("before a turn: %v", got)
	}
	q.Before = 0
	q.Pass = func(turn int64) bool { return turn > id(first, 4) }
	if got := hitIDs(promptHits(t, r, "/p", q)); len(got) != 5 || slices.Max(got) != id(first, 4) {
		t.Errorf("passed over: %v", got)
	}
	q.Pass = nil
	hidden := f.s.Reader("/w")
	if got := hitIDs(promptHits(t, hidden, "/p", q)); slices.Contains(got, id(last, 0)) || !slices.Contains(got, id(agent, 0)) {
		t.Errorf("excluded: %v", got)
	}
	q.Spellings = []string{"src/absent/server/index.go/src"}
	if got := promptHits(t, r, "/p", q); len(got) != 0 {
		t.Errorf("nobody names it: %v", got)
	}
}

// What is searched for may lie anywhere; what is out of view is not given, and
// does not change the order.
func TestASearchedSpellingKeepsToItsView(t *testing.T) {
	f := newFiller(t)
	f.session(searchtest.Session{Key: "0.jsonl", Project: "/p"}, says("hay"))
	in := f.session(searchtest.Session{Key: "a.jsonl", Project: "/p"}, says("needle here"), says("hay"))
	f.session(searchtest.Session{Key: "b.jsonl", Project: "/q"}, says("needle"))
	f.session(searchtest.Session{Key: "c.jsonl", Project: "/p", PreWorktree: "/w"}, says("needle"))
	f.session(searchtest.Session{Key: "d.jsonl"}, says("needle"))
	r := f.s.Reader("/w")
	q := search.PromptQuery{Spellings: []string{"needle"}}
	if got := hitIDs(promptHits(t, r, "/p", q)); !slices.Equal(got, []int64{in.No << search.TurnBits}) {
		t.Errorf("got %v", got)
	}
	if got := promptHits(t, r, "/nowhere", q); got != nil {
		t.Errorf("out of scope: %v", got)
	}
	q.Before = in.No << search.TurnBits
	if got := promptHits(t, r, "/p", q); len(got) != 0 {
		t.Errorf("before the first turn: %v", got)
	}
}

func TestTheSearchTableCountsItsRows(t *testing.T) {
	f := newFiller(t)
	for want, rows := range []int{0, 1, 200} {
		if rows > 0 {
			f.session(searchtest.Session{Key: fmt.Sprintf("%d.jsonl", want), Project: "/p"}, repeat(rows, says("x"))...)
		}
		var count int64
		if err := f.w.QueryRowContext(t.Context(), `SELECT count(*) FROM turns_fts`).Scan(&count); err != nil {
			t.Fatal(err)
		}
		if got, err := f.s.Reader().SearchRows(t.Context()); err != nil || got != count {
			t.Errorf("%d rows, the table has %d (%v)", got, count, err)
		}
	}
}

// BenchmarkPromptHits looks prompts up in 60,000 turns, of which every one holds
// the words of the path.
func BenchmarkPromptHits(b *testing.B) {
	f := newFiller(b)
	const path = "/p/src/server/index.go"
	for i := range 300 {
		rows := repeat(200, says("Read /p/src/server/index.go and go on"))
		rows[i%200] = reads(path)
		rows[(i+1)%200] = says(fmt.Sprint("rare", i))
		f.session(searchtest.Session{Key: fmt.Sprintf("%d.jsonl", i), Project: "/p"}, rows...)
	}
	f.s.Exec(`INSERT INTO turns_fts(turns_fts) VALUES ('optimize')`)
	r := f.s.Reader()
	for name, spellings := range map[string][]string{"narrowed": {path, "src/server/index.go"}, "searched": {"rare7", "rare8"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				promptHits(b, r, "/p", search.PromptQuery{Spellings: spellings, Words: "Read " + path})
			}
		})
	}
}
