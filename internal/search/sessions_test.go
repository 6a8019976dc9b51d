package search_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/search/searchtest"
)

func p[T any](v T) *T { return &v }

func TestASessionIsListedWithAllThatIsKnownOfIt(t *testing.T) {
	s := searchtest.New(t)
	full := s.Session(searchtest.Session{
		Key: "a.jsonl", Project: "/p", PreWorktree: "/w", Branch: "main", Parent: "b.jsonl", First: "t1", Last: "t2",
	})
	for range 3 {
		s.Add(full, searchtest.Turn{Text: "x"})
	}
	s.Watermark(full, "/h/.claude/projects/-p/a.jsonl", 12034, "2026-01-01")
	s.Watermark(full, "/copy/a.jsonl", 7, "2026-01-02")
	s.Exec(`UPDATE session_meta SET is_evicted = 1`)
	s.Watermark(s.Session(searchtest.Session{Key: "bare.jsonl", NoMeta: true}), "/x/bare.jsonl", 9, "2026-01-01")
	s.Session(searchtest.Session{Key: "empty.jsonl"})

	list, err := s.Reader().Sessions(t.Context(), search.SessionQuery{Scope: everything})
	want := search.SessionList{Sessions: []search.Session{
		{
			SessionKey: "a.jsonl", SessionNo: 0, Project: p("/p"), ProjectPreWorktree: p("/w"), Branch: p("main"),
			FirstTurnAt: p("t1"), LastTurnAt: p("t2"), Turns: 3, Watermark: p(int64(12034)), Sidecar: true, Evicted: true,
		},
		{SessionKey: "bare.jsonl", SessionNo: 1, Watermark: p(int64(9))},
		{SessionKey: "empty.jsonl", SessionNo: 2},
	}}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestTheWindowTakesSessionsThatOverlapIt(t *testing.T) {
	s := searchtest.New(t)
	for key, days := range map[string]string{"1": "01 03", "2": "03 05", "3": "06 07"} {
		first, last, _ := strings.Cut(days, " ")
		s.Session(searchtest.Session{Key: key, First: "2026-01-" + first, Last: "2026-01-" + last})
	}
	s.Session(searchtest.Session{Key: "no turns"})
	r := s.Reader()
	for name, c := range map[string]struct {
		since, until string
		limit        int
		want         int
	}{
		"no window":            {"", "", 0, 4},
		"since":                {"2026-01-04", "", 0, 2},
		"until":                {"", "2026-01-03", 0, 2},
		"the bounds belong":    {"2026-01-03", "2026-01-03", 0, 2},
		"between two sessions": {"2026-01-05T", "2026-01-05T~", 0, 0},
		"limit after filter":   {"2026-01-04", "", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := r.Sessions(t.Context(), search.SessionQuery{Scope: everything, Since: c.since, Until: c.until, Limit: c.limit})
			if err != nil || len(list.Sessions) != c.want || list.Sessions == nil {
				t.Errorf("got %+v, %v", list, err)
			}
			if !slices.IsSortedFunc(list.Sessions, func(a, b search.Session) int { return int(a.SessionNo - b.SessionNo) }) {
				t.Errorf("not by number: %+v", list)
			}
		})
	}
}

func TestStatusCountsTheStore(t *testing.T) {
	s := searchtest.New(t)
	a := s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p"})
	s.Add(a, searchtest.Turn{Text: "x"})
	s.Add(a, searchtest.Turn{Text: "y"})
	s.Watermark(a, "/a", 100, "2026-01-01")
	s.Watermark(a, "/b", 20, "2026-01-01")
	s.Watermark(s.Session(searchtest.Session{Key: "b.jsonl", NoMeta: true}), "/c", 3, "2026-01-01")
	r := s.Reader("/private", "~/mine")

	st, err := r.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(s.Path() + suffix); err == nil {
			size += info.Size()
		}
	}
	want := search.Status{
		Store: p(s.Path()), SizeBytes: size, Sessions: 2, Turns: 2, Watermarks: 3, WatermarkBytes: 123,
		Excluded: &[]string{"/private", "/home/u/mine"},
	}
	if !reflect.DeepEqual(st, want) {
		t.Errorf("got %+v, want %+v", st, want)
	}

	s.Exec(`INSERT INTO runs(started_at, duration_ms, files_seen, notes) VALUES ('t1', 5, 9, 'n'), ('t2', NULL, 1, NULL)`)
	st, err = r.Status(t.Context())
	if err != nil || !reflect.DeepEqual(st.LastRun, &search.Run{StartedAt: "t2", FilesSeen: 1}) {
		t.Errorf("last run %+v, %v", st.LastRun, err)
	}
}

func TestCountsOverThousandsOfSessions(t *testing.T) {
	s := searchtest.New(t)
	s.Exec(`INSERT INTO sessions(session_key, session_no, harness)
		WITH RECURSIVE k(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM k WHERE n < 1999) SELECT n, n, 'claude' FROM k`)
	s.Exec(`INSERT INTO turns(id, record_type, stream_offset, byte_len)
		WITH RECURSIVE k(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM k WHERE n < 19999)
		SELECT (n / 10) << 24 | n % 10, 'user', 0, 0 FROM k`)
	r := s.Reader()
	st, err := r.Status(t.Context())
	if err != nil || st.Turns != 20_000 {
		t.Fatalf("%+v, %v", st, err)
	}
	list, err := r.Sessions(t.Context(), search.SessionQuery{Scope: everything})
	if err != nil || len(list.Sessions) != 2000 || list.Sessions[1999].Turns != 10 {
		t.Fatalf("%d sessions, %v", len(list.Sessions), err)
	}
}
