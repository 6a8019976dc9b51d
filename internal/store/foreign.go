package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// A Foreign is another program's database, open for reading. Nothing of it is
// changed, and no file is made beside it.
type Foreign struct {
	*sql.DB
	path string
	seen []fsx.Stat // of the files, where nothing else tells that they changed
	temp string     // a copy's directory, "" where the files themselves are read
}

// ErrUnsettled means that another program kept writing its database while it was
// read, so that what was read is no state of it. It may be tried again.
var ErrUnsettled = errors.New("it is being written; it is read again by a later pass")

const (
	foreignTimeout = 5 * time.Second // for the other program's locks
	copyTries      = 3
	headerBytes    = 100
	magic          = "SQLite format 3\x00" // begins every database
	writeVersion   = 18                    // of the header: walVersion where the database is in WAL mode
	walVersion     = 2
)

// What SQLite names the files that stand beside a database: the log, its index, and the journal.
const (
	walEnd     = "-wal"
	indexEnd   = "-shm"
	journalEnd = "-journal"
)

// MaxForeignValue bounds a value of another program's database, and a row of it, in bytes. A
// column that is computed can be a gigabyte where nothing stands. Of what is longer only the
// length is told: to ask for more is an error that TooBig knows.
const MaxForeignValue = 64 << 20

// TooBig reports whether err says that a value is longer than MaxForeignValue.
func TooBig(err error) bool {
	var se *sqlite.Error
	return errors.As(err, &se) && se.Code()&0xff == sqlite3.SQLITE_TOOBIG
}

// OpenForeign opens the database of another program at an absolute path. What
// its write-ahead log holds is part of it. How it is read depends on what stands
// beside it:
//
//   - with a log and its index, under the locks of SQLite, and the index is not
//     written;
//   - in WAL mode without either, as the file stands (Close tells whether it was
//     changed meanwhile);
//   - with a log alone, as the files stand, the index being made in memory (Close tells
//     as well);
//   - with a journal of a program that died, as a copy in a directory of its own, in
//     which SQLite may put it to its place;
//   - in any other mode, under the locks of SQLite, which makes no file for that.
//
// The error is fs.ErrNotExist where there is no file, and names the path in any case.
func OpenForeign(ctx context.Context, path string) (*Foreign, error) {
	f, err := openForeign(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func openForeign(ctx context.Context, path string) (*Foreign, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("the path is not absolute")
	}
	wal, err := inWALMode(path)
	if err != nil {
		return nil, err
	}
	// SQLite opens what stands beside a database, and would wait for whoever writes to a pipe.
	for _, suffix := range []string{walEnd, indexEnd, journalEnd} {
		if info, err := os.Lstat(path + suffix); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s beside it: %w", filepath.Base(path)+suffix, fsx.ErrNotRegular)
		}
	}
	logged, indexed, journal := holds(path+walEnd), exists(path+indexEnd), holds(path+journalEnd)
	switch {
	case journal:
		return openCopied(ctx, path)
	case wal && !logged:
		return openStanding(ctx, path, "mode=ro&immutable=1")
	case wal && !indexed:
		// A program that opens it meanwhile makes an index and may write: what keeps
		// those that read and those that write apart is that index, so that without
		// one there is nothing to lock.
		f, err := openStanding(ctx, path, "mode=ro&vfs="+unlocked, "locking_mode(exclusive)")
		if err != nil && ctx.Err() == nil {
			return openCopied(ctx, path)
		}
		return f, err
	case wal:
		f, err := openForeignAt(ctx, path, "mode=ro&readonly_shm=1")
		if err != nil && ctx.Err() == nil {
			return openCopied(ctx, path)
		}
		return f, err
	}
	return openForeignAt(ctx, path, "mode=ro")
}

// openStanding opens files that nothing locks: whether they changed is told by their stats.
func openStanding(ctx context.Context, path, query string, pragmas ...string) (*Foreign, error) {
	before, err := stats(path)
	if err != nil {
		return nil, err
	}
	f, err := openForeignAt(ctx, path, query, pragmas...)
	if err != nil {
		return nil, err
	}
	if f.seen, err = stats(path); err == nil && !sameStats(before, f.seen, sameContent) {
		err = ErrUnsettled
	}
	if err != nil {
		_ = f.DB.Close()
		return nil, err
	}
	return f, nil
}

// sameContent compares but the time of the last change of a file's attributes: for root,
// SQLite sets the owner of a log that it opens to whom it has.
func sameContent(a, b fsx.Stat) bool {
	a.Ctime, b.Ctime = 0, 0
	return a == b
}

func sameStat(a, b fsx.Stat) bool { return a == b }

// inWALMode reads the mode of a database. What is none is an error.
func inWALMode(path string) (bool, error) {
	file, _, err := fsx.OpenRegular(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	var head [headerBytes]byte
	if _, err := io.ReadFull(file, head[:]); err != nil || !bytes.HasPrefix(head[:], []byte(magic)) {
		return false, errors.New("it is not a SQLite database")
	}
	return head[writeVersion] == walVersion, nil
}

func holds(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() > 0
}

// openForeignAt opens a database. The pragmas given come first: the mode of locking is to be
// known before the log is looked at.
func openForeignAt(ctx context.Context, path, query string, pragmas ...string) (*Foreign, error) {
	// A schema of somebody else's may call nothing but what SQLite holds harmless.
	db, err := sql.Open("sqlite", dsn(path, query, append(pragmas, "query_only(1)", "trusted_schema(0)", "cell_size_check(1)",
		fmt.Sprintf("busy_timeout(%d)", foreignTimeout.Milliseconds()))...))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := limited(ctx, db); err != nil {
		_ = db.Close()
		return nil, err
	}
	var tables int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
		_ = db.Close()
		return nil, err
	}
	return &Foreign{DB: db, path: path}, nil
}

// limited bounds what a value of the database may take in memory.
func limited(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	_, err = sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, MaxForeignValue)
	return errors.Join(err, conn.Close())
}

// foreignFiles are the files of a database that hold data.
func foreignFiles(path string) []string { return []string{path, path + walEnd, path + journalEnd} }

func stats(path string) ([]fsx.Stat, error) {
	var all []fsx.Stat
	for _, name := range foreignFiles(path) {
		info, err := os.Stat(name)
		switch {
		case err == nil:
			all = append(all, fsx.StatOf(info))
		case errors.Is(err, os.ErrNotExist) && name != path:
			all = append(all, fsx.Stat{})
		default:
			return nil, err
		}
	}
	return all, nil
}

func sameStats(a, b []fsx.Stat, same func(a, b fsx.Stat) bool) bool {
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// openCopied reads a copy of the files that was made while none of them changed.
func openCopied(ctx context.Context, path string) (*Foreign, error) {
	temp, err := os.MkdirTemp("", "terminus-read-")
	if err != nil {
		return nil, err
	}
	copied := filepath.Join(temp, "copy.db")
	for range copyTries {
		if err = copyFiles(ctx, path, copied); !errors.Is(err, ErrUnsettled) {
			break
		}
	}
	var f *Foreign
	if err == nil {
		f, err = openForeignAt(ctx, copied, "mode=rw")
	}
	if err != nil {
		_ = os.RemoveAll(temp)
		return nil, err
	}
	f.temp = temp
	// Where an open file needs no name, a process that is killed leaves no copy behind.
	if runtime.GOOS != "windows" && os.RemoveAll(temp) == nil {
		f.temp = ""
	}
	return f, nil
}

func copyFiles(ctx context.Context, path, to string) error {
	before, err := stats(path)
	if err != nil {
		return err
	}
	copies := foreignFiles(to)
	for i, name := range foreignFiles(path) {
		_ = os.Remove(copies[i])
		if before[i] == (fsx.Stat{}) {
			continue
		}
		if err := copyFile(ctx, name, copies[i]); err != nil {
			return err
		}
	}
	after, err := stats(path)
	if err != nil {
		return err
	}
	if !sameStats(before, after, sameStat) {
		return ErrUnsettled
	}
	return alone(to + journalEnd)
}

// journalMagic begins a journal, and ends one that names the journal of a transaction over
// several databases.
var journalMagic = []byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}

// maxJournalName is longer than any path that SQLite takes.
const maxJournalName = 64 << 10

// alone makes a copied journal one of its own. SQLite puts back what is in one that names
// another, if that is there, and then removes the other, which is not ours: such a journal
// loses the name. One whose other is not there stays: its transaction was committed.
func alone(journal string) error {
	f, err := os.OpenFile(journal, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	at, err := nameOfOther(f)
	if err == nil && at > 0 {
		err = f.Truncate(at)
	}
	return errors.Join(err, f.Close())
}

// nameOfOther is where a journal names another one that is there, 0 where it does not. It ends
// with the name, its length, a sum of it, and the magic.
func nameOfOther(f *os.File) (int64, error) {
	size, err := f.Seek(0, io.SeekEnd)
	var end [16]byte
	if err != nil || size < int64(len(end)) {
		return 0, err
	}
	at := size - int64(len(end))
	if _, err := f.ReadAt(end[:], at); err != nil {
		return 0, err
	}
	n := int64(binary.BigEndian.Uint32(end[:]))
	if !bytes.Equal(end[8:], journalMagic) || n == 0 || n > maxJournalName || n > at {
		return 0, nil
	}
	name := make([]byte, n)
	if _, err := f.ReadAt(name, at-n); err != nil {
		return 0, err
	}
	name, _, _ = bytes.Cut(name, []byte{0})
	if !exists(string(name)) {
		return 0, nil
	}
	return at - n, nil
}

func copyFile(ctx context.Context, from, to string) error {
	in, _, err := fsx.OpenRegular(from)
	if errors.Is(err, os.ErrNotExist) {
		return ErrUnsettled
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := fsx.CreateOwner(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, readerIn{ctx, in})
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

// A readerIn ends with its context.
type readerIn struct {
	ctx context.Context
	r   io.Reader
}

func (r readerIn) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Close closes the database. The error is ErrUnsettled where what was read may be no
// state that the database ever had.
func (f *Foreign) Close() error {
	err := f.DB.Close()
	if f.temp != "" {
		_ = os.RemoveAll(f.temp)
	}
	if f.seen != nil {
		if now, e := stats(f.path); e != nil || !sameStats(f.seen, now, sameStat) {
			return fmt.Errorf("%s: %w", f.path, ErrUnsettled)
		}
	}
	return err
}
