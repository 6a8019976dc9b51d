package search

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/store"
)

// TestDistinctKeysAreThoseOfAllSessions compares the steps along the index with
// a look at every session.
func TestDistinctKeysAreThoseOfAllSessions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, err := store.OpenWriter(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rnd := rand.New(rand.NewPCG(5, 7))
	pick := func(of string, n int) sql.NullString {
		i := rnd.IntN(n)
		return sql.NullString{String: of + string(rune('a'+i)), Valid: i > 0}
	}
	const every = `SELECT DISTINCT coalesce(project, ''), coalesce(project_pre_worktree, '') FROM session_meta
		WHERE project IS NOT NULL OR project_pre_worktree IS NOT NULL ORDER BY 1, 2`
	for i := range 120 {
		if _, err := db.Exec(`INSERT INTO sessions(session_key, session_no, harness) VALUES (?, ?, 'claude')`, fmt.Sprint(i), i); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(`INSERT INTO session_meta(session_key, transcript_path, checksum, stream_len, project, project_pre_worktree)
			VALUES (?, '', x'', 0, ?, ?)`, fmt.Sprint(i), pick("/p/", 5), pick("/w/", 1+rnd.IntN(6))); err != nil {
			t.Fatal(err)
		}
		got, want := pairs(t, db, distinctKeys), pairs(t, db, every)
		if got != want {
			t.Fatalf("after %d sessions: %s, want %s", i+1, got, want)
		}
		coverAlike(t, dir)
	}
}

// coverAlike compares the keys above a directory with all of them.
func coverAlike(t *testing.T, dataDir string) {
	t.Helper()
	r, err := Open(t.Context(), &config.Config{DataDir: dataDir, Exclude: &config.Exclusions{}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/p/b", "/p/c/d/e", "/w/b/", "/w//c/d", "/q", "/", "/p/./d", "/p/b/../c", "p/b"} {
		forms := []string{dir, "/w/d/x"}
		near, err := s.keysAbove(t.Context(), forms)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := covering(near, forms), covering(all, forms); !slices.Equal(got, want) {
			t.Fatalf("%s lies in %q, by all keys in %q", dir, got, want)
		}
	}
}

func pairs(t *testing.T, db *store.DB, query string) string {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var p, w string
		if err := rows.Scan(&p, &w); err != nil {
			t.Fatal(err)
		}
		out = append(out, p+"|"+w)
	}
	return fmt.Sprintf("%q", out)
}
