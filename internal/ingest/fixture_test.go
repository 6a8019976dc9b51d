package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/store"
)

// A fixture is a home with Claude Code's transcripts and an archive of them.
type fixture struct {
	t         *testing.T
	home      string
	cfg       *config.Config
	harnesses []harness.Harness
	now       time.Time
	db        *store.DB // opened by reader
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	home := t.TempDir()
	cfg, err := config.Load(config.Environ{
		Get: func(name string) string {
			return map[string]string{
				"TERMINUS_DATA_DIR":   filepath.Join(home, "data"),
				"TERMINUS_CONFIG_DIR": filepath.Join(home, "config"),
			}[name]
		},
		Home: home, WorkDir: home, GOOS: "linux",
	})
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, home: home, cfg: cfg, harnesses: registry.All(), now: time.Now()}
}

// path is where a transcript of the project folder -p stands.
func (f *fixture) path(name string) string {
	return filepath.Join(f.home, ".claude", "projects", "-p", filepath.FromSlash(name))
}

// write puts a whole file below the project folder.
func (f *fixture) write(name string, parts ...string) string {
	f.t.Helper()
	path := f.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(parts, "")), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func (f *fixture) append(name string, parts ...string) {
	f.t.Helper()
	file, err := os.OpenFile(f.path(name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(strings.Join(parts, "")); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) options() Options {
	return Options{Config: f.cfg, Harnesses: f.harnesses, Now: func() time.Time { return f.now }}
}

func (f *fixture) pass() Result {
	f.t.Helper()
	res, err := Run(context.Background(), f.options())
	if err != nil {
		f.t.Fatal(err)
	}
	return res
}

func (f *fixture) reader() *store.DB {
	f.t.Helper()
	if f.db == nil {
		db, err := store.OpenReader(context.Background(), store.Path(f.cfg.DataDir))
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(func() { _ = db.Close() })
		f.db = db
	}
	return f.db
}

func (f *fixture) count(query string, args ...any) int {
	f.t.Helper()
	var n int
	if err := f.reader().QueryRow(query, args...).Scan(&n); err != nil {
		f.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// find counts the turns that hold a word.
func (f *fixture) find(word string) int {
	f.t.Helper()
	return f.count(`SELECT count(*) FROM turns_fts WHERE turns_fts MATCH ?`, `"`+word+`"`)
}

// dump renders what a pass over unchanged input must leave alone.
func (f *fixture) dump() string {
	f.t.Helper()
	db := f.reader()
	var out []string
	for _, table := range []string{"sessions", "session_meta", "blocks", "revisions", "extents", "companions", "companion_marks", "watermarks", "turns", "line_index"} {
		rows, err := db.Query(`SELECT * FROM ` + table)
		if err != nil {
			f.t.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				f.t.Fatal(err)
			}
			line := table
			for _, v := range values {
				line += fmt.Sprintf("|%v", *v.(*any))
			}
			out = append(out, line)
		}
		_ = rows.Close()
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}

func (f *fixture) verify(more ...harness.Harness) []archive.Failure {
	f.t.Helper()
	var out []archive.Failure
	lookup := func(id string) (harness.Harness, bool) {
		for _, h := range more {
			if h.ID() == id {
				return h, true
			}
		}
		return registry.ByID(id)
	}
	_, err := archive.Verify(context.Background(), f.reader().DB, &index.Checker{Lookup: lookup},
		func(x archive.Failure) { out = append(out, x) }, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

func (f *fixture) verifyClean(more ...harness.Harness) {
	f.t.Helper()
	if bad := f.verify(more...); len(bad) > 0 {
		f.t.Fatalf("verify finds %+v", bad)
	}
}

// states returns every archived state of a transcript, oldest first.
func (f *fixture) states(path string) []string {
	f.t.Helper()
	ctx := context.Background()
	db := f.reader()
	rows, err := db.Query(`SELECT id FROM revisions WHERE source = ? ORDER BY n`, canonical(f.t, path))
	if err != nil {
		f.t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			f.t.Fatal(err)
		}
		r, err := archive.LoadRevision(ctx, db, id)
		if err != nil {
			f.t.Fatal(err)
		}
		var b strings.Builder
		if err := archive.WriteRevision(ctx, db, r, &b); err != nil {
			f.t.Fatal(err)
		}
		out = append(out, b.String())
	}
	return out
}

func canonical(t *testing.T, path string) string {
	t.Helper()
	p, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(p, filepath.Base(path))
}

func newReader(p []byte) io.Reader { return bytes.NewReader(p) }

// uuid makes the n-th id.
func uuid(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n) }

// user is the smallest valid record that says a text.
func user(n int, text string) string { return record("user", n, text) }

func record(kind string, n int, text string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":%q,"timestamp":"2026-01-02T03:04:05.000Z","sessionId":"s","cwd":"/work/p","message":{"role":%q,"content":%q}}`+"\n", kind, uuid(n), kind, text)
}

// stream returns the whole stream of a session.
func (f *fixture) stream(key string) string {
	f.t.Helper()
	ctx := context.Background()
	db := f.reader()
	s, ok, err := archive.Load(ctx, db, key)
	if err != nil || !ok {
		f.t.Fatalf("session %s: %v, %v", key, ok, err)
	}
	p, err := io.ReadAll(archive.Stream(ctx, db, s.No, s.Tail.StreamLen))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(p)
}
