package search_test

import (
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
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/search/searchtest"
	"github.com/terminus-archive/terminus/internal/store"
)

// A library is a made-up archive of which the test knows everything.
type library struct {
	t     *testing.T
	rnd   *rand.Rand
	store *searchtest.Store
	db    *sql.DB
	shelf []*shelved
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

// Words are common to rare; the runs of Chinese are searched as phrases.
var (
	vocabulary = strings.Fields("the ok of error index retry config budget queue slot token lamp zebra quartz")
	runs       = []string{"项目评审", "项目", "评审", "目评项目", "审"}
)

func newLibrary(t *testing.T, seed uint64, sessions int) *library {
	l := &library{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), store: searchtest.New(t)}
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
	for range 1 + l.rnd.IntN(6)*l.rnd.IntN(6) {
		if l.rnd.IntN(8) == 0 {
			p.tokens = append(p.tokens, pairs(runs[l.rnd.IntN(len(runs))], true)...)
			continue
		}
		at := int(math.Pow(l.rnd.Float64(), 2.5) * float64(len(vocabulary)))
		p.tokens = append(p.tokens, vocabulary[at])
	}
	p.Body = []byte(strings.Join(p.tokens, " "))
	return p
}

// pairs are the tokens of a run; with all the last character is one as well.
func pairs(run string, all bool) []string {
	chars := strings.Split(run, "")
	var out []string
	for i := range len(chars) - 1 {
		out = append(out, chars[i]+chars[i+1])
	}
	if all {
		out = append(out, chars[len(chars)-1])
	}
	return out
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

// drop takes turns out of the archive, and leaves the lengths as they are.
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

// A question is a query as the reference understands it.
type question struct {
	search.Query
	phrases  [][]string
	prefix   []bool
	project  string
	excluded []string
}

func (l *library) question() question {
	var q question
	var words []string
	for range 1 + l.rnd.IntN(3) {
		if l.rnd.IntN(5) == 0 {
			run := runs[l.rnd.IntN(len(runs))]
			words = append(words, run)
			q.prefix = append(q.prefix, utf8.RuneCountInString(run) == 1)
			q.phrases = append(q.phrases, pairs(run, q.prefix[len(q.prefix)-1]))
			continue
		}
		w := vocabulary[l.rnd.IntN(len(vocabulary))]
		if slices.Contains(words, w) {
			continue
		}
		words, q.prefix, q.phrases = append(words, w), append(q.prefix, false), append(q.phrases, []string{w})
	}
	slices.Sort(words) // only to find repetitions of runs
	if len(slices.Compact(slices.Clone(words))) != len(words) {
		return l.question()
	}
	for i, p := range q.phrases {
		word := p[0]
		for _, next := range p[1:] {
			_, size := utf8.DecodeRuneInString(next)
			word += next[size:]
		}
		words[i] = word
	}
	q.Words = strings.Join(words, " ")
	q.project = []string{"", "", "/p/wide", "/p/one", "/p/two"}[l.rnd.IntN(5)]
	q.Scope.Project = cmp.Or(q.project, search.AllProjects)
	q.excluded = [][]string{nil, nil, {"/w/tree"}, {"/hid"}}[l.rnd.IntN(4)]
	if l.rnd.IntN(3) == 0 {
		q.Kind = "assistant"
	}
	if l.rnd.IntN(4) == 0 {
		q.Since = "2026-01-03T00:00:00.000Z"
	}
	return q
}

// frequency is how often a phrase stands among tokens.
func frequency(tokens, phrase []string, prefix bool) (n int) {
	for i := range len(tokens) - len(phrase) + 1 {
		if slices.Equal(tokens[i:i+len(phrase)], phrase) || prefix && strings.HasPrefix(tokens[i], phrase[0]) {
			n++
		}
	}
	return n
}

// totals are FTS5's own numbers of rows and tokens: that of tokens goes on
// counting what was deleted.
func (l *library) totals() (rows, tokens float64) {
	var record []byte
	if err := l.db.QueryRow(`SELECT block FROM turns_fts_data WHERE id = 1`).Scan(&record); err != nil {
		l.t.Fatal(err)
	}
	var out []float64
	n := 0
	for _, b := range record {
		if n = n<<7 | int(b&0x7f); b < 0x80 {
			out, n = append(out, float64(n)), 0
		}
	}
	return out[0], out[1]
}

// reference ranks by going through everything.
func (l *library) reference(q question) []search.Ranked {
	type row struct {
		search.Ranked
		sub bool
		ts  string
	}
	total, tokens := l.totals()
	average := tokens / total
	var idf []float64
	for i, phrase := range q.phrases {
		n := 0.0
		for _, s := range l.shelf {
			for _, p := range s.rows {
				n += float64(min(frequency(p.tokens, phrase, q.prefix[i]), 1))
			}
		}
		x := store.Log((total - n + 0.5) / (n + 0.5))
		if x <= 0 {
			x = 1e-6
		}
		idf = append(idf, x)
	}
	k1, b, one := 1.2, 0.75, 1.0
	var all []row
	for _, s := range l.shelf {
		if q.project != "" && s.Project != q.project || slices.Contains(q.excluded, s.Project) || slices.Contains(q.excluded, s.PreWorktree) {
			continue
		}
		for seq, p := range s.rows {
			score, hit := 0.0, q.Kind == "" || p.Type == q.Kind
			hit = hit && (q.Since == "" || p.TS >= q.Since)
			for i, phrase := range q.phrases {
				f := float64(frequency(p.tokens, phrase, q.prefix[i]))
				hit = hit && f > 0
				score += float64(idf[i] * (float64(f*(k1+one)) / (f + float64(k1*(one-b+float64(b*float64(len(p.tokens)))/average)))))
			}
			if hit {
				all = append(all, row{search.Ranked{ID: s.No<<24 | int64(seq), Relevance: score}, s.Parent != "", p.TS})
			}
		}
	}
	flag := map[bool]int{true: 1}
	slices.SortFunc(all, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.Relevance, a.Relevance), flag[a.sub]-flag[b.sub], strings.Compare(b.ts, a.ts), cmp.Compare(a.ID, b.ID))
	})
	out := []search.Ranked{}
	for _, r := range all[:min(len(all), search.Candidates)] {
		out = append(out, r.Ranked)
	}
	return out
}

// ask compares n random questions with the reference, on both ways.
func (l *library) ask(state string, n int) (found int) {
	readers := map[string]*search.Reader{}
	for range n {
		q := l.question()
		name := strings.Join(q.excluded, " ")
		if readers[name] == nil {
			readers[name] = l.store.Reader(q.excluded...)
		}
		want := l.reference(q)
		found += len(want)
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
	return found
}

// TERMINUS_RANK_QUERIES asks more questions of more archives.
func TestBothWaysRankLikeGoingThroughEverything(t *testing.T) {
	const each, states, archives = 60, 6, 3 // a good thousand
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
			{"without some lengths", func() {
				l.store.Exec(`DELETE FROM lengths WHERE slot % 3 = 0`)
				l.store.Exec(`UPDATE lengths SET counts = substr(counts, 1, 6) WHERE slot % 3 = 1`)
			}},
			{"optimised", func() { l.store.Exec(`INSERT INTO turns_fts(turns_fts) VALUES ('optimize')`) }},
			{"written on", func() { l.write(100) }},
		} {
			c.change()
			if found := l.ask(fmt.Sprintf("archive %d, %s", seed, c.state), each); found < each {
				t.Errorf("archive %d, %s: only %d turns found: the questions ask nothing", seed, c.state, found)
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
