package retention_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/retention"
	"github.com/terminus-archive/terminus/internal/store"
)

// A home has transcripts and a configuration.
type home struct {
	t   *testing.T
	dir string
}

func newHome(t *testing.T) *home {
	t.Helper()
	return &home{t, t.TempDir()}
}

func (h *home) config(toml string) *config.Config {
	h.t.Helper()
	dir := filepath.Join(h.dir, "config")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "terminus.toml"), []byte(toml), 0o600); err != nil {
		h.t.Fatal(err)
	}
	c, err := config.Load(config.Environ{
		Get: func(name string) string {
			return map[string]string{"TERMINUS_DATA_DIR": filepath.Join(h.dir, "data"), "TERMINUS_CONFIG_DIR": dir}[name]
		},
		Home: h.dir, WorkDir: h.dir, GOOS: "linux",
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

func key(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000.jsonl", n) }

func (h *home) path(n int) string { return filepath.Join(h.dir, ".claude", "projects", "-p", key(n)) }

// session writes a transcript of one turn.
func (h *home) session(n int, cwd, ts string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(n)), 0o700); err != nil {
		h.t.Fatal(err)
	}
	line := fmt.Sprintf(`{"type":"user","uuid":"u%d","timestamp":%q,"sessionId":%q,"cwd":%q,"message":{"role":"user","content":"text of session %d"}}`+"\n",
		n, ts, strings.TrimSuffix(key(n), ".jsonl"), cwd, n)
	if err := os.WriteFile(h.path(n), []byte(line), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) pass(c *config.Config, now time.Time) ingest.Result {
	h.t.Helper()
	res, err := ingest.Run(context.Background(), ingest.Options{Config: c, Now: func() time.Time { return now }})
	if err != nil || len(res.Failures) > 0 {
		h.t.Fatalf("%v, %+v", err, res.Failures)
	}
	return res
}

func (h *home) preview(c *config.Config, now time.Time) retention.Plan {
	h.t.Helper()
	p, _, err := retention.Preview(context.Background(), c, now, registry.ByID)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func keys(list []archive.Aged) []string {
	out := []string{}
	for _, s := range list {
		out = append(out, s.Key)
	}
	return out
}

func (h *home) evicted(c *config.Config) []string {
	h.t.Helper()
	db, err := store.OpenReader(context.Background(), store.Path(c.DataDir))
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT session_key FROM session_meta WHERE is_evicted = 1 ORDER BY last_turn_at`)
	if err != nil {
		h.t.Fatal(err)
	}
	defer rows.Close()
	out := []string{}
	for rows.Next() {
		var k string
		if err := rows.Scan(&k); err != nil {
			h.t.Fatal(err)
		}
		out = append(out, k)
	}
	return out
}

var now = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)

// The preview is what the pass does, the oldest first, a hundred each time.
func TestAPassDoesWhatThePreviewSaid(t *testing.T) {
	t.Run("of sessions that are closed", func(t *testing.T) { foreseen(t, false) })
	t.Run("of sessions that no pass has closed yet", func(t *testing.T) { foreseen(t, true) })
}

func foreseen(t *testing.T, backfilled bool) {
	const all = 250
	h := newHome(t)
	for n := range all {
		// The last to be archived is the oldest.
		h.session(n, "/work", archive.Stamp(now.AddDate(0, 0, -40).Add(-time.Duration(n)*time.Minute)))
	}
	first := ingest.Options{Config: h.config(""), Backfill: backfilled, Now: func() time.Time { return now }}
	if _, err := ingest.Run(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	const rule = "[retention]\naction = \"evict\"\nage_days = 30"
	if p := h.preview(h.config("exclude = [\"/work\"]\n"+rule), now); p.Excluded != all {
		t.Fatalf("%d excluded", p.Excluded)
	}
	c := h.config(rule)
	done := 0
	for done < all {
		p := h.preview(c, now)
		if want := min(retention.PerAction, all-done); len(p.Evict) != want || p.Over != all-done-want || len(p.Delete) > 0 {
			t.Fatalf("after %d: %d to evict, %d over", done, len(p.Evict), p.Over)
		}
		before := h.evicted(c)
		h.pass(c, now)
		var news []string
		for _, k := range h.evicted(c) {
			if !strings.Contains(strings.Join(before, " "), k) {
				news = append(news, k)
			}
		}
		if !reflect.DeepEqual(news, keys(p.Evict)) {
			t.Fatalf("said %v\ndid  %v", keys(p.Evict), news)
		}
		done += len(news)
	}
	if p := h.preview(c, now); len(p.Evict)+p.Over > 0 {
		t.Fatalf("got %+v", p)
	}
}

// Ages are those of the instants, to the millisecond, whatever form a time has.
func TestASessionIsDueByTheInstantOfItsLastTurn(t *testing.T) {
	h := newHome(t)
	cases := []struct {
		ts  string
		due bool
	}{
		{"2026-07-02T00:00:00.000Z", false}, // at the cutoff
		{"2026-07-01T23:59:59.999Z", true},
		{"2026-07-02T01:59:59+02:00", true},
		{"2026-07-02T02:00:00+02:00", false},
		{"2026-07-01T20:00:00-05:00", false},
		{"2026-07-01 10:00:00Z", true},
		{"yesterday", false},
		{"0", false},
	}
	for n, x := range cases {
		h.session(n, "/work", x.ts)
	}
	h.pass(h.config(""), now)
	p := h.preview(h.config("[retention]\naction = \"evict\"\nage_days = 30"), now)
	got := strings.Join(keys(p.Evict), " ")
	for n, x := range cases {
		if strings.Contains(got, key(n)) != x.due {
			t.Errorf("%s: due is not %v", x.ts, x.due)
		}
	}
}

// A great age is no overflow, and reaches nobody.
func TestTheGreatestAgeSelectsNothing(t *testing.T) {
	h := newHome(t)
	h.session(1, "/work", "0001-01-01T00:00:00Z")
	h.pass(h.config(""), now)
	if p := h.preview(h.config("[retention]\naction = \"evict\"\nage_days = 4294967295"), now); len(p.Evict) > 0 || p.Off {
		t.Errorf("got %+v", p)
	}
}

// The rule of the nearest project counts, each session's own; exclusions come first.
func TestEachProjectHasItsRule(t *testing.T) {
	h := newHome(t)
	old := "2026-01-01T00:00:00.000Z"
	for n, cwd := range []string{"/a", "/a/b", "/a/b/c", "/x", "/secret/y"} {
		h.session(n, cwd, old)
	}
	h.pass(h.config(""), now)
	for n := range 5 {
		if n != 3 {
			if err := os.Remove(h.path(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := h.config(`exclude = ["/secret"]
[retention]
action = "evict"
age_days = 1
[retention.project."/a"]
action = "delete"
age_days = 1
[retention.project."/a/b"]
action = "keep"
age_days = 1
`)
	p := h.preview(c, now)
	if !reflect.DeepEqual(keys(p.Delete), []string{key(0)}) || !reflect.DeepEqual(keys(p.Evict), []string{key(3)}) || p.Excluded != 1 || p.Over != 0 {
		t.Errorf("got %+v", p)
	}
	res := h.pass(c, now)
	if got := strings.Join(res.Notes, "\n"); !strings.HasPrefix(got, "retention evicted 1 session\nretention deleted 1 session; gone as well: 1 observation\nsnapshots that were made before hold what was deleted, ") {
		t.Errorf("notes %q", got)
	}
}

// An evicted session is deleted as well, once its file is gone.
func TestAnEvictedSessionCanBeDeleted(t *testing.T) {
	h := newHome(t)
	h.session(1, "/work", "2026-01-01T00:00:00.000Z")
	h.session(2, "/work", "2026-01-01T00:00:00.000Z")
	h.pass(h.config("[retention]\naction = \"evict\"\nage_days = 1"), now)
	c := h.config("[retention]\naction = \"delete\"\nage_days = 1")
	if err := os.Remove(h.path(1)); err != nil {
		t.Fatal(err)
	}
	if p := h.preview(c, now); !reflect.DeepEqual(keys(p.Delete), []string{key(1)}) || len(p.Evict) > 0 {
		t.Fatalf("got %+v", p)
	}
	h.pass(c, now)
	if got := h.evicted(c); !reflect.DeepEqual(got, []string{key(2)}) {
		t.Errorf("left are %v", got)
	}
}

// A session whose bytes are damaged has no facts, and is evicted all the same.
func TestASessionWithoutFactsIsNotKeptForEver(t *testing.T) {
	h := newHome(t)
	h.session(1, "/work", archive.Stamp(now.Add(-time.Hour)))
	h.pass(h.config(""), now)
	db, err := store.OpenWriter(context.Background(), filepath.Join(h.dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE blocks SET bytes = zeroblob(length(bytes))`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c := h.config("[retention]\naction = \"evict\"\nage_days = 1")
	later := now.AddDate(0, 0, 2)
	if p := h.preview(c, later); len(p.Evict) != 1 {
		t.Fatalf("got %+v", p)
	}
	res := h.pass(c, later)
	if got := h.evicted(c); len(got) != 1 {
		t.Errorf("it is kept; notes %q", res.Notes)
	}
}

// Without a rule that acts nothing is read, and nothing noted.
func TestRetentionIsOffByDefault(t *testing.T) {
	h := newHome(t)
	h.session(1, "/work", "2026-01-01T00:00:00.000Z")
	if res := h.pass(h.config(""), now); len(res.Notes) > 0 {
		t.Errorf("notes %q", res.Notes)
	}
	for _, toml := range []string{"", "[retention]\naction = \"evict\"", "[retention]\nage_days = 3", "[retention]\naction = \"shred\"\nage_days = 3"} {
		p, err := retention.Evaluate(context.Background(), nil, h.config(toml), now, registry.ByID)
		if err != nil || !p.Off {
			t.Errorf("%q: %v, %+v", toml, err, p)
		}
	}
}
