package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func writer(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := OpenWriter(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, stmts ...string) {
	t.Helper()
	for _, s := range stmts {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestANewStoreIsOwnerOnlyAndReadable(t *testing.T) {
	// The directory's name holds what a URI would take for its own.
	dir := filepath.Join(t.TempDir(), "a b?c#d%41")
	db := writer(t, dir)
	exec(t, db.DB, `INSERT INTO meta VALUES ('k', 'v')`)
	if runtime.GOOS != "windows" {
		for path, want := range map[string]fs.FileMode{dir: 0o700, db.Path: 0o600, db.Path + "-wal": 0o600, db.Path + "-shm": 0o600} {
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has mode %v, want %v (%v)", path, info.Mode().Perm(), want, err)
			}
		}
	}
	r, err := OpenReader(context.Background(), db.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var v string
	if err := r.QueryRow(`SELECT value FROM meta WHERE key = 'k'`).Scan(&v); err != nil || v != "v" {
		t.Fatalf("a reader sees %q, %v", v, err)
	}
	if _, err := r.Exec(`DELETE FROM meta`); err == nil {
		t.Fatal("a reader can write")
	}
	if r.Older {
		t.Error("a new store is said to be older")
	}
	for pragma, want := range map[string]string{"page_size": "8192", "journal_mode": "wal"} {
		var got string
		if err := r.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, want %s (%v)", pragma, got, want, err)
		}
	}
	entries, _ := os.ReadDir(filepath.Dir(dir))
	if len(entries) != 1 {
		t.Errorf("other files were made: %v", entries)
	}
}

func TestWhatIsNoStore(t *testing.T) {
	ctx := context.Background()
	foreign := func(t *testing.T, path string) {
		db, err := sql.Open("sqlite", dsn(path, "mode=rwc"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		exec(t, db, `CREATE TABLE other(x)`)
	}
	headerOnly := func(t *testing.T, path string) {
		db, err := sql.Open("sqlite", dsn(path, "mode=rwc"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		exec(t, db, `PRAGMA page_size = 8192`, `PRAGMA journal_mode = wal`)
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Fatalf("no header was written: %v", err)
		}
	}
	cases := []struct {
		name    string
		make    func(t *testing.T, path string)
		noStore bool // readers: an empty answer; writers: initialise
	}{
		{"missing", func(*testing.T, string) {}, true},
		{"empty", func(t *testing.T, path string) { write(t, path, nil) }, true},
		{"a first run that died before its schema", headerOnly, true},
		{"text", func(t *testing.T, path string) { write(t, path, bytes.Repeat([]byte("not a database "), 500)) }, false},
		{"another program's database", foreign, false},
		{"a directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := Path(dir)
			c.make(t, path)
			before, _ := os.ReadFile(path)
			_, err := OpenReader(ctx, path)
			if errors.Is(err, ErrNoStore) != c.noStore || !c.noStore && !IsKind(err, Damaged) {
				t.Errorf("a reader gets %v", err)
			}
			db, err := OpenWriter(ctx, dir)
			if db != nil {
				defer db.Close()
			}
			if c.noStore != (err == nil) || err != nil && !IsKind(err, Damaged) {
				t.Errorf("a writer gets %v", err)
			}
			if after, _ := os.ReadFile(path); !c.noStore && !bytes.Equal(before, after) {
				t.Error("the refused file was changed")
			}
		})
	}
}

// A relative path would name another database in an address.
func TestARelativePathIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := OpenWriter(context.Background(), "data"); !IsKind(err, Other) || !strings.Contains(err.Error(), "not absolute") {
		t.Errorf("a writer gets %v", err)
	}
	if entries, _ := os.ReadDir("."); len(entries) > 0 {
		t.Errorf("it made %v", entries)
	}
	write(t, "rel.db", []byte("x"))
	if _, err := OpenReader(context.Background(), "rel.db"); !IsKind(err, Other) || !strings.Contains(err.Error(), "not absolute") {
		t.Errorf("a reader gets %v", err)
	}
}

func write(t *testing.T, path string, p []byte) {
	t.Helper()
	if err := os.WriteFile(path, p, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAnInterruptedFirstRunIsInitialisedAgain(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", dsn(Path(dir), "mode=rwc", "journal_mode(wal)"))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, `CREATE TABLE x(y)`, `DROP TABLE x`)
	_ = db.Close()
	again := writer(t, dir)
	exec(t, again.DB, `INSERT INTO turns(id, record_type, stream_offset, byte_len) VALUES (0, 'user', 0, 1)`)
}

// A first run may die while the database is still in rollback mode.
func TestAFirstRunThatLeftARollbackJournalIsInitialisedAgain(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	db, err := sql.Open("sqlite", dsn(Path(from), "mode=rwc", "cache_size(2)", "cache_spill(1)"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	exec(t, db, `PRAGMA user_version = 1`, `BEGIN`, `CREATE TABLE x(y)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO x SELECT zeroblob(4000) FROM n`)
	for _, suffix := range []string{"", "-journal"} {
		p, err := os.ReadFile(Path(from) + suffix)
		if err != nil {
			t.Fatal(err)
		}
		write(t, Path(dir)+suffix, p)
	}
	if _, err := OpenReader(context.Background(), Path(dir)); !errors.Is(err, ErrNoStore) {
		t.Errorf("a reader gets %v", err)
	}
	again := writer(t, dir)
	exec(t, again.DB, `INSERT INTO turns(id, record_type, stream_offset, byte_len) VALUES (0, 'user', 0, 1)`)
}

func TestANewerStoreIsRefusedUntouchedEvenWithAHotWAL(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db := writer(t, dir)
	exec(t, db.DB, `UPDATE meta SET value = '2' WHERE key = 'archive_format'`)
	// The writer stays open, so the change is only in the WAL.
	read := func() [][]byte {
		var out [][]byte
		for _, suffix := range []string{"", "-wal"} {
			p, err := os.ReadFile(db.Path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, p)
		}
		return out
	}
	before := read()
	if _, err := OpenReader(ctx, db.Path); !IsKind(err, Newer) {
		t.Errorf("a reader gets %v", err)
	}
	if _, err := OpenWriter(ctx, dir); !IsKind(err, Newer) {
		t.Errorf("a writer gets %v", err)
	}
	if after := read(); !slices.EqualFunc(before, after, bytes.Equal) {
		t.Error("the refused store was changed")
	}
}

func TestAnotherDerivationIsUsableAndSaidToBeOlder(t *testing.T) {
	for _, version := range []string{"0", "99"} {
		dir := t.TempDir()
		db := writer(t, dir)
		exec(t, db.DB, `UPDATE meta SET value = '`+version+`' WHERE key = 'derived_schema'`)
		r, err := OpenReader(context.Background(), db.Path)
		if err != nil || !r.Older {
			t.Fatalf("version %s: %v", version, err)
		}
		_ = r.Close()
	}
}

// An older build's store is made by taking tables and columns away from a
// present one.
func TestAnOlderSchemaIsBroughtForwardAndKeepsItsRows(t *testing.T) {
	old := addedColumns
	addedColumns = append([]addedColumn{{"runs", "notes", "TEXT"}, {"session_meta", "pending_parent", "BLOB"}}, old...)
	defer func() { addedColumns = old }()
	dir := t.TempDir()
	db := writer(t, dir)
	exec(
		t, db.DB,
		`INSERT INTO runs(started_at) VALUES ('then')`,
		`ALTER TABLE runs DROP COLUMN notes`,
		`DROP INDEX idx_session_meta_pending`, `ALTER TABLE session_meta DROP COLUMN pending_parent`,
		`ALTER TABLE session_meta DROP COLUMN told_cwd`,
		`DROP TABLE tombstones`, `DROP TABLE compaction_boundaries`,
	)
	_ = db.Close()
	again := writer(t, dir)
	var started string
	var notes sql.NullString
	if err := again.QueryRow(`SELECT started_at, notes FROM runs`).Scan(&started, &notes); err != nil || started != "then" {
		t.Fatalf("%q, %v", started, err)
	}
	want := columns(t, writer(t, t.TempDir()))
	if got := columns(t, again); !slices.Equal(got, want) {
		t.Errorf("the upgraded store has\n%v\na new one\n%v", got, want)
	}
	_ = again.Close()
	stat := func() os.FileInfo {
		info, err := os.Stat(Path(dir))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	before := stat()
	third := writer(t, dir)
	_ = third.Close()
	if after := stat(); after.ModTime() != before.ModTime() {
		t.Error("opening a store that lacks nothing writes to it")
	}
}

func columns(t *testing.T, db *DB) []string {
	t.Helper()
	rows, err := db.Query(`SELECT s.name || '.' || c.name FROM sqlite_schema s, pragma_table_info(s.name) c
		WHERE s.type = 'table' ORDER BY s.name, c.cid`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func TestAFullDiskIsNamed(t *testing.T) {
	db := writer(t, t.TempDir())
	exec(t, db.DB, `PRAGMA max_page_count = 60`)
	_, err := db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
		INSERT INTO meta SELECT 'k' || i, hex(zeroblob(2000)) FROM n`)
	if err = Wrap("write", db.Path, err); !IsKind(err, Full) {
		t.Fatalf("got %v", err)
	}
}

func TestAWriterRollsBackWhatItDidNotCommit(t *testing.T) {
	ctx := context.Background()
	db := writer(t, t.TempDir())
	w, err := db.Writer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Begin(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := w.ExecContext(ctx, `INSERT INTO meta VALUES ('k', 'v')`); err != nil {
			t.Fatal(err)
		}
		w.Rollback()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM meta WHERE key = 'k'`).Scan(&n); err != nil || n != 0 {
		t.Fatalf("%d rows stayed, %v", n, err)
	}
}
