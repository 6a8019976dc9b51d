package testscripts

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/corpus"
)

// compactKills is how many kills the everyday run makes; TERMINUS_CRASH_KILLS
// asks for more.
const compactKills = 5

// compactStore archives a corpus and leaves free pages in the store.
func compactStore(t *testing.T) (h, db string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "claude")
	if _, err := corpus.Generate(root, corpus.Options{Seed: 7, Bytes: 24 << 20, Projects: 4}); err != nil {
		t.Fatal(err)
	}
	h = home(t, root)
	mustRun(t, h, "ingest")
	db = filepath.Join(dataDir(h), "terminus.db")
	loosen(t, db)
	return h, db
}

// loosen makes free pages.
func loosen(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, stmt := range []string{`CREATE TABLE ballast AS SELECT randomblob(8000000) AS b`, `DROP TABLE ballast`} {
		if _, err := db.Exec(stmt); err != nil {
			t.Fatal(err)
		}
	}
}

// A compaction that is killed at any moment leaves the store as it was; the next
// one compacts it, and no file of it stays behind.
func TestAKilledCompactionLeavesTheStoreWhole(t *testing.T) {
	kills := compactKills
	if s := os.Getenv("TERMINUS_CRASH_KILLS"); s != "" {
		if _, err := fmt.Sscan(s, &kills); err != nil {
			t.Fatal(err)
		}
	}
	h, db := compactStore(t)
	want := dump(t, db)
	start := time.Now()
	mustRun(t, h, "compact")
	whole := time.Since(start)
	differ(t, "an undisturbed compaction", dump(t, db), want)
	calm, err := os.Stat(db)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(6, uint64(kills)))
	for i := range kills {
		loosen(t, db)
		killed := killAfter(t, h, time.Duration(r.Int64N(int64(whole))), "compact")
		step := fmt.Sprintf("kill %d after %v", i, killed)
		mustRun(t, h, "search", "--project", "*", "the")
		differ(t, step, dump(t, db), want)
		mustRun(t, h, "verify")
		mustRun(t, h, "compact")
		differ(t, step+", and once more", dump(t, db), want)
		entries, err := os.ReadDir(dataDir(h))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if info, err := e.Info(); strings.Contains(e.Name(), "etilqs") || err == nil && e.Name() == filepath.Base(db) && info.Size() > calm.Size() {
				t.Errorf("%s: %s is there, of %d bytes; an undisturbed compaction leaves %d", step, e.Name(), info.Size(), calm.Size())
			}
		}
	}
}

// A reader of an earlier state keeps the log: the document says it in its sizes,
// and a warning says why. Once the reader is gone, the next compaction is whole.
func TestAReaderKeepsTheLogOfACompaction(t *testing.T) {
	t.Parallel()
	h, path := compactStore(t)
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow(`SELECT count(*) FROM sessions`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: h}
	out, errs, code := m.run("compact", "--json")
	const warning = "terminus: warning: another process is reading the store, so its log is still there: the next pass truncates it\n"
	if errs != warning || code != 0 {
		t.Errorf("exit code %d, stderr %q", code, errs)
	}
	if strings.Contains(out, `"wal":0},"before"`) || !strings.Contains(out, `"ok":true`) || !strings.Contains(out, `"reclaimed_bytes":-`) {
		t.Errorf("with a reader it says %s", out)
	}
	if err := tx.QueryRow(`SELECT count(*) FROM turns_fts_docsize`).Scan(&n); err != nil || n == 0 {
		t.Errorf("the reader reads %d rows, %v", n, err)
	}
	_ = tx.Rollback()
	_ = db.Close()
	mustRun(t, h, "ingest")
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		t.Errorf("after the next pass the log has %d bytes", log.Size())
	}
	if out, _, _ := m.run("compact"); !strings.Contains(out, "reclaimed      0 bytes (0 B)\n") {
		t.Errorf("a compaction of what is compact says %s", out)
	}
}
