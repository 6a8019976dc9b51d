package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A still reader makes no file: without a log it reads all there is; with one that
// only a new side file could open, it says that it has left it out.
func TestAStillReaderMakesNoFile(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "data")
	if _, _, err := OpenStill(ctx, Path(dir)); !errors.Is(err, ErrNoStore) {
		t.Errorf("no store: %v", err)
	}
	db := writer(t, dir)
	exec(t, db.DB, `INSERT INTO meta VALUES ('first', 'x')`)
	exec(t, db.DB, `PRAGMA wal_checkpoint(TRUNCATE)`)
	exec(t, db.DB, `INSERT INTO meta VALUES ('second', 'x')`)
	if got, unread := stillMeta(t, Path(dir)); got != 2 || unread {
		t.Errorf("beside a writer: %d, %v", got, unread)
	}

	// Everything but the shared memory file, as a copy by hand has it.
	part := filepath.Join(t.TempDir(), FileName)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(Path(dir) + suffix)
		if err == nil {
			err = os.WriteFile(part+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, unread := stillMeta(t, part); got != 1 || !unread {
		t.Errorf("with a log that cannot be read: %d, %v", got, unread)
	}
	if exists(part + "-shm") {
		t.Error("a side file was made")
	}

	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(Path(dir) + suffix) // the last connection removes them where it can
	}
	if got, unread := stillMeta(t, Path(dir)); got != 2 || unread {
		t.Errorf("at rest: %d, %v", got, unread)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if _, _, err := OpenStill(ctx, "rel.db"); !IsKind(err, Other) {
		t.Errorf("a relative path: %v", err)
	}
}

// stillMeta counts two rows by a still reader.
func stillMeta(t *testing.T, path string) (n int, unread bool) {
	t.Helper()
	r, unread, err := OpenStill(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.QueryRow(`SELECT count(*) FROM meta WHERE key IN ('first', 'second')`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n, unread
}
