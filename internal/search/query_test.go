package search_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/search/searchtest"
)

var everything = search.Scope{Project: search.AllProjects}

func find(t *testing.T, r *search.Reader, q search.Query) search.Result {
	t.Helper()
	if q.Scope.Project == "" && q.Scope.Dir == "" {
		q.Scope = everything
	}
	res, err := r.Find(t.Context(), q)
	if err != nil {
		t.Fatalf("find %+v: %v", q, err)
	}
	return res
}

func ids(hits []search.Hit) []int64 {
	out := make([]int64, 0, len(hits))
	for _, h := range hits {
		out = append(out, h.TurnID)
	}
	return out
}

func TestAHitTellsTurnSessionAndExcerpt(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p"})
	s.Add(h, searchtest.Turn{Text: "something else", TS: "2026-01-01T00:00:00.000Z"})
	id := s.Add(h, searchtest.Turn{Type: "assistant", Text: "the  retry\nbudget", TS: "2026-01-02T00:00:00.000Z"})

	res := find(t, s.Reader(), search.Query{Words: "budget RETRY"})

	if len(res.Hits) != 1 || res.Reason != "" || res.Truncated || res.Query != "budget RETRY" {
		t.Fatalf("got %+v", res)
	}
	hit := res.Hits[0]
	if hit.Relevance <= 0 {
		t.Errorf("relevance %v is not positive", hit.Relevance)
	}
	project, ts := "/p", "2026-01-02T00:00:00.000Z"
	want := search.Hit{
		TurnID: id, SessionKey: "a.jsonl", Project: &project, RecordType: "assistant", TS: &ts,
		Relevance: hit.Relevance, MatchedOn: []search.Match{}, Excerpt: "the retry budget",
	}
	if !reflect.DeepEqual(hit, want) {
		t.Errorf("got %+v, want %+v", hit, want)
	}
}

func TestASessionWithoutMetadataIsFoundUnderEveryProjectOnly(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl", NoMeta: true})
	id := s.Add(h, searchtest.Turn{Text: "needle"})
	s.Add(s.Session(searchtest.Session{Key: "b.jsonl", Project: "/p"}), searchtest.Turn{Text: "hay"})
	r := s.Reader("/elsewhere")

	if got := find(t, r, search.Query{Words: "needle"}); len(got.Hits) != 1 || got.Hits[0].TurnID != id || got.Hits[0].Project != nil {
		t.Errorf("under every project: %+v", got)
	}
	if got := find(t, r, search.Query{Words: "needle", Scope: search.Scope{Project: "/p"}}); len(got.Hits) != 0 {
		t.Errorf("in one project: %+v", got)
	}
}

func TestBytesThatTheArchiveDoesNotGiveLeaveTheHitWithoutExcerpt(t *testing.T) {
	for name, spoil := range map[string]string{
		"damaged":       `UPDATE blocks SET bytes = x'00'`,
		"gone":          `DELETE FROM blocks`,
		"evicted":       `DELETE FROM blocks; UPDATE session_meta SET is_evicted = 1`,
		"wrong address": `UPDATE turns SET stream_offset = 1 << 40`,
		"wrong length":  `UPDATE turns SET byte_len = 1 << 62`,
		"negative":      `UPDATE turns SET byte_len = -1`,
	} {
		t.Run(name, func(t *testing.T) {
			s := searchtest.New(t)
			id := s.Add(s.Session(searchtest.Session{Key: "a.jsonl"}), searchtest.Turn{Text: "needle"})
			s.Exec(spoil)
			res := find(t, s.Reader(), search.Query{Words: "needle"})
			if len(res.Hits) != 1 || res.Hits[0].TurnID != id || res.Hits[0].Excerpt != "" {
				t.Errorf("got %+v", res)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p"})
	u := s.Add(h, searchtest.Turn{Text: "needle", TS: "2026-08-11T10:00:00.000Z"})
	a := s.Add(h, searchtest.Turn{Text: "needle", Type: "assistant", Tool: "Bash", TS: "2026-08-12T21:00:00.000Z"})
	n := s.Add(h, searchtest.Turn{Text: "needle", Type: "system"})
	r := s.Reader()

	for name, c := range map[string]struct {
		q    search.Query
		want []int64
	}{
		"none":                        {search.Query{}, []int64{a, u, n}},
		"kind":                        {search.Query{Kind: "assistant"}, []int64{a}},
		"kind in another case":        {search.Query{Kind: "Assistant"}, []int64{}},
		"unknown kind":                {search.Query{Kind: "observation"}, []int64{}},
		"tool":                        {search.Query{Tool: "Bash"}, []int64{a}},
		"since":                       {search.Query{Since: "2026-08-12T00:00:00.000Z"}, []int64{a}},
		"until lets no null time in":  {search.Query{Until: "2026-08-12T23:59:59.999Z"}, []int64{a, u}},
		"bounds are inside":           {search.Query{Since: "2026-08-11T10:00:00.000Z", Until: "2026-08-11T10:00:00.000Z"}, []int64{u}},
		"all together, in a project":  {search.Query{Kind: "assistant", Tool: "Bash", Scope: search.Scope{Project: "/p"}}, []int64{a}},
		"limit":                       {search.Query{Limit: 2}, []int64{a, u}},
		"a limit above the maximum":   {search.Query{Limit: 5000}, []int64{a, u, n}},
		"kind and tool that disagree": {search.Query{Kind: "user", Tool: "Bash"}, []int64{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.Words = "needle"
			if got := ids(find(t, r, c.q).Hits); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A statement has room for 32,766 parameters; what is asked for, or hidden, may
// be more.
func TestListsOfAnyLength(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p"})
	id := s.Add(h, searchtest.Turn{Text: "needle"})
	s.Add(h, searchtest.Turn{Text: "needle"})
	s.Exec(`INSERT INTO entity_values(id, kind, value) VALUES (1, 'path', 'a"b\é.go'), (2, 'path', ?)`, "\ufffd")
	s.Exec(`INSERT INTO entities(value, turn) VALUES (1, ?), (2, ?)`, id, id+1)
	many := func(n int, more ...string) []string {
		for i := range n {
			more = append(more, fmt.Sprintf("/x/%d", i))
		}
		return more
	}
	for _, plain := range []bool{false, true} {
		r := s.Reader()
		r.SetPlain(plain)
		for _, n := range []int{0, 1000, 40_000} {
			q := search.Query{Words: "needle", Paths: many(n, `a"b\é.go`, "\xff"), ForPeople: true}
			if got := ids(find(t, r, q).Hits); !slices.Equal(got, []int64{id}) {
				t.Errorf("%d paths more, plain %v: %v", n, plain, got)
			}
			q.Paths = many(n, "absent")
			q.Words = "needle absent"
			if res := find(t, r, q); len(res.Hits) > 0 || len(res.Counts) != 2 || res.Counts[0].Turns != 0 {
				t.Errorf("%d paths more, plain %v: %+v", n, plain, res)
			}
		}
	}

	const dirs = `WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) `
	s.Exec(`INSERT INTO sessions(session_key, session_no, harness) ` + dirs + `SELECT '/x/' || i, i, 'claude' FROM n`)
	s.Exec(`INSERT INTO session_meta(session_key, transcript_path, checksum, stream_len, project) ` + dirs +
		`SELECT '/x/' || i, '/x/' || i, x'', 0, '/x/' || i FROM n`)
	for _, plain := range []bool{false, true} {
		r := s.Reader("/x")
		r.SetPlain(plain)
		if got := find(t, r, search.Query{Words: "needle"}); len(got.Hits) != 2 {
			t.Errorf("with 19,901 hidden projects, plain %v: %+v", plain, got)
		}
	}
}

func TestOfTurnsWithEqualRelevanceTheOrderDecidesBeforeTheCut(t *testing.T) {
	s := searchtest.New(t)
	sub := s.Session(searchtest.Session{Key: "a/subagents/agent-1.jsonl", Project: "/p", Parent: "a.jsonl"})
	top := s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p"})
	const n = 300 // more than are weighed
	s.Exec(`BEGIN`)
	var newest []int64
	for i := range n {
		s.Add(sub, searchtest.Turn{Text: "ok", TS: fmt.Sprintf("2027-01-01T00:%02d:%02d.000Z", i/60, i%60)})
	}
	for range n {
		s.Add(top, searchtest.Turn{Text: "ok"})
	}
	for i := range 5 {
		newest = append(newest, s.Add(top, searchtest.Turn{Text: "ok", TS: fmt.Sprintf("2026-01-01T00:00:%02d.000Z", i)}))
	}
	s.Exec(`COMMIT`)
	slices.Reverse(newest)
	first := top.No << 24
	want := append(newest, first, first+1, first+2, first+3, first+4)

	var all []int64 // what may be weighed, a page after the other
	for seq := range int64(search.Candidates) - int64(len(newest)) {
		all = append(all, first+seq)
	}
	all = append(slices.Clone(newest), all...)
	for _, plain := range []bool{false, true} {
		r := s.Reader()
		r.SetPlain(plain)
		for _, scope := range []search.Scope{everything, {Project: "/p"}} {
			if got := ids(find(t, r, search.Query{Words: "ok", Scope: scope}).Hits); !slices.Equal(got, want) {
				t.Errorf("%+v, plain %v: got %v, want %v", scope, plain, got, want)
			}
			var got []int64
			for len(got) <= len(all) {
				page := find(t, r, search.Query{Words: "ok", Scope: scope, Limit: 50, Offset: len(got)}).Hits
				if len(page) == 0 {
					break
				}
				got = append(got, ids(page)...)
			}
			if !slices.Equal(got, all) {
				t.Errorf("%+v, plain %v: pages give %v, want %v", scope, plain, got, all)
			}
		}
	}
}

func TestQueriesWithoutHits(t *testing.T) {
	s := searchtest.New(t)
	s.Add(s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p"}), searchtest.Turn{Text: "needle"})
	r := s.Reader()
	for words, reason := range map[string]string{
		"absent": "", "": search.NoWords, "///": search.NoWords, "!@#$%^&*()": search.NoWords,
		`"unbalanced`: "", "foo AND (bar": "", "needle*": "", "NEAR(a b)": "", "body:needle": "", "-needle": "",
		"needle\x00": "",
	} {
		res := find(t, r, search.Query{Words: words})
		if res.Reason != reason || res.Hits == nil || res.Query != words {
			t.Errorf("%q: got %+v, want reason %q", words, res, reason)
		}
	}
}

func TestAQueryWithoutWordsSaysSoWhateverTheScope(t *testing.T) {
	s := searchtest.New(t)
	s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p"})
	for name, r := range map[string]*search.Reader{
		"as it is": s.Reader(), "excluded": s.Reader("/p"), "everything excluded": s.Reader("/"), "redacting": s.Redacting(),
	} {
		for _, scope := range []search.Scope{{}, {Project: "*"}, {Dir: "/p"}, {Dir: "/q"}} {
			res, err := r.Find(t.Context(), search.Query{Words: "?!", Scope: scope})
			if err != nil || res.Reason != search.NoWords || res.Elsewhere {
				t.Errorf("%s, %+v: %+v, %v", name, scope, res, err)
			}
		}
	}
}

func TestACutQueryIsAnsweredAndSaysSo(t *testing.T) {
	s := searchtest.New(t)
	var words []string
	for i := range 32 {
		words = append(words, fmt.Sprintf("w%d", i))
	}
	s.Add(s.Session(searchtest.Session{Key: "a.jsonl"}), searchtest.Turn{Text: strings.Join(words, " ")})
	r := s.Reader()
	if res := find(t, r, search.Query{Words: strings.Join(words, " ") + " W0"}); res.Truncated || len(res.Hits) != 1 {
		t.Errorf("32 words and a repetition: %+v", res)
	}
	long := strings.Join(words, " ") + " more"
	if res := find(t, r, search.Query{Words: long}); !res.Truncated || len(res.Hits) != 1 {
		t.Errorf("33 words: %+v", res)
	}
	if res := search.Empty(long); !res.Truncated || res.Query != long || res.Hits == nil {
		t.Errorf("empty answer: %+v", res)
	}
}

// Wherever an excerpt is cut, what stands outside of it says what is a secret.
func TestAnExcerptIsFilteredBeforeItIsCut(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl"})
	const secret = "EXAMPLEexampleEXAMPLE0123"
	for n := range 300 {
		s.Add(h, searchtest.Turn{Text: "needle " + strings.Repeat("x", n) + " the_password=" + secret + strings.Repeat(" tail", 60)})
	}
	r := s.Redacting()
	for page := 0; page < 200; page += search.MaxLimit {
		raw := find(t, r, search.Query{Words: "needle", Limit: search.MaxLimit, Offset: page, Raw: true})
		filtered := find(t, r, search.Query{Words: "needle", Limit: search.MaxLimit, Offset: page})
		if len(filtered.Hits) != search.MaxLimit || len(raw.Hits) != search.MaxLimit {
			t.Fatalf("%d hits, %d raw", len(filtered.Hits), len(raw.Hits))
		}
		for i, hit := range filtered.Hits {
			if hit.TurnID != raw.Hits[i].TurnID {
				t.Errorf("hit %d is %d, and %d raw", i, hit.TurnID, raw.Hits[i].TurnID)
			}
			if strings.Contains(hit.Excerpt, secret[:4]) || !strings.Contains(hit.Excerpt, "needle") {
				t.Errorf("excerpt %q", hit.Excerpt)
			}
			if k := strings.Index(raw.Hits[i].Excerpt, "the_password="); k >= 0 && !strings.Contains(hit.Excerpt, "the_password=[") && !strings.HasSuffix(hit.Excerpt, "...") {
				t.Errorf("excerpt %q", hit.Excerpt)
			}
		}
	}
}

func TestAMatchThatTheFilterTookOutIsShownByItsMarker(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl"})
	filler := strings.Repeat("filler ", 100)
	s.Add(h, searchtest.Turn{Text: filler + "the_password=EXAMPLEneedle here " + filler})
	s.Add(h, searchtest.Turn{Text: "the_password=EXAMPLEneedle " + filler + "and EXAMPLEneedle again " + filler})
	for _, hit := range find(t, s.Redacting(), search.Query{Words: "EXAMPLEneedle"}).Hits {
		want := map[int64]string{0: "the_password=[redacted] here", 1: "and EXAMPLEneedle again"}[hit.TurnID&0xff]
		if !strings.Contains(hit.Excerpt, want) {
			t.Errorf("turn %d: %q", hit.TurnID, hit.Excerpt)
		}
	}
	if list, err := s.Redacting().Sessions(t.Context(), search.SessionQuery{Scope: everything}); err != nil || len(list.Sessions) != 1 {
		t.Errorf("sessions hold no text and are listed: %+v, %v", list, err)
	}
}

func TestWithoutAStoreEveryAnswerIsEmptyAndNothingIsCreated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	r, err := search.Open(t.Context(), &config.Config{DataDir: dir, Exclude: config.NewExclusions("", nil)})
	if err != nil {
		t.Fatal(err)
	}
	if res := find(t, r, search.Query{Words: "x"}); res.Reason == "" || len(res.Hits) != 0 {
		t.Errorf("search: %+v", res)
	}
	if list, err := r.Sessions(t.Context(), search.SessionQuery{}); err != nil || list.Reason == "" {
		t.Errorf("sessions: %+v, %v", list, err)
	}
	st, err := r.Status(t.Context())
	if err != nil || st.Reason == "" || st.Store != nil || st.Excluded != nil || st.LastRun != nil {
		t.Errorf("status: %+v, %v", st, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s: %v", dir, err)
	}
}

func TestAStoreThatCannotBeUsedIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "terminus.db"), []byte("this is no database, not at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := search.Open(t.Context(), &config.Config{DataDir: dir}); err == nil {
		t.Error("opened")
	}
	s := searchtest.New(t)
	s.Add(s.Session(searchtest.Session{Key: "a.jsonl"}), searchtest.Turn{Text: "needle"})
	s.Exec(`DROP TABLE turns_fts`)
	if res, err := s.Reader().Find(t.Context(), search.Query{Words: "needle", Scope: everything}); err == nil || res.Query != "needle" {
		t.Errorf("got %+v, %v", res, err)
	}
}

// A world is a random store together with what the slow reference needs of it.
type world struct {
	store    *searchtest.Store
	sessions map[int64]searchtest.Session // by slot
	turns    map[int64]searchtest.Turn    // by turn id
	number   map[int64]int64              // slot to session number
}

func newWorld(t *testing.T, rnd *rand.Rand) *world {
	w := &world{searchtest.New(t), map[int64]searchtest.Session{}, map[int64]searchtest.Turn{}, map[int64]int64{}}
	vocabulary := []string{"alpha", "beta", "gamma", "delta", "ok"}
	projects := []string{"", "/p/one", "/p/two", "/q"}
	w.store.Exec(`BEGIN`)
	for i := range 12 {
		o := searchtest.Session{Key: fmt.Sprintf("%02d.jsonl", i), Project: projects[rnd.IntN(len(projects))]}
		if o.Project != "" && rnd.IntN(3) == 0 {
			o.PreWorktree = "/w/tree"
		}
		if rnd.IntN(3) == 0 {
			o.Parent = "00.jsonl"
		}
		h := w.store.Session(o)
		w.sessions[h.Slot], w.number[h.Slot] = o, h.No
		for range rnd.IntN(80) {
			turn := searchtest.Turn{Type: []string{"user", "assistant"}[rnd.IntN(2)]}
			for range 1 + rnd.IntN(4) {
				turn.Text += vocabulary[min(rnd.IntN(7), 4)] + " "
			}
			if rnd.IntN(4) > 0 {
				turn.TS = fmt.Sprintf("2026-01-%02dT00:00:00.000Z", 1+rnd.IntN(5))
			}
			w.turns[w.store.Add(h, turn)] = turn
		}
	}
	w.store.Exec(`COMMIT`)
	return w
}

// reference ranks every matching row of the index in Go.
func (w *world) reference(t *testing.T, match, project, excluded string, q search.Query) []int64 {
	type row struct {
		id    int64
		score float64
		sub   bool
		ts    string
	}
	db, err := sql.Open("sqlite", w.store.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT rowid, bm25(turns_fts) FROM turns_fts WHERE turns_fts MATCH ?`, match)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []row
	for rows.Next() {
		var id int64
		var score float64
		if err := rows.Scan(&id, &score); err != nil {
			t.Fatal(err)
		}
		o := w.sessions[id>>24]
		id = w.number[id>>24]<<24 | id&0xffffff
		turn := w.turns[id]
		switch {
		case project != "" && o.Project != project,
			excluded != "" && (o.Project == excluded || o.PreWorktree == excluded),
			q.Kind != "" && turn.Type != q.Kind,
			q.Since != "" && turn.TS < q.Since:
			continue
		}
		all = append(all, row{id, score, o.Parent != "", turn.TS})
	}
	flag := map[bool]int{true: 1}
	slices.SortFunc(all, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.score, b.score), flag[a.sub]-flag[b.sub], strings.Compare(b.ts, a.ts), cmp.Compare(a.id, b.id))
	})
	out := []int64{}
	for _, r := range all[:min(len(all), q.Limit)] {
		out = append(out, r.id)
	}
	return out
}

func TestTheAnswerEqualsThatOfRankingEveryRow(t *testing.T) {
	queries := map[string]string{"alpha": `"alpha"`, "ok": `"ok"`, "ok alpha": `"ok" AND "alpha"`, "beta gamma delta": `"beta" AND "gamma" AND "delta"`}
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, rnd)
		exclusions, readers := []string{"", "/w/tree", "/p/two"}, map[string]*search.Reader{}
		for _, excluded := range exclusions {
			readers[excluded] = w.store.Reader(excluded)
		}
		for words, match := range queries {
			for _, project := range []string{"", "/p/one", "/q"} {
				for _, excluded := range exclusions {
					q := search.Query{Words: words, Limit: 1 + rnd.IntN(search.MaxLimit), Scope: search.Scope{Project: cmp.Or(project, "*")}}
					if rnd.IntN(3) == 0 {
						q.Kind = "user"
					}
					if rnd.IntN(3) == 0 {
						q.Since = "2026-01-03T00:00:00.000Z"
					}
					got := ids(find(t, readers[excluded], q).Hits)
					if want := w.reference(t, match, project, excluded, q); !slices.Equal(got, want) {
						t.Fatalf("seed %d, %+v without %q:\ngot  %v\nwant %v", seed, q, excluded, got, want)
					}
				}
			}
		}
	}
}

func FuzzAQueryNeverFails(f *testing.F) {
	for _, seed := range []string{"a", `"`, "a AND", "NOT", "中文", "é", "\x00", "a*", "^a", "{a}:b", "ⓐ", "\u0301", "\xff"} {
		f.Add(seed)
	}
	s := searchtest.New(f)
	s.Add(s.Session(searchtest.Session{Key: "a.jsonl"}), searchtest.Turn{Text: "needle 中文 é"})
	r := s.Reader()
	f.Fuzz(func(t *testing.T, words string) {
		if _, err := r.Find(t.Context(), search.Query{Words: words, Scope: everything}); err != nil {
			t.Fatalf("%q: %v", words, err)
		}
	})
}
