package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// footprint measures a store and asks that its parts add up.
func footprint(t *testing.T, q Reading) map[string]int64 {
	t.Helper()
	size, parts, err := Footprint(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]int64{}
	for _, p := range parts {
		if _, twice := byName[p.Name]; twice {
			t.Errorf("%s stands there twice", p.Name)
		}
		byName[p.Name] = p.Bytes
		size -= p.Bytes
	}
	if size != 0 {
		t.Errorf("the parts are %d bytes short", size)
	}
	if n := len(parts); parts[n-1].Name == FreePages {
		parts = parts[:n-1]
	} else {
		parts = parts[:n-2]
	}
	if !slices.IsSortedFunc(parts, func(a, b Part) int { return int(b.Bytes - a.Bytes) }) {
		t.Errorf("not the biggest first: %v", parts)
	}
	return byName
}

func TestAFootprintAddsUpInEveryState(t *testing.T) {
	dir := t.TempDir()
	db, err := OpenWriter(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := footprint(t, db); got["sessions"] == 0 || got["sqlite_schema"] == 0 || got[FreePages] != 0 || got[LockPage] != 0 {
		t.Errorf("a new store: %v", got)
	}

	exec(t, db.DB, `CREATE TABLE big(id INTEGER PRIMARY KEY, a TEXT, b BLOB)`)
	exec(t, db.DB, `CREATE INDEX big_a ON big(a)`)
	exec(t, db.DB, `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300)
		INSERT INTO big SELECT i, printf('%0200d', i), zeroblob(i * 100) FROM n`)
	if db.WALBytes() == 0 {
		t.Fatal("everything is home already")
	}
	reader, err := OpenReader(context.Background(), db.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	tx, err := reader.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	full := footprint(t, tx)
	if full["big"] < 300*150*100 || full["big_a"] != 0 {
		t.Errorf("with what is in the log: %v", full)
	}
	exec(t, db.DB, `DELETE FROM big`)
	if again := footprint(t, tx); again["big"] != full["big"] {
		t.Errorf("one transaction sees %d and %d", full["big"], again["big"])
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if got := footprint(t, reader); got[FreePages] < 300*150*100 {
		t.Errorf("with free pages: %v", got)
	}
	exec(t, db.DB, `VACUUM`)
	if got := footprint(t, reader); got[FreePages] != 0 {
		t.Errorf("after a vacuum: %v", got)
	}
}

// A database of more than a gibibyte, most of which is one hole in the file: free
// pages, which nobody reads.
func TestAFootprintKnowsTheLockPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge.db")
	const size, lockPage = 65536, pendingByte/65536 + 1
	db, err := sql.Open("sqlite", dsn(path, "mode=rwc"))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, `PRAGMA page_size = 65536`)
	exec(t, db, `CREATE TABLE t(a)`)
	var used int
	if err := db.QueryRow(`PRAGMA page_count`).Scan(&used); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, total := range []int{lockPage - 1, lockPage + 1, lockPage + 2000} {
		enlarge(t, path, size, used, total, lockPage)
		if db, err = sql.Open("sqlite", dsn(path, "mode=ro")); err != nil {
			t.Fatal(err)
		}
		got := footprint(t, db)
		free, lock := total-used, 0
		if total > lockPage {
			free, lock = free-1, size
		}
		if got[FreePages] != int64(free)*size || got[LockPage] != int64(lock) || got["t"] != size {
			t.Errorf("%d pages: %v", total, got)
		}
		var ok string
		if err := db.QueryRow(`PRAGMA quick_check`).Scan(&ok); err != nil || ok != "ok" {
			t.Errorf("the database is none: %s %v", ok, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// enlarge gives a database free pages, up to total pages.
func enlarge(t *testing.T, path string, size int64, used, total, lockPage int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(total) * size); err != nil {
		t.Fatal(err)
	}
	put := func(at int64, n int) {
		if _, err := f.WriteAt(binary.BigEndian.AppendUint32(nil, uint32(n)), at); err != nil {
			t.Fatal(err)
		}
	}
	var free []int
	for n := used + 1; n <= total; n++ {
		if n != lockPage {
			free = append(free, n)
		}
	}
	put(28, total)
	put(32, free[0])
	put(36, len(free))
	for perTrunk := int(size/4) - 8; len(free) > 0; {
		trunk := int64(free[0]-1) * size
		leaves := free[1:min(len(free), perTrunk)]
		free = free[1+len(leaves):]
		next := 0
		if len(free) > 0 {
			next = free[0]
		}
		put(trunk, next)
		put(trunk+4, len(leaves))
		for i, n := range leaves {
			put(trunk+8+int64(i)*4, n)
		}
	}
}

func TestAFootprintThatDoesNotAddUpIsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "short.db")
	db, err := sql.Open("sqlite", dsn(path, "mode=rwc"))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, `CREATE TABLE t(a)`)
	exec(t, db, `CREATE TABLE u(a)`)
	exec(t, db, `PRAGMA writable_schema = ON`)
	exec(t, db, `DELETE FROM sqlite_schema WHERE name = 'u'`)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = sql.Open("sqlite", dsn(path, "mode=ro")); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, _, err := Footprint(context.Background(), db); !IsKind(err, Damaged) {
		t.Errorf("%v", err)
	}
}
