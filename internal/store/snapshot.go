package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
)

const (
	snapshotFolder = "snapshots"
	// snapshotForm is a snapshot's name as a time layout: names in the order of their
	// bytes are in the order of their times.
	snapshotForm = "terminus-20060102T150405.000Z.db"
	// snapshotLock is beside the ingest lock, for a snapshot is made without that: it
	// keeps two from being made at once, and the store from being replaced meanwhile.
	snapshotLock = "LOCK"
	// snapshotStamp is the row of meta that holds when the newest was made, in unix
	// seconds.
	snapshotStamp = "last_snapshot_at"
	// snapshotRoom is how many times its own size must be free to copy a store: the
	// copy, and as much again for the machine and the passes to come.
	snapshotRoom = 2
	// journalSuffix ends the name of the file beside a database that is written by VACUUM.
	journalSuffix = "-journal"
	// snapshotPoll is how often the size of a copy is looked at to tell its progress.
	snapshotPoll = 200 * time.Millisecond
)

// A Snapshot is a copy of the store as it was at one moment: a whole database of its
// own, in one file, without a log.
type Snapshot struct {
	Name  string // its file, below the folder of snapshots
	Path  string
	Taken time.Time // as its name says
	Bytes int64
}

// Snapshots lists the snapshots in a data directory, the newest first. What has
// another name is somebody else's and not listed. Without any it is empty.
func Snapshots(dataDir string) ([]Snapshot, error) {
	dir := filepath.Join(dataDir, snapshotFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the snapshots: %w", err)
	}
	var all []Snapshot
	for _, e := range entries {
		taken, ours := snapshotTime(e.Name())
		if !ours || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // a pass has removed it
		}
		if err != nil {
			return nil, fmt.Errorf("list the snapshots: %w", err)
		}
		all = append(all, Snapshot{e.Name(), filepath.Join(dir, e.Name()), taken, info.Size()})
	}
	slices.Reverse(all) // ReadDir sorts by name
	return all, nil
}

// snapshotTime is when a snapshot was taken, by its name.
func snapshotTime(name string) (taken time.Time, ours bool) {
	taken, err := time.Parse(snapshotForm, name)
	return taken, err == nil && taken.Format(snapshotForm) == name
}

// LockSnapshots makes sure that no snapshot is being made until the lock is given
// back. It does not wait: the error wraps fsx.ErrLocked while one is, and
// fs.ErrNotExist where none has ever been.
func LockSnapshots(dataDir string) (*fsx.Lock, error) {
	lock, err := fsx.Acquire(filepath.Join(dataDir, snapshotFolder, snapshotLock))
	if errors.Is(err, fsx.ErrLocked) {
		err = fmt.Errorf("a snapshot is being made, try again in a moment: %w", err)
	}
	return lock, err
}

// NoSnapshotRuns is nil while no snapshot is being made; else its error wraps
// fsx.ErrLocked. Whoever holds the ingest lock is right until it is given back, but for
// a pass that gave it back an instant ago.
func NoSnapshotRuns(dataDir string) error {
	lock, err := LockSnapshots(dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return lock.Unlock()
}

// SnapshotDue reports whether the store has no snapshot, or none that is younger than
// every. One from the future was made under a wrong clock and does not count.
func SnapshotDue(ctx context.Context, q Reading, now time.Time, every time.Duration) (bool, error) {
	var text string
	err := q.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, snapshotStamp).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	last, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return true, nil // nobody can tell when
	}
	age := now.Sub(time.Unix(last, 0))
	return age < 0 || age >= every, nil
}

// SnapshotsUntil tells until when, at the earliest, what is deleted now stands in a
// snapshot: the newest goes once keep others have been made, and those are not made
// faster than every. held is false where there is no snapshot that could hold it.
func SnapshotsUntil(dataDir string, every time.Duration, keep int) (until time.Time, held bool, err error) {
	all, err := Snapshots(dataDir)
	if err != nil || len(all) == 0 {
		return time.Time{}, false, err
	}
	return all[0].Taken.Add(every * time.Duration(keep)), true, nil
}

// RoomForSnapshot is nil where the disk has room for a snapshot, and for as much
// again. What cannot be measured is found out by writing.
func RoomForSnapshot(dataDir string) error {
	need := uint64(Size(Path(dataDir))) * snapshotRoom
	free, err := fsx.FreeSpace(filepath.Join(dataDir, snapshotFolder))
	if err != nil || free >= need {
		return nil
	}
	return fmt.Errorf("%d MB are free, and twice the size of the store, %d MB, must be", free>>20, need>>20)
}

// SnapshotOptions say what snapshot is to be made.
type SnapshotOptions struct {
	DataDir string
	// Now is the time of the snapshot.
	Now time.Time
	// Every is the age that the newest one must have reached, and Keep how many stay,
	// the new one included.
	Every time.Duration
	Keep  int
	// Progress, if not nil, is told how many bytes of the copy are done.
	Progress func(done, total int64)
}

// TakeSnapshot makes a snapshot if one is due, and then removes the oldest. It takes
// the lock of snapshots, not the ingest lock: passes go on meanwhile, and what they
// commit while it is made is not in it. made is false where none is due by now, or
// another process is making one.
//
// The copy is VACUUM INTO's: it holds no free page, and nothing that was deleted. It
// gets its name when it is whole, opens and is on the disk; killed before, a
// temporary file is left, which the next one removes. An error with made set is that
// of noting when it was made, or of removing the oldest.
func TakeSnapshot(ctx context.Context, o SnapshotOptions) (made bool, err error) {
	if err := fsx.MkdirOwner(filepath.Join(o.DataDir, snapshotFolder)); err != nil {
		return false, err
	}
	lock, err := LockSnapshots(o.DataDir)
	if errors.Is(err, fsx.ErrLocked) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = lock.Unlock() }()
	path := Path(o.DataDir)
	db, err := sql.Open("sqlite", dsn(path, "mode=rw&_txlock=immediate", "secure_delete(1)", "synchronous(1)", "temp_store(2)", "wal_autocheckpoint(0)"))
	if err != nil {
		return false, wrap("open", path, err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	due, err := SnapshotDue(ctx, db, o.Now, o.Every) // again: another process may have made one
	if err != nil || !due {
		return false, asStoreError("read", path, err)
	}
	dir := filepath.Join(o.DataDir, snapshotFolder)
	name := o.Now.UTC().Format(snapshotForm)
	sweepTemps(dir)
	if err := copyInto(ctx, db, filepath.Join(dir, name), o.Progress); err != nil {
		return false, asStoreError("copy", path, err)
	}
	_, err = db.ExecContext(ctx, `INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value`,
		snapshotStamp, strconv.FormatInt(o.Now.Unix(), 10))
	if err != nil {
		return true, asStoreError("write", path, err)
	}
	return true, prune(o.DataDir, name, o.Keep)
}

// copyInto writes a copy of an open store to path.
func copyInto(ctx context.Context, db *sql.DB, path string, progress func(done, total int64)) error {
	f, err := fsx.CreateTemp(path) // SQLite fills an empty file, and leaves its mode
	if err != nil {
		return err
	}
	temp := f.Name()
	err = f.Close()
	if err == nil {
		stop := watch(ctx, db, temp, progress)
		_, err = db.ExecContext(ctx, `VACUUM INTO ?`, temp)
		stop()
	}
	if err == nil {
		err = opens(ctx, temp)
	}
	if err == nil {
		err = force(temp)
	}
	if err != nil {
		_ = os.Remove(temp)
		_ = os.Remove(temp + journalSuffix)
		return err
	}
	return fsx.Replace(temp, path)
}

// force brings a file to the disk.
func force(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// watch tells progress how far a copy is, until stop is called.
func watch(ctx context.Context, db *sql.DB, temp string, progress func(done, total int64)) (stop func()) {
	var pages, free, size int64
	for pragma, n := range map[string]*int64{"page_count": &pages, "freelist_count": &free, "page_size": &size} {
		if progress == nil || db.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(n) != nil {
			return func() {}
		}
	}
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(snapshotPoll)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				if info, err := os.Stat(temp); err == nil {
					progress(info.Size(), (pages-free)*size)
				}
			}
		}
	}()
	return func() { close(end); <-done }
}

// opens is nil where a file without a log is a store that this build reads. It makes
// no file.
func opens(ctx context.Context, path string) error {
	db, err := OpenCopy(ctx, path)
	if err != nil {
		return err
	}
	return db.Close()
}

// OpenCopy opens a snapshot, or another copy of a store that nobody writes to and
// that has no log. It makes no file. ErrNoStore where there is nothing in it.
func OpenCopy(ctx context.Context, path string) (*DB, error) {
	if err := absolute(path); err != nil {
		return nil, err
	}
	if err := present(path); err != nil {
		return nil, err
	}
	return openReadOnly(ctx, path, true)
}

// sweepTemps removes what a killed process left in the folder of snapshots.
func sweepTemps(dir string) {
	entries, _ := os.ReadDir(dir) // what cannot be listed cannot be swept
	for _, e := range entries {
		temp, _ := filepath.Match(fsx.TempPattern, strings.TrimSuffix(e.Name(), journalSuffix))
		if temp {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// prune removes all snapshots but those with the keep greatest names, and never the
// one that was just made.
func prune(dataDir, made string, keep int) error {
	all, err := Snapshots(dataDir)
	if err != nil || len(all) <= keep {
		return err
	}
	for _, s := range all[keep:] {
		if s.Name == made {
			continue
		}
		if err := os.Remove(s.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an old snapshot: %w", err)
		}
	}
	return nil
}

// ReplacedMark is what stands between the database's name and the time in the name of one that
// a restore has replaced. What begins with the database's name and a hyphen goes with the archive
// when that is deleted.
const ReplacedMark = "-replaced-"

// Replaced lists the databases of dataDir that a restore has replaced, without their logs.
func Replaced(dataDir string) (paths []string) {
	entries, _ := os.ReadDir(dataDir) // what cannot be listed is not known
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), FileName+ReplacedMark) && strings.HasSuffix(e.Name(), "Z") {
			paths = append(paths, filepath.Join(dataDir, e.Name()))
		}
	}
	return paths
}
