package search_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/search/searchtest"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// A library is a made-up archive of which the test knows everything.
type library struct {
	t     *testing.T
	rnd   *rand.Rand
	store *searchtest.Store
	db    *sql.DB
	proj  derive.Projector
	shelf []*shelved
	// answered counts the questions that found something, by what they asked for.
	answered map[string]int
}

// A shelved session is one of a library.
type shelved struct {
	searchtest.Session
	*searchtest.Handle
	rows []page
}

// A page is what the reference knows of a turn; tokens is nil for one without a
// search row.
type page struct {
	index.Row
	tokens []string
}

// What texts and queries are made of: words from common to rare, identifiers,
// paths, letters with marks, and runs of Chinese, which are searched as phrases.
var (
	vocabulary = strings.Fields("the ok of Error index retry config budget queue slot token lamp zebra quartz")
	oddities   = []string{
		"retryBudget", "SearchManager", "HTTPServer", "searchIndex RetryIndex", "snake_case", "src/worker/S.ts", "resume", "Résumé",
		"re\u0301sume\u0301", "triển", "trie\u0302\u0309n", "v2.1", "S3Client", "--no-verify", "ÄRGER",
	}
	runs  = []string{"项目评审", "项目", "评审", "目评项目", "审", "the项目ok"}
	files = []string{"src/worker/S.ts", "src/retry.go", "/p/one/Index.go", "docs/Queue", "lamp"}
	tools = []string{"Read", "Bash", "index", "retry", "lamp"}
)

func newLibrary(t *testing.T, seed uint64, sessions int) *library {
	l := &library{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), store: searchtest.New(t), answered: map[string]int{}}
	db, err := sql.Open("sqlite", "file:"+l.store.Path()+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	l.db = db
	projects := []string{"", "/p/wide", "/p/wide", "/p/one", "/p/two", "/hid"}
	for i := range sessions {
		o := searchtest.Session{Key: fmt.Sprintf("%03d.jsonl", i), Project: projects[l.rnd.IntN(len(projects))]}
		if o.Project != "" && l.rnd.IntN(4) == 0 {
			o.PreWorktree = "/w/tree"
		}
		if l.rnd.IntN(3) == 0 {
			o.Parent = "000.jsonl"
		}
		l.shelf = append(l.shelf, &shelved{Session: o, Handle: l.store.Session(o)})
		if o.Project == "/p/wide" || l.rnd.IntN(4) == 0 {
			// The next session of this project begins another block of slots.
			l.store.Exec(`UPDATE slot_blocks SET used = 1024`)
		}
	}
	return l
}

// row makes a turn up.
func (l *library) row(native string) page {
	p := page{Row: index.Row{NativeID: native, Type: []string{"user", "assistant"}[l.rnd.IntN(2)]}}
	if l.rnd.IntN(4) > 0 {
		p.TS = fmt.Sprintf("2026-01-%02dT00:00:00.000Z", 1+l.rnd.IntN(5))
	}
	if l.rnd.IntN(20) == 0 {
		return p // nothing to find
	}
	var words []string
	if l.rnd.IntN(3) == 0 {
		p.ToolName = tools[l.rnd.IntN(len(tools))]
		p.Entities = []derive.Entity{{Kind: derive.KindTool, Value: p.ToolName}}
		for _, i := range l.rnd.Perm(len(files))[:l.rnd.IntN(3)] {
			p.Entities = append(p.Entities, derive.Entity{Kind: derive.KindPath, Value: files[i]})
		}
		if l.rnd.IntN(4) == 0 {
			p.Entities = append(p.Entities, derive.Entity{Kind: derive.KindSymbol, Value: "retryBudget"})
		}
		for _, e := range p.Entities {
			if l.rnd.IntN(2) == 0 { // what is named is said, as a rule
				words = append(words, e.Value)
			}
		}
	}
	for range 1 + l.rnd.IntN(6)*l.rnd.IntN(6) {
		words = append(words, l.word())
	}
	text := strings.Join(words, []string{" ", ", ", "\n"}[l.rnd.IntN(3)])
	p.Body = bytes.Clone(l.proj.Body([]transcript.Piece{{Text: []byte(text)}}))
	p.tokens = tokensOf(text)
	return p
}

func (l *library) word() string {
	switch l.rnd.IntN(8) {
	case 0:
		return runs[l.rnd.IntN(len(runs))]
	case 1:
		return oddities[l.rnd.IntN(len(oddities))]
	case 2:
		return append(files, tools...)[l.rnd.IntN(len(files)+len(tools))]
	}
	return vocabulary[int(math.Pow(l.rnd.Float64(), 2.5)*float64(len(vocabulary)))]
}

// write adds n turns to sessions at random, some of which take over others.
func (l *library) write(n int) {
	for n > 0 {
		s := l.shelf[l.rnd.IntN(len(l.shelf))]
		target := index.Target{No: s.No, Slot: s.Slot, Next: int64(len(s.rows))}
		var rows []index.Row
		for range min(n, 1+l.rnd.IntN(30)) {
			n--
			if len(s.rows) > 0 && l.rnd.IntN(6) == 0 {
				old := &s.rows[l.rnd.IntN(len(s.rows))]
				*old = l.row(old.NativeID)
				rows = append(rows, old.Row)
				continue
			}
			p := l.row(strconv.Itoa(len(s.rows)))
			s.rows = append(s.rows, p)
			rows = append(rows, p.Row)
		}
		tx, err := l.db.Begin()
		if err == nil {
			_, _, err = index.Write(l.t.Context(), tx, target, rows)
		}
		if err == nil {
			err = tx.Commit()
		}
		if err != nil {
			l.t.Fatal(err)
		}
	}
}

// drop takes turns out of the search table, and leaves all else as it is.
func (l *library) drop(n int) {
	for range n {
		s := l.shelf[l.rnd.IntN(len(l.shelf))]
		if len(s.rows) == 0 {
			continue
		}
		seq := l.rnd.IntN(len(s.rows))
		s.rows[seq].tokens = nil
		l.store.Exec(`DELETE FROM turns_fts WHERE rowid = ?`, s.Slot<<24|int64(seq))
	}
}

// remove takes whole sessions out of all derived tables.
func (l *library) remove(n int) {
	for n > 0 {
		s := l.shelf[l.rnd.IntN(len(l.shelf))]
		if len(s.rows) == 0 {
			continue
		}
		n--
		for seq := range s.rows {
			l.store.Exec(`DELETE FROM turns_fts WHERE rowid = ?`, s.Slot<<24|int64(seq))
		}
		for _, rows := range []string{"turns WHERE id", "entities WHERE turn"} {
			l.store.Exec(`DELETE FROM `+rows+` BETWEEN ? AND ?`, s.No<<24, s.No<<24|0xffffff)
		}
		l.store.Exec(`DELETE FROM lengths WHERE slot = ?`, s.Slot)
		s.rows = nil
	}
}

// A question is a query as the reference understands it.
type question struct {
	search.Query
	terms    []term
	project  string
	excluded []string
	named    []*shelved // that Session means; nil where it asks for none
}

func (l *library) question() question {
	var q question
	var words []string
	for range 1 + l.rnd.IntN(3) {
		words = append(words, l.word())
	}
	q.Words = strings.Join(words, " ")
	q.terms = termsOf(q.Words)
	q.project = []string{"", "", "/p/wide", "/p/one", "/p/two"}[l.rnd.IntN(5)]
	q.Scope.Project = cmp.Or(q.project, search.AllProjects)
	q.excluded = [][]string{nil, nil, {"/w/tree"}, {"/hid"}}[l.rnd.IntN(4)]
	if l.rnd.IntN(3) == 0 {
		q.Kind = []string{"assistant", "user", "system"}[min(l.rnd.IntN(9), 2)]
	}
	if l.rnd.IntN(4) == 0 {
		q.Tool = tools[l.rnd.IntN(len(tools))]
	}
	if l.rnd.IntN(4) == 0 {
		q.Since = "2026-01-03T00:00:00.000Z"
	}
	if l.rnd.IntN(4) == 0 {
		q.Until = "2026-01-04T00:00:00.000Z"
	}
	if l.rnd.IntN(4) == 0 {
		for _, i := range l.rnd.Perm(len(files))[:1+l.rnd.IntN(3)] {
			q.Paths = append(q.Paths, files[i])
		}
	}
	return q
}

// shows reports whether a session lies in the question's scope.
func (q question) shows(s *shelved) bool {
	return (q.project == "" || s.Project == q.project) &&
		!slices.Contains(q.excluded, s.Project) && !slices.Contains(q.excluded, s.PreWorktree)
}

// passes reports whether a turn lies in the question's scope and meets its filters.
func (q question) passes(s *shelved, p page) bool {
	switch {
	case !q.shows(s), q.Session != "" && !slices.Contains(q.named, s),
		q.Kind != "" && p.Type != q.Kind,
		q.Tool != "" && p.ToolName != q.Tool,
		q.Since != "" && p.TS < q.Since,
		q.Until != "" && (p.TS == "" || p.TS > q.Until):
		return false
	}
	return len(q.Paths) == 0 || slices.ContainsFunc(p.Entities, func(e derive.Entity) bool {
		return e.Kind == derive.KindPath && slices.Contains(q.Paths, e.Value)
	})
}

// frequency is how often a term stands among tokens.
func (t term) frequency(tokens []string) (n int) {
	for i := range len(tokens) - len(t.phrase) + 1 {
		if slices.Equal(tokens[i:i+len(t.phrase)], t.phrase) || t.prefix && strings.HasPrefix(tokens[i], t.phrase[0]) {
			n++
		}
	}
	return n
}

// totals are the numbers of search rows and of their tokens.
func (l *library) totals() (rows, tokens float64) {
	for _, s := range l.shelf {
		for _, p := range s.rows {
			if p.tokens != nil {
				rows, tokens = rows+1, tokens+float64(len(p.tokens))
			}
		}
	}
	return rows, tokens
}

// A found turn is one of the reference's answer.
type found struct {
	search.Ranked
	*shelved
	page
	entityScore float64
	matched     []search.Match
}

// inOrder sorts turns as hits stand.
func inOrder(all []found) {
	flag := map[bool]int{true: 1}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.Relevance, a.Relevance), flag[a.Parent != ""]-flag[b.Parent != ""],
			strings.Compare(b.TS, a.TS), cmp.Compare(a.ID, b.ID))
	})
}

// reference ranks by going through everything.
func (l *library) reference(q question) []found {
	total, tokens := l.totals()
	average := tokens / total
	var idf []float64
	for _, term := range q.terms {
		n := 0.0
		for _, s := range l.shelf {
			for _, p := range s.rows {
				n += float64(min(term.frequency(p.tokens), 1))
			}
		}
		x := store.Log((total - n + 0.5) / (n + 0.5))
		if x <= 0 {
			x = 1e-6
		}
		idf = append(idf, x)
	}
	k1, b, one := 1.2, 0.75, 1.0
	var all []found
	for _, s := range l.shelf {
		for seq, p := range s.rows {
			score, hit := 0.0, q.passes(s, p)
			for i, term := range q.terms {
				f := float64(term.frequency(p.tokens))
				hit = hit && f > 0
				score += float64(idf[i] * (float64(f*(k1+one)) / (f + float64(k1*(one-b+float64(b*float64(len(p.tokens)))/average)))))
			}
			if hit {
				all = append(all, found{Ranked: search.Ranked{ID: s.No<<24 | int64(seq), Relevance: score}, shelved: s, page: p})
			}
		}
	}
	inOrder(all)
	return all[:min(len(all), search.Candidates)]
}

// ask compares the ranking of n random questions with the reference, on both
// ways.
func (l *library) ask(state string, n int) (hits int) {
	readers := map[string]*search.Reader{}
	for range n {
		q := l.question()
		name := strings.Join(q.excluded, " ")
		if readers[name] == nil {
			readers[name] = l.store.Reader(q.excluded...)
		}
		want := []search.Ranked{}
		for _, f := range l.reference(q) {
			want = append(want, f.Ranked)
		}
		hits += len(want)
		l.note(q, len(want))
		for _, plain := range []bool{false, true} {
			got, err := readers[name].Rank(l.t.Context(), q.Query, plain)
			if err != nil {
				l.t.Fatalf("%s: %q, plain %v: %v", state, q.Words, plain, err)
			}
			if !slices.Equal(got, want) {
				l.t.Fatalf("%s: %+v without %q, plain %v:\ngot  %v\nwant %v", state, q.Query, q.excluded, plain, got, want)
			}
		}
	}
	return hits
}

// note remembers what a question that found hits asked for.
func (l *library) note(q question, hits int) {
	for what, asked := range map[string]bool{
		"project": q.project != "", "exclusion": q.excluded != nil, "kind": q.Kind != "", "tool": q.Tool != "", "path": q.Paths != nil,
		"since": q.Since != "", "until": q.Until != "", "session": q.Session != "", "page": q.Offset > 0,
		"words": len(q.terms) > 1, "phrase": slices.ContainsFunc(q.terms, func(t term) bool { return len(t.phrase) > 1 }),
		"prefix": slices.ContainsFunc(q.terms, func(t term) bool { return t.prefix }),
	} {
		if asked && hits > 0 {
			l.answered[what]++
		}
	}
}

// TERMINUS_RANK_QUERIES asks more questions of more archives.
func TestBothWaysRankLikeGoingThroughEverything(t *testing.T) {
	const each, states, archives = 45, 8, 3 // a good thousand
	n := archives
	if v, err := strconv.Atoi(os.Getenv("TERMINUS_RANK_QUERIES")); err == nil {
		n = max(n, v/(each*states))
	}
	for seed := range uint64(n) {
		l := newLibrary(t, seed, 40)
		// The first archive keeps every transaction's segment, the others few.
		l.store.Exec(`INSERT INTO turns_fts(turns_fts, rank) VALUES ('crisismerge', ?)`, map[bool]int{true: 2000, false: 4}[seed == 0])
		for _, c := range []struct {
			state  string
			change func()
		}{
			{"unmerged", func() { l.write(800) }},
			{"taken over", func() { l.write(150) }},
			{"deleted", func() { l.drop(80) }},
			{"without some sessions", func() { l.remove(4) }},
			{"merged in part", func() { l.store.Exec(`INSERT INTO turns_fts(turns_fts, rank) VALUES ('merge', -8)`) }},
			{"without some lengths", func() {
				l.store.Exec(`DELETE FROM lengths WHERE slot % 3 = 0`)
				l.store.Exec(`UPDATE lengths SET counts = substr(counts, 1, 6) WHERE slot % 3 = 1`)
			}},
			{"optimised", func() { l.store.Exec(`INSERT INTO turns_fts(turns_fts) VALUES ('optimize')`) }},
			{"written on", func() { l.write(100) }},
		} {
			c.change()
			state := fmt.Sprintf("archive %d, %s", seed, c.state)
			if hits := l.ask(state, each); hits < each {
				t.Errorf("%s: only %d turns found: the questions ask nothing", state, hits)
			}
		}
		for _, what := range []string{"project", "exclusion", "kind", "tool", "path", "since", "until", "words", "phrase", "prefix"} {
			if l.answered[what] < 3 {
				t.Errorf("archive %d: only %d questions with %s found something", seed, l.answered[what], what)
			}
		}
	}
}

// A table whose lengths are wrong is noticed at the first query that FTS5
// itself can answer quickly; the answer is then FTS5's.
func TestAnIndexThatCannotBeReadDirectlyIsAskedPlainly(t *testing.T) {
	l := newLibrary(t, 9, 10)
	l.write(200)
	l.store.Exec(`UPDATE lengths SET counts = zeroblob(0) WHERE 0; UPDATE lengths SET counts = replace(hex(counts), '0', '1')`)
	r := l.store.Reader()
	res := find(t, r, search.Query{Words: "the ok"})
	if len(res.Hits) == 0 || !r.Plain() {
		t.Fatalf("%d hits, plain: %v", len(res.Hits), r.Plain())
	}
	want, err := r.Rank(t.Context(), search.Query{Words: "the ok", Scope: everything}, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range res.Hits {
		if h.TurnID != want[i].ID {
			t.Errorf("hit %d: %d, want %d", i, h.TurnID, want[i].ID)
		}
	}
}

func TestACancelledSearchEnds(t *testing.T) {
	l := newLibrary(t, 9, 3)
	l.write(50)
	r := l.store.Reader()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Rank(ctx, search.Query{Words: "the", Scope: everything}, false); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
