package search_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/search"
)

// named reports whether a query names a value: it holds all the value's words;
// and whether it is the value, word for word.
func named(query []term, value string) (named, exact bool) {
	var asked, words []string
	for _, t := range query {
		if w := folded(t.word); !slices.Contains(asked, w) {
			asked = append(asked, w)
		}
	}
	for _, w := range wordsOf(value) {
		words = append(words, folded(w))
	}
	for _, w := range words {
		if !slices.Contains(asked, w) {
			return false, false
		}
	}
	return len(words) > 0, slices.Equal(words, asked)
}

// weigh adds what the turns name, and orders them anew.
func (l *library) weigh(all []found, query []term) {
	turns, carry := 0.0, map[derive.Entity]float64{}
	for _, s := range l.shelf {
		turns += float64(len(s.rows))
		for _, p := range s.rows {
			for _, e := range p.Entities {
				carry[e]++
			}
		}
	}
	for i := range all {
		entities := slices.Clone(all[i].Entities)
		slices.SortFunc(entities, func(a, b derive.Entity) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
		})
		all[i].matched = []search.Match{}
		for _, e := range entities {
			named, exact := named(query, e.Value)
			if !named {
				continue
			}
			factor := 1.0
			if exact {
				factor = 2
			}
			all[i].entityScore += float64(math.Log(1+turns/carry[e]) * factor)
			all[i].matched = append(all[i].matched, search.Match{Kind: e.Kind, Value: e.Value})
		}
		all[i].Relevance += all[i].entityScore
	}
	inOrder(all)
}

// answer is the whole answer of the reference: the hits of a page, without
// excerpts.
func (l *library) answer(q question) []search.Hit {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	all := l.reference(q)
	l.weigh(all, q.terms)
	all = all[min(q.Offset, len(all)):]
	limit := min(cmp.Or(q.Limit, 10), 50)
	out := []search.Hit{}
	for _, f := range all[:min(limit, len(all))] {
		out = append(out, search.Hit{
			TurnID: f.Ranked.ID, SessionKey: f.Session.Key, Project: text(f.Project), RecordType: f.Type, TS: text(f.TS),
			Sidechain: f.Parent != "", Relevance: f.Relevance, EntityScore: f.entityScore, MatchedOn: f.matched,
		})
	}
	return out
}

// counts are the turns that hold each of the first eight words of a question
// alone.
func (l *library) counts(q question) (out []search.WordCount) {
	for _, t := range q.terms[:min(len(q.terms), 8)] {
		c := search.WordCount{Word: t.word}
		for _, s := range l.shelf {
			for _, p := range s.rows {
				if q.passes(s, p) && t.frequency(p.tokens) > 0 {
					c.Turns++
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// page makes up which part of an answer a question asks for.
func (l *library) page(q *question) {
	if l.rnd.IntN(2) == 0 { // all filters at once leave little to page through
		q.Kind, q.Since, q.Until, q.Paths = "", "", "", nil
	}
	q.Limit = []int{0, 1, 7, 50, 60, 5000}[l.rnd.IntN(6)]
	if l.rnd.IntN(3) == 0 {
		q.Offset = []int{1, 10, 50, 150, 199, 200, 1 << 40}[l.rnd.IntN(7)]
	}
	if l.rnd.IntN(4) == 0 {
		q.Session = l.shelf[l.rnd.IntN(len(l.shelf))].Session.Key[:1+l.rnd.IntN(3)]
		q.named = l.beginning(*q, q.Session)
	}
}

// beginning are the sessions in scope whose keys begin with name: those of
// subagents only where there are no others.
func (l *library) beginning(q question, name string) []*shelved {
	var top, sub []*shelved
	for _, s := range l.shelf {
		switch {
		case !q.shows(s) || !strings.HasPrefix(s.Session.Key, name):
		case s.Parent == "":
			top = append(top, s)
		default:
			sub = append(sub, s)
		}
	}
	if top == nil {
		return sub
	}
	return top
}

func describe(hits []search.Hit) string {
	var b strings.Builder
	for _, h := range hits {
		fmt.Fprintf(&b, "\n%d %v %v %v %v", h.TurnID, h.Relevance, h.EntityScore, h.MatchedOn, h.Sidechain)
	}
	return b.String()
}

// Whole answers, on both ways: pages, sessions, what turns name, and each
// word's own count.
func TestAnswersEqualThoseOfGoingThroughEverything(t *testing.T) {
	for seed := range uint64(2) {
		l := newLibrary(t, seed+100, 40)
		for _, change := range []func(){
			func() { l.write(600) },
			func() { l.write(100); l.remove(3) },
			func() { l.store.Exec(`INSERT INTO turns_fts(turns_fts) VALUES ('optimize')`); l.write(50) },
		} {
			change()
			readers := map[string]*search.Reader{}
			named := 0
			for range 50 {
				q := l.question()
				l.page(&q)
				want := l.answer(q)
				l.note(q, len(want))
				for _, plain := range []bool{false, true} {
					name := fmt.Sprint(q.excluded, plain)
					if readers[name] == nil {
						readers[name] = l.store.Reader(q.excluded...)
						readers[name].SetPlain(plain)
					}
					got := find(t, readers[name], q.Query)
					if len(got.Hits) != len(want) || describe(got.Hits) != describe(want) || len(got.Counts) > 0 {
						t.Fatalf("archive %d: %+v without %q, plain %v:\ngot  %v\nwant %v", seed, q.Query, q.excluded, plain, describe(got.Hits), describe(want))
					}
					for i, h := range got.Hits {
						if w := want[i]; h.SessionKey != w.SessionKey || h.RecordType != w.RecordType ||
							!same(h.Project, w.Project) || !same(h.TS, w.TS) || h.Excerpt != "" {
							t.Fatalf("archive %d: got %+v, want %+v", seed, h, w)
						}
						named += len(h.MatchedOn)
					}
					if len(want) > 0 || q.Offset > 0 || got.Reason != "" {
						continue
					}
					people := q.Query
					people.ForPeople = true
					if got, want := find(t, readers[name], people).Counts, l.counts(q); !slices.Equal(got, want) {
						t.Fatalf("archive %d: %+v: counts %v, want %v", seed, q.Query, got, want)
					}
				}
			}
			if named < 5 {
				t.Errorf("archive %d: hits name %d things: the questions ask for none", seed, named)
			}
		}
		for _, what := range []string{"session", "page", "path", "tool"} {
			if l.answered[what] < 3 {
				t.Errorf("archive %d: only %d questions with a %s found something", seed, l.answered[what], what)
			}
		}
	}
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
