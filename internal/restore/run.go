package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/store"
)

const (
	keptTime = "20060102T150405.000Z"
	// reserve is what must stay free beside the copy of the snapshot.
	reserve = 64 << 20
)

// The files beside a database that belong to it: its log, its shared memory, and the
// journal of a first run that was killed.
const (
	logSuffix     = "-wal"
	memorySuffix  = "-shm"
	journalSuffix = "-journal"
)

// A point is a moment at which an end leaves something else behind.
type point string

const (
	copied  point = "copied"  // the copy of the snapshot is on the disk
	kept    point = "kept"    // the old store has its second name
	cleared point = "cleared" // the old log is away
	swapped point = "swapped" // the new store stands in its place
	settled point = "settled" // nothing of the old one stands beside it
)

func (p *Plan) reached(at point) {
	if p.o.at != nil {
		p.o.at(at)
	}
}

// Run puts the snapshot in the place of the store and returns under which name the
// old one is kept, "" where there was none. It takes the ingest lock, and makes sure
// that no snapshot is being made: where it cannot, the error is a *ingest.LockedError,
// or wraps fsx.ErrLocked.
//
// Any error means that the old store is where it was, unless it is a *DoneError.
func (p *Plan) Run(ctx context.Context) (keptAs string, err error) {
	name := filepath.Join(p.o.DataDir, ingest.LockName)
	lock, held, err := fsx.TryLock(name)
	if held {
		return "", &ingest.LockedError{Path: name}
	}
	if err != nil {
		return "", fmt.Errorf("take the ingest lock: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	making, err := store.LockSnapshots(p.o.DataDir)
	if err != nil {
		return "", err
	}
	defer func() { _ = making.Unlock() }()

	p.dropTwins()
	temp, err := p.copySnapshot(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(temp) }() // gone by then if all went well
	p.reached(copied)
	err = store.Settle(ctx, p.Store)
	if store.IsKind(err, store.Locked) || store.IsKind(err, store.Full) || ctx.Err() != nil {
		return "", err
	}
	old := p.keptName()
	there, err := p.keep(old)
	if err != nil {
		return "", err
	}
	if there {
		keptAs = old
	}
	p.reached(kept)
	if err := p.swap(temp, old); err != nil {
		if done := (*DoneError)(nil); errors.As(err, &done) {
			return keptAs, err
		}
		return "", err
	}
	p.reached(settled)
	// Opened for writing once, it is in the mode that every other store is in.
	db, err := store.OpenWriter(context.WithoutCancel(ctx), p.o.DataDir)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return keptAs, &DoneError{err}
	}
	return keptAs, nil
}

// A DoneError is a failure after the snapshot took the store's place.
type DoneError struct{ Err error }

func (e *DoneError) Error() string {
	return "the snapshot stands in the store's place, but: " + e.Err.Error()
}

func (e *DoneError) Unwrap() error { return e.Err }

// copySnapshot copies the snapshot beside the store. A killed one's copy is removed by
// the next pass.
func (p *Plan) copySnapshot(ctx context.Context) (temp string, err error) {
	src, _, err := fsx.OpenRegular(p.Snapshot.Path)
	if err != nil {
		return "", err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return "", err
	}
	if !os.SameFile(info, p.stat) || info.Size() != p.stat.Size() || !info.ModTime().Equal(p.stat.ModTime()) {
		return "", fmt.Errorf("the snapshot %s has changed since it was checked", p.Snapshot.Name)
	}
	if free, err := fsx.FreeSpace(p.o.DataDir); err == nil && free < uint64(info.Size())+reserve {
		return "", fmt.Errorf("%s has room for %d MB, and %d MB are needed", p.o.DataDir, free>>20, (info.Size()+reserve)>>20)
	}
	dst, err := fsx.CreateTemp(p.Store)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(dst, &reader{ctx, src})
	if err == nil {
		err = dst.Sync()
	}
	if closeErr := dst.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(dst.Name())
		return "", fmt.Errorf("copy the snapshot %s: %w", p.Snapshot.Name, err)
	}
	return dst.Name(), nil
}

// reader reads until the context ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

// keptName is a name that nothing has: what was kept before may be the only copy of it.
func (p *Plan) keptName() string {
	for at := p.o.Now.UTC(); ; at = at.Add(time.Millisecond) {
		name := p.Store + store.ReplacedMark + at.Format(keptTime)
		if !exists(name) && !exists(name+logSuffix) && !exists(name+journalSuffix) {
			return name
		}
	}
}

// keep gives the store a second name, and what belongs to it as well. The files stay
// where they are. there is false where there is no store.
func (p *Plan) keep(as string) (there bool, err error) {
	for _, suffix := range []string{"", logSuffix, journalSuffix} {
		info, err := os.Stat(p.Store + suffix)
		if errors.Is(err, fs.ErrNotExist) || err == nil && suffix != "" && info.Size() == 0 {
			continue
		}
		if err == nil {
			err = link(p.Store+suffix, as+suffix)
		}
		if err != nil {
			p.forgetKept(as)
			return false, fmt.Errorf("keep the store that is there: %w", err)
		}
		there = there || suffix == ""
	}
	return there, fsx.SyncDir(p.o.DataDir)
}

// link gives a file a second name, or copies it where the file system knows no such
// thing.
func link(from, to string) error {
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	src, _, err := fsx.OpenRegular(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := fsx.CreateOwner(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Sync()
	}
	if closeErr := dst.Close(); err == nil {
		err = closeErr
	}
	return err
}

// forgetKept takes the second names back, after a failure.
func (p *Plan) forgetKept(as string) {
	for _, suffix := range []string{"", logSuffix, journalSuffix} {
		_ = os.Remove(as + suffix)
	}
}

// swap puts the copy in the store's place. A log or journal that still holds something
// belongs to a store that cannot be used, and goes before: the new store must not find
// it. After a failure everything is as it was.
func (p *Plan) swap(temp, old string) error {
	for _, suffix := range []string{logSuffix, journalSuffix} {
		if err := remove(p.Store + suffix); err != nil {
			p.putBack(old)
			return inUse(err)
		}
	}
	p.reached(cleared)
	if err := fsx.Replace(temp, p.Store); err != nil {
		p.putBack(old)
		return inUse(err)
	}
	p.reached(swapped)
	// A reader that came in between has made these for the old store.
	for _, suffix := range []string{memorySuffix, logSuffix, journalSuffix} {
		if err := remove(p.Store + suffix); err != nil {
			return &DoneError{inUse(err)}
		}
	}
	if err := fsx.SyncDir(p.o.DataDir); err != nil {
		return &DoneError{err}
	}
	return nil
}

// putBack gives the old log its place again, and takes the second names back.
func (p *Plan) putBack(old string) {
	for _, suffix := range []string{logSuffix, journalSuffix} {
		if _, err := os.Stat(p.Store + suffix); errors.Is(err, fs.ErrNotExist) {
			_ = os.Rename(old+suffix, p.Store+suffix)
		}
	}
	p.forgetKept(old)
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// inUse adds what to do where a system lets nobody replace an open file.
func inUse(err error) error {
	if runtime.GOOS == "windows" {
		return fmt.Errorf("%w: another program may have the store open; end it, and try again", err)
	}
	return err
}

// dropTwins removes the second names that a killed run gave to the store that is still
// in its place: they would take part in everything that is written to it. Where a log
// is kept with them, that may be the only one, and they stay.
func (p *Plan) dropTwins() {
	info, err := os.Stat(p.Store)
	if err != nil {
		return
	}
	entries, _ := os.ReadDir(p.o.DataDir) // what cannot be listed cannot be swept
	for _, e := range entries {
		name := filepath.Join(p.o.DataDir, e.Name())
		if !strings.HasPrefix(e.Name(), store.FileName+store.ReplacedMark) || exists(name+logSuffix) || exists(name+journalSuffix) {
			continue
		}
		if twin, err := os.Lstat(name); err == nil && os.SameFile(info, twin) {
			_ = os.Remove(name)
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
