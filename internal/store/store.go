// Package store owns the SQLite database: where it is opened, with which
// pragmas, which schema and versions it has, and how an older one is brought
// forward. It is the only package that imports the driver.
//
// Durability: the database runs in WAL mode with synchronous=NORMAL. A commit
// survives the death of the process at any moment; a power cut may lose the
// newest commits but never damages what was checkpointed, and the next pass
// takes in again what was lost, because watermarks are committed together with
// the bytes that they stand for.
//
// Not promised: safety on network file systems, whose locks SQLite and the
// ingest lock cannot rely on.
package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/terminus-archive/terminus/internal/fsx"
)

// FileName is the database's name inside the data directory.
const FileName = "terminus.db"

// Versions written into meta.
const (
	// ArchiveFormat is the highest archive format that this build reads and
	// writes. A store with a higher one is refused untouched.
	ArchiveFormat = 1
	// DerivedSchema numbers the derivation. A store with any other number is
	// usable and is derived again by the next pass.
	DerivedSchema = 2
)

const (
	busyTimeout = 5 * time.Second // a reader may meet the writer's checkpoint; a commit takes far less
	pageSize    = 8192            // 3 % less load time in the search index than 4096, the same elsewhere
	writerCache = 16 << 10        // KiB of page cache while loading; a page takes nearly twice its size in memory, and more gains nothing
	walLimit    = 8 << 20         // bytes: opening a store after a crash costs 35 ms at 64 MB of WAL
)

//go:embed schema.sql
var schema string

// ErrNoStore means that there is no store yet: the file is missing or empty, or
// a database without any table, as a first run leaves it that was killed.
var ErrNoStore = errors.New("no store")

// Path is where a data directory keeps its database.
func Path(dataDir string) string { return filepath.Join(dataDir, FileName) }

// A DB is an open store.
type DB struct {
	*sql.DB
	// Path is the database file.
	Path string
	// Older reports that the derived tables were made by another build. Reads
	// still answer; the next pass derives them again.
	Older bool
}

// OpenReader opens the store at path for reading. It creates nothing of its
// own and changes nothing (SQLite itself may create the -shm and an empty
// -wal beside a WAL database). ErrNoStore if there is no store yet; any other
// failure is an *Error.
func OpenReader(ctx context.Context, path string) (*DB, error) {
	if err := absolute(path); err != nil {
		return nil, err
	}
	if err := present(path); err != nil {
		return nil, err
	}
	db, err := openReadOnly(ctx, path, false)
	if err != nil && IsKind(err, Other) && !exists(path+"-wal") {
		// A read-only file system has no room for the -shm file. Without a WAL
		// the database file is the whole truth and may be read as it stands.
		db, err = openReadOnly(ctx, path, true)
	}
	return db, err
}

// OpenStill is OpenReader that makes no file, not even those of SQLite: where they
// are not there, the database file is read as it stands. unread reports that a log
// was left out by that, so that what is read is an earlier state. A writer that
// begins meanwhile may make a read fail.
func OpenStill(ctx context.Context, path string) (db *DB, unread bool, err error) {
	log, logErr := os.Stat(path + "-wal")
	logged := logErr == nil && log.Size() > 0
	if logErr == nil && exists(path+"-shm") {
		db, err = OpenReader(ctx, path)
		return db, false, err
	}
	if err := absolute(path); err != nil {
		return nil, false, err
	}
	if err := present(path); err != nil {
		return nil, false, err
	}
	db, err = openReadOnly(ctx, path, true)
	return db, logged, err
}

func present(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoStore
	case err != nil:
		return wrap("open", path, err)
	case !info.Mode().IsRegular():
		return &Error{Op: "open", Path: path, Kind: Damaged, Err: errors.New("it is not a file")}
	case info.Size() == 0:
		return ErrNoStore
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func openReadOnly(ctx context.Context, path string, immutable bool) (*DB, error) {
	query := "mode=ro"
	if immutable {
		query += "&immutable=1"
	}
	registered()
	db, err := sql.Open("sqlite", dsn(path, query, "query_only(1)"))
	if err != nil {
		return nil, wrap("open", path, err)
	}
	v, err := readVersions(ctx, db)
	if err == nil {
		err = v.check(path)
	}
	if halfMade(err, path) {
		err = ErrNoStore
	}
	if errors.Is(err, errNotAStore) {
		if empty, e := hasNoTables(ctx, db); e == nil && empty {
			err = ErrNoStore
		}
	}
	if err != nil {
		_ = db.Close()
		if errors.Is(err, ErrNoStore) {
			return nil, err
		}
		return nil, asStoreError("open", path, err)
	}
	return &DB{DB: db, Path: path, Older: v.derived != DerivedSchema}, nil
}

// OpenWriter opens the store in dataDir for the process that holds the ingest
// lock, creating and bringing it forward as needed. The pool holds a single
// connection: there is one writer. A newer archive format is refused before
// anything is opened for writing.
func OpenWriter(ctx context.Context, dataDir string) (*DB, error) {
	path := Path(dataDir)
	if err := absolute(path); err != nil {
		return nil, err
	}
	if err := fsx.MkdirOwner(dataDir); err != nil {
		return nil, wrap("create", dataDir, err)
	}
	fresh, err := prepare(ctx, path)
	if err != nil {
		return nil, err
	}
	narrow(dataDir)
	pragmas := []string{
		"foreign_keys(1)", "secure_delete(1)", "synchronous(1)", "temp_store(2)",
		fmt.Sprintf("cache_size(-%d)", writerCache),
		"wal_autocheckpoint(0)", fmt.Sprintf("journal_size_limit(%d)", walLimit),
	}
	if !fresh {
		pragmas = append(pragmas, "journal_mode(wal)")
	}
	db, err := sql.Open("sqlite", dsn(path, "mode=rw&_txlock=immediate", pragmas...))
	if err != nil {
		return nil, wrap("open", path, err)
	}
	db.SetMaxOpenConns(1)
	out := &DB{DB: db, Path: path}
	if fresh {
		err = initialise(ctx, db)
	} else {
		err = catchUp(ctx, db)
	}
	var v versions
	if err == nil {
		v, err = readVersions(ctx, db)
	}
	if err != nil {
		_ = db.Close()
		return nil, asStoreError("open", path, err)
	}
	out.Older = v.derived != DerivedSchema
	return out, nil
}

// prepare creates the database file owner-only before SQLite sees it, and
// looks at an existing one through a read-only handle that is closed before a
// writable one exists. It reports whether the store is to be initialised.
func prepare(ctx context.Context, path string) (fresh bool, err error) {
	f, err := fsx.CreateOwner(path)
	if err == nil {
		return true, f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return false, wrap("create", path, err)
	}
	switch err := present(path); {
	case errors.Is(err, ErrNoStore):
		return true, nil
	case err != nil:
		return false, err
	}
	fresh, err = inspect(ctx, path, "mode=ro")
	if halfMade(err, path) {
		// Only a first run that died before it chose the WAL leaves a rollback
		// journal; a handle that may write plays it back.
		fresh, err = inspect(ctx, path, "mode=rw")
	}
	return fresh, asStoreError("open", path, err)
}

// inspect looks at an existing database: is it to be initialised, and if not,
// is it one that this build may open?
func inspect(ctx context.Context, path, mode string) (fresh bool, err error) {
	db, err := sql.Open("sqlite", dsn(path, mode, "query_only(1)"))
	if err != nil {
		return false, err
	}
	defer db.Close()
	if empty, err := hasNoTables(ctx, db); err != nil || empty {
		return empty, err
	}
	v, err := readVersions(ctx, db)
	if err == nil {
		err = v.check(path)
	}
	return false, err
}

// absolute refuses a relative path: an address has no place for one, and would
// name another file.
func absolute(path string) error {
	if filepath.IsAbs(path) {
		return nil
	}
	return &Error{Op: "open", Path: path, Err: errors.New("the path is not absolute")}
}

// dsn builds a file: URI of an absolute path. The path is percent-encoded: in a
// plain path SQLite would take `?` for the start of parameters and drop mode=ro
// with it.
func dsn(path, query string, pragmas ...string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive letter: an absolute path begins with nothing else
	}
	var b strings.Builder
	b.WriteString("file://")
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c == '/' || c == '-' || c == '_' || c == '.' || c == '~' || c == ':' ||
			'0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	b.WriteString("?" + query)
	fmt.Fprintf(&b, "&_pragma=busy_timeout(%d)", busyTimeout.Milliseconds())
	for _, p := range pragmas {
		b.WriteString("&_pragma=" + p)
	}
	return b.String()
}

// hasNoTables reports whether a database is what a first run leaves that died
// before its schema was committed.
func hasNoTables(ctx context.Context, db *sql.DB) (bool, error) {
	var tables int
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables)
	return err == nil && tables == 0, err
}

type versions struct{ archive, derived int }

func (v versions) check(path string) error {
	if v.archive > ArchiveFormat {
		return &Error{
			Op: "open", Path: path, Kind: Newer,
			Err:  fmt.Errorf("the store has archive format %d, this build reads up to %d", v.archive, ArchiveFormat),
			Hint: "install the newest terminus",
		}
	}
	return nil
}

var errNotAStore = errors.New("it is a database, but not a terminus store")

func readVersions(ctx context.Context, db *sql.DB) (versions, error) {
	var v versions
	for key, dst := range map[string]*int{"archive_format": &v.archive, "derived_schema": &v.derived} {
		var text string
		err := db.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, key).Scan(&text)
		if err == nil {
			*dst, err = strconv.Atoi(text)
		}
		switch {
		case err == nil:
		case errors.Is(err, sql.ErrNoRows), errors.Is(err, strconv.ErrSyntax), errors.Is(err, strconv.ErrRange),
			strings.Contains(err.Error(), "no such table"), strings.Contains(err.Error(), "no such column"):
			return v, &Error{Op: "open", Kind: Damaged, Err: errNotAStore}
		default:
			return v, err
		}
	}
	return v, nil
}

func initialise(ctx context.Context, db *sql.DB) error {
	// The page size can be chosen only before the WAL is; the driver runs the
	// pragmas of an address in an order of its own.
	for _, pragma := range []string{fmt.Sprintf("PRAGMA page_size = %d", pageSize), "PRAGMA journal_mode = wal"} {
		if _, err := db.ExecContext(ctx, pragma); err != nil {
			return err
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	for key, value := range map[string]int{
		"archive_format": ArchiveFormat, "derived_schema": DerivedSchema, "next_session_no": 0,
	} {
		if _, err := tx.ExecContext(ctx, `INSERT INTO meta(key, value) VALUES (?, ?)`, key, strconv.Itoa(value)); err != nil {
			return err
		}
	}
	if err := configureSearch(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// WALBytes is the size of the write-ahead log.
func (db *DB) WALBytes() int64 {
	info, err := os.Stat(db.Path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// WALLimit is the size at which the writer checkpoints.
const WALLimit = walLimit

// Size is what the store takes on disk: database, WAL and shared memory file.
func Size(path string) int64 {
	var n int64
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(path + suffix); err == nil {
			n += info.Size()
		}
	}
	return n
}

// narrow takes group and other rights away from what a data directory holds.
func narrow(dataDir string) {
	paths := []string{dataDir}
	for _, name := range []string{FileName, FileName + "-wal", FileName + "-shm", "LOCK"} {
		paths = append(paths, filepath.Join(dataDir, name))
	}
	for _, folder := range []string{"snapshots", "injection", "decisions"} {
		dir := filepath.Join(dataDir, folder)
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue // a link leads to what is not ours
		}
		paths = append(paths, dir)
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.Type().IsRegular() {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	fsx.Narrow(paths...)
}
