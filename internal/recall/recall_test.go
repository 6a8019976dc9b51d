package recall_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/search/searchtest"
)

var everything = search.Scope{Project: search.AllProjects}

func p[T any](v T) *T { return &v }

func get(t *testing.T, r *search.Reader, q recall.Request) recall.Records {
	t.Helper()
	if q.Scope.Project == "" && q.Scope.Dir == "" {
		q.Scope = everything
	}
	got, err := recall.Get(t.Context(), r, q)
	if err != nil {
		t.Fatalf("get %+v: %v", q, err)
	}
	return got
}

func TestRecordsComeInTheOrderAskedForAndOnce(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p"})
	first := s.Add(h, searchtest.Turn{Text: "one"})
	second := s.Add(h, searchtest.Turn{Type: "assistant", Text: "two", Tool: "Bash", TS: "2026-08-12T21:00:00.000Z"})

	got := get(t, s.Reader(), recall.Request{IDs: []int64{second, 99, first, second, 99, -1}})

	body1, body2 := searchtest.Record("user", first, "one"), searchtest.Record("assistant", second, "two")
	want := recall.Records{
		Records: []recall.Record{
			{
				TurnID: second, SessionKey: "a.jsonl", TurnSeq: 1, RecordType: "assistant", ToolName: p("Bash"),
				TS: p("2026-08-12T21:00:00.000Z"), Project: p("/p"), Body: &body2, Raw: []byte(body2),
			},
			{
				TurnID: first, SessionKey: "a.jsonl", TurnSeq: 0, RecordType: "user",
				Project: p("/p"), Body: &body1, Raw: []byte(body1),
			},
		},
		Absent: []recall.Absent{{99, "no turn 99 is archived"}, {-1, "no turn -1 is archived"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestAbsentTurns(t *testing.T) {
	s := searchtest.New(t)
	secret := s.Add(s.Session(searchtest.Session{Key: "a.jsonl", Project: "/x/secret"}), searchtest.Turn{Text: "x"})
	open := s.Add(s.Session(searchtest.Session{Key: "b.jsonl", Project: "/p"}), searchtest.Turn{Text: "x"})
	nowhere, err := search.Open(t.Context(), &config.Config{DataDir: filepath.Join(t.TempDir(), "none"), Exclude: config.NewExclusions("", nil)})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		r     *search.Reader
		scope search.Scope
		id    int64
		want  string
	}{
		"an excluded project reads like no turn": {s.Reader("/x"), everything, secret, search.NoTurn(secret)},
		"another project":                        {s.Reader(), search.Scope{Dir: "/p"}, secret, search.NoTurn(secret)},
		"a directory of no project":              {s.Reader(), search.Scope{Dir: "/q"}, open, "no archived project contains /q"},
		"no store":                               {nowhere, everything, open, "no store"},
	} {
		t.Run(name, func(t *testing.T) {
			got := get(t, c.r, recall.Request{Scope: c.scope, IDs: []int64{c.id, c.id}})
			if len(got.Records) != 0 || len(got.Absent) != 1 || !strings.Contains(got.Absent[0].Reason, c.want) || got.Reason != got.Absent[0].Reason {
				t.Errorf("got %+v, want %q", got, c.want)
			}
		})
	}
	if got := get(t, s.Reader(), recall.Request{IDs: []int64{99, open}}); got.Reason != "" {
		t.Errorf("a reason although there is a record: %+v", got)
	}
}

func TestWhatIsHandedOutIsFilteredUnlessRaw(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl"})
	const secret = "EXAMPLEsecret"
	long := strings.Repeat("x", 230) + " password=" + secret
	first := s.Add(h, searchtest.Turn{Text: long})
	r := s.Redacting()
	q := recall.Request{Scope: everything, IDs: []int64{first}, After: 1}
	rec := get(t, r, q).Records[0]
	for what, text := range map[string]string{"body": *rec.Body, "bytes": string(rec.Raw), "window": rec.Context.Turns[0].Text} {
		if strings.Contains(text, secret) || what != "window" && !strings.Contains(text, "password=[redacted]") {
			t.Errorf("%s: %q", what, text)
		}
	}
	for turn := range read(t, r, recall.ReadRequest{Name: "a.jsonl"}).Turns(t.Context()) {
		if !strings.HasSuffix(turn.Text, "password=[redacted]") {
			t.Errorf("read: %q", turn.Text)
		}
	}
	q.Raw = true
	if got, want := get(t, r, q), get(t, s.Reader(), q); !reflect.DeepEqual(got, want) {
		t.Errorf("raw is %+v, without the setting %+v", got, want)
	}
	for turn := range read(t, r, recall.ReadRequest{Name: "a.jsonl", Raw: true}).Turns(t.Context()) {
		if turn.Text != long {
			t.Errorf("read raw: %q", turn.Text)
		}
	}
}

func TestABodyThatTheArchiveDoesNotGiveIsNull(t *testing.T) {
	for name, c := range map[string]struct {
		spoil   string
		evicted bool
	}{
		"damaged": {`UPDATE blocks SET bytes = x'00'`, false},
		"evicted": {`DELETE FROM blocks; UPDATE session_meta SET is_evicted = 1`, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := searchtest.New(t)
			id := s.Add(s.Session(searchtest.Session{Key: "a.jsonl"}), searchtest.Turn{Text: "x"})
			s.Exec(c.spoil)
			got := get(t, s.Reader(), recall.Request{IDs: []int64{id}, Before: 1})
			if rec := got.Records[0]; rec.Body != nil || rec.Raw != nil || rec.BodyEvicted != c.evicted {
				t.Errorf("got %+v", rec)
			} else if w := rec.Context; len(w.Turns) != 1 || w.Turns[0].Text != "" || w.Reason != nil {
				t.Errorf("window %+v", w)
			}
		})
	}
	t.Run("evicted, with bytes taken in since", func(t *testing.T) {
		s := searchtest.New(t)
		id := s.Add(s.Session(searchtest.Session{Key: "a.jsonl"}), searchtest.Turn{Text: "x"})
		s.Exec(`UPDATE session_meta SET is_evicted = 1`)
		if rec := get(t, s.Reader(), recall.Request{IDs: []int64{id}}).Records[0]; rec.Body == nil || !rec.BodyEvicted {
			t.Errorf("got %+v", rec)
		}
	})
}

func TestABodyIsTextAndKeepsItsBytesBeside(t *testing.T) {
	s := searchtest.New(t)
	raw := "{\"type\":\"user\",\"x\":\"\xff\xe2\x82 é\"}"
	id := s.Add(s.Session(searchtest.Session{Key: "a.jsonl"}), searchtest.Turn{Bytes: raw})
	rec := get(t, s.Reader(), recall.Request{IDs: []int64{id}}).Records[0]
	if string(rec.Raw) != raw {
		t.Errorf("raw is %q", rec.Raw)
	}
	if want := "{\"type\":\"user\",\"x\":\"\ufffd\ufffd\ufffd é\"}"; *rec.Body != want {
		t.Errorf("body is %q, want %q", *rec.Body, want)
	}
}

func TestTheWindowAroundATurn(t *testing.T) {
	s := searchtest.New(t)
	s.Add(s.Session(searchtest.Session{Key: "before.jsonl"}), searchtest.Turn{Text: "other"})
	h := s.Session(searchtest.Session{Key: "a.jsonl", Continues: "5e0a"})
	var id []int64
	for i := range 80 {
		// The clock runs backwards: only turn_seq orders.
		id = append(id, s.Add(h, searchtest.Turn{Text: fmt.Sprint("turn  ", i), TS: fmt.Sprint(1000 - i)}))
	}
	s.Add(s.Session(searchtest.Session{Key: "c.jsonl"}), searchtest.Turn{Text: "other"})
	r := s.Reader()
	for name, c := range map[string]struct {
		anchor, before, after int
		from, to              int
		start, end            bool
	}{
		"inside":                      {40, 2, 1, 38, 41, false, false},
		"after alone":                 {40, 0, 3, 40, 43, false, false},
		"at the start":                {1, 5, 1, 0, 2, true, false},
		"at the end":                  {78, 1, 5, 77, 79, false, true},
		"reaching the start exactly":  {2, 2, 0, 0, 2, true, false},
		"lowered to the most allowed": {40, 1000, 1000, 15, 65, false, false},
		"a negative side is none":     {40, -3, 1, 40, 41, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			rec := get(t, r, recall.Request{IDs: []int64{id[c.anchor]}, Before: c.before, After: c.after}).Records[0]
			want := recall.Window{AtSessionStart: c.start, AtSessionEnd: c.end, ContinuesFrom: p("5e0a")}
			for i := c.from; i <= c.to; i++ {
				want.Turns = append(want.Turns, recall.WindowTurn{
					TurnID: id[i], TurnSeq: int64(i), RecordType: "user", TS: p(fmt.Sprint(1000 - i)),
					Text: fmt.Sprint("turn ", i), IsAnchor: i == c.anchor,
				})
			}
			if !reflect.DeepEqual(*rec.Context, want) {
				t.Errorf("got  %+v\nwant %+v", *rec.Context, want)
			}
		})
	}
	if rec := get(t, r, recall.Request{IDs: []int64{id[3]}}).Records[0]; rec.Context != nil {
		t.Errorf("a window that nobody asked for: %+v", rec.Context)
	}
}

func TestAWindowMayHoldTheTurnAlone(t *testing.T) {
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p"})
	for _, text := range []string{"one", "two", "three"} {
		s.Add(h, searchtest.Turn{Text: text})
	}
	for id, want := range map[int64][2]bool{0: {true, false}, 1: {false, false}, 2: {false, true}} {
		got := get(t, s.Reader(), recall.Request{IDs: []int64{id}, Window: true}).Records[0].Context
		if len(got.Turns) != 1 || got.Turns[0].TurnID != id || !got.Turns[0].IsAnchor {
			t.Errorf("turn %d alone: %+v", id, got.Turns)
		}
		if ends := [2]bool{got.AtSessionStart, got.AtSessionEnd}; ends != want {
			t.Errorf("turn %d is at the ends %v, want %v", id, ends, want)
		}
	}
	if got := get(t, s.Reader(), recall.Request{IDs: []int64{1}}).Records[0].Context; got != nil {
		t.Errorf("a window nobody asked for: %+v", got)
	}
}

func TestARequestThatMaySeeNothingSaysSo(t *testing.T) {
	s := searchtest.New(t)
	s.Add(s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p"}), searchtest.Turn{Text: "x"})
	for dir, want := range map[string]bool{"/p": false, "/q": true} {
		if got := get(t, s.Reader(), recall.Request{Scope: search.Scope{Dir: dir}, IDs: []int64{99}}); got.Unseen != want || got.Reason == "" {
			t.Errorf("in %s: unseen %v, reason %q", dir, got.Unseen, got.Reason)
		}
	}
}
