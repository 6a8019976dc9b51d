package recall_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/search/searchtest"
)

func read(t *testing.T, r *search.Reader, q recall.ReadRequest) *recall.Reading {
	t.Helper()
	x, err := recall.Read(t.Context(), r, q)
	if err != nil {
		t.Fatalf("read %+v: %v", q, err)
	}
	return x
}

func seqs(t *testing.T, x *recall.Reading) []int64 {
	t.Helper()
	var out []int64
	for turn, err := range x.Turns(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, turn.TurnSeq)
	}
	return out
}

func count(from, to int64) []int64 {
	var out []int64
	for i := from; i <= to; i++ {
		out = append(out, i)
	}
	return out
}

func TestASessionIsReadWholeAndInOrder(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p", Branch: "main"})
	s.Add(s.Session(searchtest.Session{Key: "b.jsonl"}), searchtest.Turn{Text: "other"})
	var want []recall.Turn
	for i := range 200 { // several batches
		o := searchtest.Turn{Text: fmt.Sprint("turn ", i), TS: fmt.Sprint(i)}
		if i%10 == 3 {
			o.Type, o.Tool, o.Rewound = "assistant", "Bash", true
		}
		w := recall.Turn{TurnSeq: int64(i), RecordType: "user", TS: p(fmt.Sprint(i)), Typed: true, Text: o.Text}
		if o.Rewound {
			w.RecordType, w.ToolName, w.Typed, w.Rewound = "assistant", p("Bash"), false, true
		}
		w.TurnID = s.Add(h, o)
		want = append(want, w)
		if i%50 == 0 {
			s.Stream(h, strings.Repeat("a line that is no turn\n", 1000*i))
		}
	}
	x := read(t, s.Reader(), recall.ReadRequest{Name: "a.jsonl"})
	if x.SessionKey != "a.jsonl" || *x.Project != "/p" || *x.Branch != "main" || x.Sidechain || x.Evicted || x.Reason != "" {
		t.Errorf("session %+v", x)
	}
	for range 2 { // it may be read again
		var got []recall.Turn
		for turn, err := range x.Turns(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, turn)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	}
	for range x.Turns(t.Context()) { // a reader who leaves
		break
	}
}

func TestReadingAPartOfASession(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl"})
	other := s.Add(s.Session(searchtest.Session{Key: "b.jsonl"}), searchtest.Turn{Text: "other"})
	for range 10 {
		s.Add(h, searchtest.Turn{Text: "x"})
	}
	r := s.Reader()
	id := func(seq int64) *int64 { return p(h.No<<24 | seq) }
	for name, c := range map[string]struct {
		q    recall.ReadRequest
		want []int64
	}{
		"from":                  {recall.ReadRequest{From: id(7)}, count(7, 9)},
		"a range":               {recall.ReadRequest{First: p(int64(2)), Last: p(int64(4))}, count(2, 4)},
		"a range past the end":  {recall.ReadRequest{First: p(int64(8)), Last: p(int64(1 << 40))}, count(8, 9)},
		"both":                  {recall.ReadRequest{First: p(int64(2)), Last: p(int64(4)), From: id(3)}, count(3, 4)},
		"a range past any turn": {recall.ReadRequest{First: p(int64(20))}, nil},
		"a range upside down":   {recall.ReadRequest{First: p(int64(4)), Last: p(int64(2))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.Name = "a.jsonl"
			if got := seqs(t, read(t, r, c.q)); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	for _, from := range []int64{other, *id(99), -1} {
		x := read(t, r, recall.ReadRequest{Name: "a.jsonl", From: &from})
		if x.Reason != search.NoTurn(from) || seqs(t, x) != nil {
			t.Errorf("from %d: %+v", from, x)
		}
	}
}

func TestASessionIsNamedByItsKeyOrTheBeginningOfOne(t *testing.T) {
	s := searchtest.New(t)
	for _, o := range []searchtest.Session{
		{Key: "5e0a1111.jsonl", ID: "5e0a1111"},
		{Key: "5e0a1111/subagents/agent-a1.jsonl", ID: "5e0a1111", Parent: "5e0a1111.jsonl"},
		{Key: "5e0a1111/subagents/agent-a2.jsonl", ID: "5e0a1111", Parent: "5e0a1111.jsonl"},
		{Key: "5e0b2222.jsonl", ID: "5e0b2222", Project: "/x/secret"},
		{Key: "other:77aa", ID: "77aa"},
		{Key: "7700/subagents/wf/agent-b1.jsonl", ID: "7700", Parent: "7700.jsonl"},
		{Key: "agent-b.jsonl", ID: "agent-b"},
		{Key: "p%_", ID: "p%_"},
		{Key: "p%_more", ID: "p%_more"},
	} {
		s.Session(o)
	}
	r := s.Reader()
	for name, want := range map[string]string{
		"5e0a1111.jsonl": "5e0a1111.jsonl", "5e0a1111": "5e0a1111.jsonl", "5e0a": "5e0a1111.jsonl",
		"5e0a1111/subagents/agent-a2": "5e0a1111/subagents/agent-a2.jsonl",
		"other:":                      "other:77aa", "77aa": "other:77aa", "77": "7700/subagents/wf/agent-b1.jsonl", "77a": "other:77aa",
		"agent-a1": "5e0a1111/subagents/agent-a1.jsonl", "agent-a2.jsonl": "5e0a1111/subagents/agent-a2.jsonl",
		"agent-b": "agent-b.jsonl", "agent-b1": "7700/subagents/wf/agent-b1.jsonl", "p%_": "p%_", "5e0b": "5e0b2222.jsonl",
	} {
		if x := read(t, r, recall.ReadRequest{Name: name}); x.SessionKey != want || x.Reason != "" {
			t.Errorf("%q: %+v, want %s", name, x, want)
		}
	}
	for name, want := range map[string][]string{
		"5e0":          {"5e0a1111.jsonl", "5e0b2222.jsonl"},
		"5e0a1111/sub": {"5e0a1111/subagents/agent-a1.jsonl", "5e0a1111/subagents/agent-a2.jsonl"},
		"p":            {"p%_", "p%_more"},
		"agent-a":      {"5e0a1111/subagents/agent-a1.jsonl", "5e0a1111/subagents/agent-a2.jsonl"},
	} {
		_, err := recall.Read(t.Context(), r, recall.ReadRequest{Name: name})
		var e *recall.AmbiguousError
		if !errors.As(err, &e) || !slices.Equal(e.Keys, want) || e.More || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("%q: %v", name, err)
		}
	}
	hiding := s.Reader("/x")
	for _, name := range []string{"nothing", "5E0A", "%", "_", "subagents", "gent-a1", "wf", "5e0b", "5e0b2222.jsonl"} {
		if x := read(t, hiding, recall.ReadRequest{Name: name}); x.Reason != search.NoSession(name) || seqs(t, x) != nil {
			t.Errorf("%q: %+v", name, x)
		}
	}
	if x := read(t, hiding, recall.ReadRequest{Name: "5e0"}); x.SessionKey != "5e0a1111.jsonl" {
		t.Errorf("an excluded session made a name ambiguous: %+v", x)
	}
}

func TestAnAmbiguousNameListsOnlySomeCandidates(t *testing.T) {
	s := searchtest.New(t)
	for i := range 30 {
		s.Session(searchtest.Session{Key: fmt.Sprintf("a%02d.jsonl", i)})
	}
	_, err := recall.Read(t.Context(), s.Reader(), recall.ReadRequest{Name: "a"})
	var e *recall.AmbiguousError
	if !errors.As(err, &e) || len(e.Keys) != 10 || !e.More || !strings.HasSuffix(err.Error(), ", ...") {
		t.Errorf("got %v", err)
	}
}

func TestRowsAreReadInTheOrderOfTheirNewestState(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "other:1"})
	line := int64(len(searchtest.Record("user", 0, "x")) + 1)
	for i := range 5 {
		s.Add(h, searchtest.Turn{Text: "x", NativeID: fmt.Sprint("m", i), Rewound: i == 2})
	}
	// The newest state: the last row was put after the first, the third is gone.
	const path = "/h/.claude/projects/-p/other:1"
	s.Watermark(h, path, 5*line, "2026-01-01", 0, 5*line)
	s.Watermark(h, path, 5*line, "2026-01-02", 0, line, 4*line, line, line, line, 3*line, line)
	r := s.Reader()
	if got := seqs(t, read(t, r, recall.ReadRequest{Name: h.Key})); !slices.Equal(got, []int64{0, 4, 1, 2, 3}) {
		t.Errorf("got %v", got)
	}
	if got := seqs(t, read(t, r, recall.ReadRequest{Name: h.Key, From: p(h.No<<24 | 1), Last: p(int64(2))})); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("a part: got %v", got)
	}
}

func TestReadingHasReasonsAndNoErrors(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl"})
	r := s.Reader()
	if x := read(t, r, recall.ReadRequest{Name: "a.jsonl"}); x.Reason != "" || seqs(t, x) != nil {
		t.Errorf("a session without turns: %+v", x)
	}
	s.Add(h, searchtest.Turn{Text: "x"})
	s.Exec(`DELETE FROM blocks; UPDATE session_meta SET is_evicted = 1`)
	x := read(t, r, recall.ReadRequest{Name: "a.jsonl"})
	for turn, err := range x.Turns(t.Context()) {
		if err != nil || turn.Text != "" {
			t.Errorf("evicted: %+v, %v", turn, err)
		}
	}
	if !x.Evicted {
		t.Errorf("evicted: %+v", x)
	}
}
