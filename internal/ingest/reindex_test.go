package ingest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func (f *fixture) reindex(more ...harness.Harness) Reindexed {
	f.t.Helper()
	lookup := func(id string) (harness.Harness, bool) {
		for _, h := range more {
			if h.ID() == id {
				return h, true
			}
		}
		return registry.ByID(id)
	}
	r, err := Reindex(context.Background(), ReindexOptions{DataDir: f.cfg.DataDir, Lookup: lookup})
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// spoil runs a statement on the store.
func (f *fixture) spoil(stmt string) {
	f.t.Helper()
	db, err := sql.Open("sqlite", store.Path(f.cfg.DataDir))
	if err != nil {
		f.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(stmt); err != nil {
		f.t.Fatalf("%s: %v", stmt, err)
	}
}

// words renders the search index, its lengths and what turns name.
func (f *fixture) words() string {
	f.t.Helper()
	f.spoil(`CREATE VIRTUAL TABLE IF NOT EXISTS spelled USING fts5vocab(turns_fts, instance)`)
	db := f.reader()
	var out strings.Builder
	for _, query := range []string{
		`SELECT term || ' ' || doc || ' ' || offset FROM spelled ORDER BY 1`,
		`SELECT slot || ' ' || hex(counts) FROM lengths ORDER BY 1`,
		`SELECT e.turn || ' ' || v.kind || ' ' || v.value FROM entities e JOIN entity_values v ON v.id = e.value ORDER BY 1`,
	} {
		rows, err := db.Query(query)
		if err != nil {
			f.t.Fatal(err)
		}
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				f.t.Fatal(err)
			}
			fmt.Fprintln(&out, s)
		}
		_ = rows.Close()
	}
	f.spoil(`DROP TABLE spelled`)
	return out.String()
}

func TestReindexReplaysTakeOversOfRows(t *testing.T) {
	f := newFixture(t)
	h := rowHarness{path: filepath.Join(t.TempDir(), "agent.db")}
	f.harnesses = []harness.Harness{h}
	agent, err := sql.Open("sqlite", "file:"+h.path+"?_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	agent.SetMaxOpenConns(1)
	for _, change := range []string{
		`CREATE TABLE message(id TEXT, conversation TEXT, position REAL, body TEXT)`,
		`INSERT INTO message VALUES ('m1', 'a', 1, '{"role":"user","text":"one"}'), ('m"2', 'a', 2, '{"role":"user","text":"two and more"}')`,
		`INSERT INTO message VALUES ('m3', 'a', 3, '{"role":"user","text":"three"}'), ('no-turn', 'a', 4, '{"role":"","text":""}')`,
		`UPDATE message SET body = '{"role":"user","text":"second"}' WHERE id = 'm"2'`,
		`DELETE FROM message WHERE id = 'm3'`,
	} {
		if _, err := agent.Exec(change); err != nil {
			t.Fatal(err)
		}
		f.pass()
	}
	before, words := f.dump(), f.words()
	f.spoil(`DELETE FROM line_index`)
	f.spoil(`DELETE FROM turns WHERE id & 1`)
	f.spoil(`DELETE FROM lengths`)
	if got := f.reindex(h); got.Sessions != 1 || got.Turns != 3 || len(got.Skipped) > 0 {
		t.Errorf("reindex says %+v", got)
	}
	if after := f.dump(); after != before {
		t.Errorf("reindex makes\n%s\nit was\n%s", after, before)
	}
	if after := f.words(); after != words {
		t.Errorf("reindex indexes\n%s\nit was\n%s", after, words)
	}
	f.verifyClean(h)
	if res := f.pass(); res.FilesCommitted != 0 || res.TurnsAdded != 0 {
		t.Errorf("a pass after it takes in %+v", res)
	}
}

func TestReindexFindsWhatWasRewoundAndGrowsOn(t *testing.T) {
	f := newFixture(t)
	f.write(sessionA, user(1, "one"), user(2, "two rewound"), user(3, "three"))
	f.write("bbbbbbbb-0000-4000-8000-000000000001.jsonl", user(9, "other"))
	f.pass()
	f.write(sessionA, user(1, "one"), user(3, "three"), user(4, "four"))
	f.pass()
	if n := f.count(`SELECT count(*) FROM turns WHERE in_current = 0`); n != 1 {
		t.Fatalf("%d turns are rewound, want 1", n)
	}
	before, words := f.dump(), f.words()
	f.spoil(`UPDATE turns SET in_current = 1 - in_current`)
	f.spoil(`INSERT INTO turns_fts(rowid, body) VALUES (3000, 'astray')`)
	f.reindex()
	f.reindex()
	if after := f.dump(); after != before {
		t.Errorf("reindex makes\n%s\nit was\n%s", after, before)
	}
	if after := f.words(); after != words {
		t.Errorf("reindex indexes\n%s\nit was\n%s", after, words)
	}
	f.append(sessionA, user(5, "five"))
	f.pass()
	f.verifyClean()
	if f.find("five") != 1 || f.find("rewound") != 1 {
		t.Error("what was added after a reindex, or rewound before, is not found")
	}
}

func TestReindexOfAHeldLockNamesIt(t *testing.T) {
	f := newFixture(t)
	f.write(sessionA, user(1, "one"))
	f.pass()
	lock, held, err := fsx.TryLock(filepath.Join(f.cfg.DataDir, LockName))
	if err != nil || held {
		t.Fatal(held, err)
	}
	defer lock.Unlock()
	_, err = Reindex(context.Background(), ReindexOptions{DataDir: f.cfg.DataDir})
	var locked *LockedError
	if !errors.As(err, &locked) || !strings.Contains(err.Error(), locked.Path) {
		t.Errorf("reindex says %v", err)
	}
}

func TestSearchAnswersWhileReindexing(t *testing.T) {
	f := newFixture(t)
	const sessions = 40
	for i := range sessions {
		f.write(fmt.Sprintf("%08x-0000-4000-8000-000000000001.jsonl", i), user(2*i, "everywhere"), user(2*i+1, "some other text"))
	}
	f.pass()
	f.reader()
	done := make(chan struct{})
	counts := make(chan map[int]int)
	go func() {
		seen := map[int]int{}
		defer func() { counts <- seen }()
		for {
			var n int
			err := f.db.QueryRow(`SELECT count(*) FROM turns_fts f JOIN sessions s ON s.slot = f.rowid >> 24
				JOIN turns t ON t.id = s.session_no << 24 | f.rowid & 16777215 WHERE turns_fts MATCH 'everywhere'`).Scan(&n)
			if err != nil {
				n = -1
			}
			seen[n]++
			select {
			case <-done:
				return
			default:
			}
		}
	}()
	for range 5 {
		f.reindex()
	}
	close(done)
	if seen := <-counts; len(seen) != 1 || seen[sessions] == 0 {
		t.Errorf("while reindexing, searches found %v, want always %d", seen, sessions)
	}
}

func TestADamagedLongSessionKeepsItsRows(t *testing.T) {
	f := newFixture(t)
	var lines []string
	for i, size := 0, 0; size < wholeSession+2*rebuildPiece; i++ {
		lines = append(lines, user(i, fmt.Sprintf("record %d %s", i, strings.Repeat("x", 256<<10))))
		size += len(lines[i])
	}
	f.write(sessionA, lines...)
	f.pass()
	before, words := f.dump(), f.words()
	if got := f.reindex(); got.Turns != int64(len(lines)) {
		t.Fatalf("reindex says %+v", got)
	}
	if f.dump() != before || f.words() != words {
		t.Error("reindex of a long session makes other rows")
	}
	f.spoil(`UPDATE blocks SET hash = zeroblob(32) WHERE n = (SELECT max(n) - 1 FROM blocks)`)
	damaged := f.dump()
	got := f.reindex()
	if got.Sessions != 0 || len(got.Skipped) != 1 || !strings.Contains(got.Skipped[0].Reason, "block") {
		t.Errorf("reindex says %+v", got)
	}
	if f.dump() != damaged || f.words() != words {
		t.Error("a session that cannot be derived again has lost rows")
	}
}

// brittle panics over one record, as a reader of foreign bytes may.
type brittle struct{ harness.Harness }

func (b brittle) Turns(record []byte, s *transcript.State) []transcript.Turn {
	if strings.Contains(string(record), "poison") {
		panic("poisoned")
	}
	return b.Harness.Turns(record, s)
}

func TestAHarnessThatPanicsCostsItsSession(t *testing.T) {
	f := newFixture(t)
	f.write(sessionA, user(1, "one"), user(2, "poison"))
	f.write("bbbbbbbb-0000-4000-8000-000000000001.jsonl", user(3, "three"))
	f.pass()
	before := f.dump()
	claude, _ := registry.ByID("claude")
	got := f.reindex(brittle{claude})
	if got.Sessions != 1 || len(got.Skipped) != 1 || !strings.Contains(got.Skipped[0].Reason, "poisoned") {
		t.Errorf("reindex says %+v", got)
	}
	if f.dump() != before {
		t.Error("a session that cannot be derived again has lost rows")
	}
}

// TestMergingInsideAPassChangesNothingElse merges after every commit of a pass
// that makes several.
func TestMergingInsideAPassChangesNothingElse(t *testing.T) {
	content := func(f *fixture) {
		for s := range 3 {
			var lines []string
			for n := range 900 {
				lines = append(lines, user(1000*s+n, fmt.Sprintf("w%d x%d ", n%97, n%31)+strings.Repeat("-", 5000)))
			}
			f.write(fmt.Sprintf("aaaaaaaa-0000-4000-8000-00000000000%d.jsonl", s), lines...)
		}
	}
	var words []string
	for _, every := range []int64{mergeEvery, 1} {
		old := mergeEvery
		mergeEvery = every
		t.Cleanup(func() { mergeEvery = old })
		f := newFixture(t)
		content(f)
		f.pass()
		f.verifyClean()
		words = append(words, f.words())
	}
	if words[0] != words[1] {
		t.Error("the index differs from one that was merged at the end")
	}
}
