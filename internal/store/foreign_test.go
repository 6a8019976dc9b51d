package store_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/store"
)

// listing is the content of every file of a directory but the index of a log, whose
// locks SQLite keeps beside its bytes, and of that its bytes too.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

func same(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s was made", name)
		}
	}
	for name, data := range before {
		if after[name] != data {
			t.Errorf("%s was changed", name)
		}
	}
}

// make1 makes a database in that journal mode with one row that was checkpointed and one
// that was not, and returns the connection that holds it open.
func make1(t *testing.T, path, mode string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode("+mode+")&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	for _, q := range []string{`CREATE TABLE m(text)`, `INSERT INTO m VALUES('first')`, `PRAGMA wal_checkpoint(TRUNCATE)`, `INSERT INTO m VALUES('second')`} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func count(t *testing.T, path string) int {
	t.Helper()
	f, err := store.OpenForeign(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := f.QueryRow(`SELECT count(*) FROM m`).Scan(&n); err != nil {
		t.Error(err)
	}
	if _, err := f.Exec(`INSERT INTO m VALUES('third')`); err == nil {
		t.Error("it can be written")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	return n
}

func TestAForeignDatabaseIsReadWholeAndLeftAsItIs(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
	}{
		{"another program holds it open, rows are only in the log", holdOpen},
		{"rolled back journals", func(t *testing.T, path string) { make1(t, path, "delete") }},
		{"closed in order", func(t *testing.T, path string) { _ = make1(t, path, "wal").Close() }},
		{"a log without an index", func(t *testing.T, path string) {
			other := filepath.Join(t.TempDir(), "x.db")
			make1(t, other, "wal")
			copyAll(t, other, path, "", "-wal")
		}},
		{"a log and an index of a program that died", func(t *testing.T, path string) {
			other := filepath.Join(t.TempDir(), "x.db")
			make1(t, other, "wal")
			copyAll(t, other, path, "", "-wal", "-shm")
		}},
		{"a directory that cannot be written", func(t *testing.T, path string) {
			other := filepath.Join(t.TempDir(), "x.db")
			make1(t, other, "wal")
			copyAll(t, other, path, "", "-wal")
			if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a.db")
			tt.make(t, path)
			before := listing(t, dir)
			if n := count(t, path); n != 2 {
				t.Errorf("%d rows, want 2", n)
			}
			same(t, before, listing(t, dir))
		})
	}
}

// holdVariable names the database that a second process of this test holds open.
const holdVariable = "TERMINUS_TEST_HOLD"

// holdOpen lets another process make the database and keep it open.
func holdOpen(t *testing.T, path string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHoldADatabaseOpen$")
	cmd.Env = append(os.Environ(), holdVariable+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
}

func TestHoldADatabaseOpen(t *testing.T) {
	path := os.Getenv(holdVariable)
	if path == "" {
		t.Skip("it is the other process of a test")
	}
	make1(t, path, "wal")
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func copyAll(t *testing.T, from, to string, suffixes ...string) {
	t.Helper()
	for _, s := range suffixes {
		data, err := os.ReadFile(from + s)
		if err == nil {
			err = os.WriteFile(to+s, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAForeignDatabaseThatChangesWhileItIsReadSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	_ = make1(t, path, "wal").Close()
	f, err := store.OpenForeign(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO m VALUES('third')`); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	if err := f.Close(); !errors.Is(err, store.ErrUnsettled) {
		t.Errorf("error %v", err)
	}
}

func TestWhatIsNoForeignDatabaseIsNamed(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ name, content string }{
		{"empty", ""},
		{"text", "no database at all, but a text that is longer than the header of one would be, which is a hundred bytes"},
		{"torn", "SQLite format 3\x00"},
	}
	for _, tt := range tests {
		path := filepath.Join(dir, tt.name)
		if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := store.OpenForeign(context.Background(), path); err == nil {
			t.Errorf("%s is taken", tt.name)
		}
	}
	if _, err := store.OpenForeign(context.Background(), filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing one: %v", err)
	}
}

func TestWhatStandsBesideAForeignDatabaseIsAFile(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		path := filepath.Join(t.TempDir(), "a.db")
		_ = make1(t, path, "delete").Close()
		if err := os.Mkdir(path+suffix, 0o700); err != nil {
			t.Fatal(err)
		}
		if f, err := store.OpenForeign(context.Background(), path); !errors.Is(err, fsx.ErrNotRegular) {
			t.Errorf("%s: %v, %v", suffix, f, err)
		}
	}
}

// A journal that a program left which died in a transaction over several databases names one
// of its own, which the others still need.
func TestTheJournalOfSeveralDatabasesIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a.db"), filepath.Join(dir, "a.db-mj00000A9BC")
	name := append([]byte(other), 0)
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=cache_size(1)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range []string{`CREATE TABLE m(text)`, `INSERT INTO m VALUES('first'), ('second')`, `BEGIN`, `DELETE FROM m`, `CREATE TABLE z AS SELECT hex(zeroblob(200000))`} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	died := filepath.Join(t.TempDir(), "b.db")
	copyAll(t, path, died, "", "-journal")
	sum := uint32(0)
	for _, c := range name {
		sum += uint32(c)
	}
	end := binary.BigEndian.AppendUint32(append([]byte{0, 0, 0, 0}, name...), uint32(len(name)))
	end = append(binary.BigEndian.AppendUint32(end, sum), 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7)
	journal, err := os.ReadFile(died + "-journal")
	if err == nil {
		err = os.WriteFile(died+"-journal", append(journal, end...), 0o600)
	}
	if err == nil {
		err = os.WriteFile(other, []byte(filepath.Join(dir, "none.db-journal")+"\x00"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, died); n != 2 {
		t.Errorf("%d rows, want the 2 from before the transaction", n)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}
