package feedback

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/store"
)

// A place is a data directory with a store.
type place struct {
	t      *testing.T
	dir    string
	db     *store.DB
	redact bool // the configuration asks for the egress filter
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir()}
	db, err := store.OpenWriter(t.Context(), p.dir)
	p.check(err)
	t.Cleanup(func() { _ = db.Close() })
	p.db = db
	return p
}

func (p *place) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) drain() Drained {
	p.t.Helper()
	w, err := p.db.Writer(p.t.Context())
	p.check(err)
	defer w.Close()
	res, err := Drain(p.t.Context(), w, p.dir, time.Now())
	p.check(err)
	return res
}

// log is the log as it is read with these exclusions.
func (p *place) log(q LogQuery, exclude ...string) EntryList {
	p.t.Helper()
	cfg := config.Config{DataDir: p.dir, Exclude: config.NewExclusions("/home/u", exclude), Privacy: config.Privacy{RedactRecall: p.redact}}
	r, err := search.Open(p.t.Context(), &cfg)
	p.check(err)
	defer r.Close()
	list, err := Log(p.t.Context(), r, p.dir, q)
	p.check(err)
	return list
}

func (p *place) files() []string {
	p.t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.dir, dirName))
	p.check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (p *place) put(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, dirName, name)
	p.check(os.MkdirAll(filepath.Dir(path), 0o700))
	p.check(os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestDrainedDecisionsAreReadBackAsTheyWere(t *testing.T) {
	p := newPlace(t)
	save(t, p.dir, fired())
	save(t, p.dir, silent("nothing matched"))
	before := p.log(LogQuery{Limit: 9})
	if res := p.drain(); res.Decisions != 2 || len(res.Failures) > 0 || res.Newer > 0 {
		t.Errorf("%+v", res)
	}
	if left := p.files(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	after := p.log(LogQuery{Limit: 9})
	if len(before.Decisions) != 2 || !reflect.DeepEqual(normal(before), normal(after)) {
		t.Errorf("before %+v\nafter  %+v", before, after)
	}
	if d := before.Decisions[1]; d.TS != "2026-08-13T20:59:00.123Z" || *d.Text != "what was\ngiven" || d.Reason != nil || *d.Compacted != true {
		t.Errorf("%+v", d)
	}
}

// normal makes empty lists alike.
func normal(l EntryList) []Entry {
	for i := range l.Decisions {
		d := &l.Decisions[i]
		d.Spellings = append([]string{}, d.Spellings...)
		d.Candidates = append(d.Candidates[:0:0], d.Candidates...)
		d.Injected = append(d.Injected[:0:0], d.Injected...)
		d.Suppressed = append(d.Suppressed[:0:0], d.Suppressed...)
	}
	return l.Decisions
}

func TestADrainThatDiedBeforeItRemovedAFileRepeatsNothing(t *testing.T) {
	p := newPlace(t)
	path := save(t, p.dir, fired())
	data, err := os.ReadFile(path)
	p.check(err)
	p.drain()
	p.put(filepath.Base(path), string(data))
	p.drain()
	var rows int
	p.check(p.db.QueryRow(`SELECT count(*) FROM decisions`).Scan(&rows))
	if rows != 1 || len(p.files()) > 0 {
		t.Errorf("%d rows, left behind %q", rows, p.files())
	}
}

func TestAnOpenWatermarkBecomesThePresentOne(t *testing.T) {
	for sessions, want := range map[int]*int64{0: nil, 3: ptr[int64](2)} {
		p := newPlace(t)
		for i := range sessions {
			_, err := archive.CreateSession(context.Background(), p.db, strings.Repeat("a", i+1), "claude")
			p.check(err)
		}
		save(t, p.dir, silent("x"))
		save(t, p.dir, fired())
		p.drain()
		for reason, want := range map[string]*int64{"x": want, "": ptr[int64](7)} {
			var got *int64
			p.check(p.db.QueryRow(`SELECT watermark_session_no FROM decisions WHERE coalesce(reason, '') = ?`, reason).Scan(&got))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d sessions, reason %q: %v, want %v", sessions, reason, got, want)
			}
		}
	}
}

func TestWhatIsNoDecisionIsNamedAndRemoved(t *testing.T) {
	p := newPlace(t)
	for name, text := range map[string]string{
		"a.json": "", "b.json": "{", "c.json": "[]", "d.json": `{"format":"1"}`, "e.json": `{"format":1}`, "f.json": `{"format":0}`,
		"g.json": `{"format":1,"session_id":"../../x","at_ms":1}`, "h.json": `{"format":1,"session_id":"` + session + `","at_ms":-1}`,
		"i.json": `{"format":1,"session_id":"` + session + `","at_ms":253402300800000}`,
	} {
		p.put(name, text)
	}
	save(t, p.dir, silent("a good one"))
	res := p.drain()
	if res.Decisions != 1 || len(res.Failures) != 9 || len(p.files()) > 0 {
		t.Errorf("%+v, left behind %q", res, p.files())
	}
	for _, f := range res.Failures {
		if !strings.HasPrefix(f.Reason, "it is no decision: ") || filepath.Dir(f.Path) != filepath.Join(p.dir, dirName) {
			t.Errorf("%+v", f)
		}
	}
}

func TestWhatIsNotOursOrNotWholeStays(t *testing.T) {
	p := newPlace(t)
	p.put("notes.txt", "x")
	p.put(".decision-1-0.tmp", "being written")
	newer := p.put("newer.json", `{"format":2,"session_id":7}`)
	p.check(os.WriteFile(newer, []byte(`{"format":2}`), 0o600))
	p.check(os.Mkdir(filepath.Join(p.dir, dirName, "folder.json"), 0o700))
	if err := os.Symlink(newer, filepath.Join(p.dir, dirName, "link.json")); err != nil {
		t.Log(err)
	}
	before := p.files()
	if res := p.drain(); res.Decisions != 0 || len(res.Failures) > 0 || res.Newer != 1 {
		t.Errorf("%+v", res)
	}
	if after := p.files(); !slices.Equal(before, after) {
		t.Errorf("%q became %q", before, after)
	}
	old := time.Now().Add(-2 * staleAfter)
	p.check(os.Chtimes(filepath.Join(p.dir, dirName, ".decision-1-0.tmp"), old, old))
	p.drain()
	if slices.Contains(p.files(), ".decision-1-0.tmp") {
		t.Error("what a killed hook left unfinished is still there")
	}
}

func TestALongQueueIsDrainedInSteps(t *testing.T) {
	p := newPlace(t)
	d := silent("x")
	d.Prompt = strings.Repeat("word ", drainBytes/5/2)
	for range 5 {
		save(t, p.dir, d)
	}
	if res := p.drain(); res.Decisions != 5 || len(p.files()) > 0 {
		t.Errorf("%+v, left behind %q", res, p.files())
	}
}
