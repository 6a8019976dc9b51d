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

// reindexKills is how many kills the everyday run makes; TERMINUS_CRASH_KILLS
// asks for more.
const reindexKills = 4

// A reindex that is killed at any moment goes on when it is called again: the
// store is then the one that ingest made, whatever stood in the derived tables.
// A pass in between adds to no session that is there in part.
func TestAKilledReindexGoesOn(t *testing.T) {
	kills := reindexKills
	if s := os.Getenv("TERMINUS_CRASH_KILLS"); s != "" {
		if _, err := fmt.Sscan(s, &kills); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(t.TempDir(), "claude")
	if _, err := corpus.Generate(root, corpus.Options{Seed: 7, Bytes: 24 << 20, Projects: 4}); err != nil {
		t.Fatal(err)
	}
	longSession(t, root)
	h := home(t, root)
	mustRun(t, h, "ingest")
	store := filepath.Join(dataDir(h), "terminus.db")
	want := dump(t, store)
	start := time.Now()
	mustRun(t, h, "reindex")
	whole := time.Since(start)
	differ(t, "an undisturbed reindex", dump(t, store), want)

	r := rand.New(rand.NewPCG(2, uint64(kills)))
	for i := range kills {
		falsify(t, store)
		killed := killAfter(t, h, time.Duration(r.Int64N(int64(whole))), "reindex")
		if i%2 == 1 {
			mustRun(t, h, "search", "--project", "*", "the")
			mustRun(t, h, "ingest")
		}
		mustRun(t, h, "reindex")
		differ(t, fmt.Sprintf("kill %d after %v", i, killed), dump(t, store), want)
	}
}

// longSession adds a session that is too long to be replaced in one
// transaction. It holds few words, so that its index stays small.
func longSession(t *testing.T, root string) {
	t.Helper()
	const bytes, text = 40 << 20, 64 << 10
	dir := filepath.Join(root, "projects", "-work-long")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		said := fmt.Sprintf("record %d %s", i, strings.Repeat("x", text))
		b.WriteString(corpus.Lines(corpus.User(said, corpus.ID(corpus.UUID(fmt.Sprint("long", i))), corpus.CWD("/work/long"))))
	}
	name := filepath.Join(dir, corpus.UUID("long")+".jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// falsify spoils derived rows of every session.
func falsify(t *testing.T, store string) {
	t.Helper()
	db, err := sql.Open("sqlite", store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, stmt := range []string{
		`DELETE FROM turns WHERE id % 3 = 1`,
		`UPDATE turns SET record_type = 'false', in_current = 0 WHERE id % 3 = 0`,
		`DELETE FROM lengths WHERE slot % 2`,
		`DELETE FROM entities WHERE turn % 5 = 0`,
		`UPDATE session_meta SET cwd = NULL, first_turn_at = 'false'`,
	} {
		if _, err := db.Exec(stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
}
