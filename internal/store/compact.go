package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// compactWait is how long Compact waits for readers to let go of the log: longer
// than any one question takes.
const compactWait = 10 * time.Second

// Files are the sizes in bytes of the three files of a store. One that is not
// there has none.
type Files struct{ DB, WAL, SHM int64 }

// Total is what they take on disk.
func (f Files) Total() int64 { return f.DB + f.WAL + f.SHM }

// Measure looks at the files of the store at path. The last two are there while a
// connection is open.
func Measure(path string) Files {
	size := func(suffix string) int64 {
		info, err := os.Stat(path + suffix)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	return Files{DB: size(""), WAL: size("-wal"), SHM: size("-shm")}
}

// LiveBytes is what the pages of the database that are in use take.
func (w *Writer) LiveBytes(ctx context.Context) (int64, error) {
	var all, free, size int64
	for pragma, dst := range map[string]*int64{"page_count": &all, "freelist_count": &free, "page_size": &size} {
		if err := w.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(dst); err != nil {
			return 0, asStoreError("read", w.db.Path, err)
		}
	}
	return (all - free) * size, nil
}

// Compact writes the database anew, without its free pages, and brings the log
// home. On the disk of the store it needs room for LiveBytes twice: SQLite makes
// the new database in a temporary file and copies it back through the log. Killed
// at any moment it leaves the store as it was, or compacted. Readers go on
// meanwhile; homed is false where one of them kept the log from being truncated,
// which the next checkpoint makes up for.
//
// w must not be in a transaction. A process calls it once: where SQLite puts
// temporary files is a setting of the process.
func (w *Writer) Compact(ctx context.Context) (homed bool, err error) {
	dir := strings.ReplaceAll(filepath.Dir(w.db.Path), "'", "''")
	for _, stmt := range []string{
		// Not in memory, where the writer's temporary tables are, nor in a place of
		// the system's that may be small or in memory itself.
		"PRAGMA temp_store = FILE",
		fmt.Sprintf("PRAGMA temp_store_directory = '%s'", dir),
		"VACUUM",
	} {
		if _, err := w.conn.ExecContext(ctx, stmt); err != nil {
			return false, asStoreError("compact", w.db.Path, err)
		}
	}
	return w.Truncate(ctx, compactWait)
}
