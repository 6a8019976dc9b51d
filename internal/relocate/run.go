package relocate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/store"
)

// A DoneError is a failure after the pointer named the new place: the move is done,
// and something of the old place is still there.
type DoneError struct {
	From, To string
	Err      error
}

func (e *DoneError) Error() string {
	return fmt.Sprintf("the archive is at %s now, but %s could not be removed: %v", e.To, e.From, e.Err)
}

func (e *DoneError) Unwrap() error { return e.Err }

// Run carries the plan out. It takes the ingest lock of the source (the error wraps
// fsx.ErrLocked where another process has it) and keeps it until the source is gone.
//
// An error before the pointer is written leaves everything as it was, the copy
// removed again; a *DoneError means that the archive has moved. Either way, and
// wherever the process is ended, running it again goes on.
func (p *Plan) Run(ctx context.Context) error {
	if p.Leftover != "" {
		if err := p.remove(ctx, p.Leftover, p.From, nil); err != nil {
			return err
		}
	}
	if p.Finish {
		if err := p.point(); err != nil {
			return err
		}
		return p.remove(ctx, p.From, p.To, nil)
	}
	if err := fsx.MkdirOwner(p.From); err != nil {
		return err
	}
	lock, err := fsx.Acquire(filepath.Join(p.From, ingest.LockName))
	if err != nil {
		return fmt.Errorf("take the ingest lock: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	if err := store.NoSnapshotRuns(p.From); err != nil {
		return err
	}
	c, err := p.copy(ctx)
	if err != nil {
		return err
	}
	p.o.reached(copied)
	if err := p.point(); err != nil {
		if named, readErr := config.ReadPointer(p.PointerFile()); readErr == nil && named != p.To {
			p.clear() // else the pointer may name the copy, now or after a crash
		}
		return err
	}
	p.o.reached(switched)
	return p.remove(context.WithoutCancel(ctx), p.From, p.To, &locked{lock, c})
}

// copy makes the copy, whole and proven, and takes it away again where it fails.
func (p *Plan) copy(ctx context.Context) (*copier, error) {
	m, err := markerOf(p.From)
	if err != nil {
		return nil, err
	}
	if p.Again {
		if err := p.clearAgain(); err != nil {
			return nil, err
		}
	}
	_, err = os.Stat(p.To)
	made := errors.Is(err, fs.ErrNotExist)
	c := &copier{from: p.From, to: p.To, total: p.Bytes, progress: p.o.Progress, reached: p.o.reached}
	if err = fsx.MkdirOwner(p.To); err == nil {
		fsx.Narrow(canonical(p.To))
		err = m.write(p.To)
	}
	if err == nil {
		p.o.reached(marked)
		err = c.all(ctx)
	}
	if changed := m.changedSource(); err == nil && changed != "" {
		err = fmt.Errorf("%s was written to while it was copied", filepath.Join(p.From, changed))
	}
	if err == nil {
		m.whole = true
		err = m.write(p.To)
	}
	if err != nil {
		p.clear()
		if made {
			_ = os.Remove(p.To)
		}
		return nil, err
	}
	return c, fsx.SyncDir(filepath.Dir(p.To))
}

// clear takes away what is in the copy, the marker last: as long as it is there,
// the next run knows what the rest is.
func (p *Plan) clear() {
	entries, err := os.ReadDir(p.To)
	if err != nil {
		return
	}
	whole := true
	for _, e := range entries {
		if e.Name() != MarkerName && os.RemoveAll(filepath.Join(p.To, e.Name())) != nil {
			whole = false
		}
	}
	if whole {
		_ = os.Remove(filepath.Join(p.To, MarkerName))
	}
}

// clearAgain is clear for what an earlier run has left, unless somebody is at work
// in it.
func (p *Plan) clearAgain() error {
	name := filepath.Join(p.To, ingest.LockName)
	if _, err := os.Stat(name); err == nil {
		lock, err := fsx.Acquire(name)
		if err != nil {
			return err
		}
		if err := lock.Unlock(); err != nil {
			return err
		}
	}
	p.clear()
	if entries, err := os.ReadDir(p.To); err != nil || len(entries) > 0 {
		return errors.Join(err, fmt.Errorf("%s could not be emptied", p.To))
	}
	return nil
}

// point makes the pointer name the new place. A link in its place is followed: it
// may lead to where a person keeps all of their configuration.
func (p *Plan) point() error {
	if err := fsx.MkdirOwner(p.o.Dirs.Config); err != nil {
		return fmt.Errorf("write down the new place: %w", err)
	}
	path := p.PointerFile()
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := fsx.WriteAtomic(path, []byte(p.pointer), fsx.OwnerFile); err != nil {
		return fmt.Errorf("write down the new place: %w", err)
	}
	return nil
}

// locked is a source whose lock is held since it was copied.
type locked struct {
	lock *fsx.Lock
	c    *copier
}

// remove removes a source, after what appeared there since it was copied was taken
// along, and then the copy's marker. It refuses a source that was written to.
func (p *Plan) remove(ctx context.Context, from, to string, held *locked) error {
	fail := func(err error) error { return &DoneError{From: from, To: to, Err: err} }
	if held == nil {
		var err error
		if held, err = p.lockAgain(from, to); err != nil {
			return fail(err)
		}
	}
	if held.lock != nil {
		m, found, err := readMarker(to)
		if err != nil || !found {
			return fail(errors.Join(err, errNoMarker))
		}
		if changed := m.changedSource(); changed != "" {
			return fail(fmt.Errorf("%s was written to after it was copied", changed))
		}
		if err := held.c.late(ctx); err != nil {
			return fail(err)
		}
		if err := p.removeTree(from, held.lock); err != nil {
			return fail(err)
		}
	}
	p.o.reached(removed)
	if err := os.Remove(filepath.Join(to, MarkerName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	return nil
}

// lockAgain takes the lock of a source that an earlier run has copied. Where the
// source is gone there is none.
func (p *Plan) lockAgain(from, to string) (*locked, error) {
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return &locked{}, nil
	}
	lock, err := fsx.Acquire(filepath.Join(from, ingest.LockName))
	if err != nil {
		return nil, err
	}
	return &locked{lock, &copier{from: from, to: to, reached: p.o.reached, seen: map[string]fsx.Stat{}}}, nil
}

// removeTree removes a directory and the link that may have led to it. The lock
// goes last. A directory that is a mount point of its own stays, empty.
func (p *Plan) removeTree(dir string, lock *fsx.Lock) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == ingest.LockName {
			continue
		}
		if err := os.RemoveAll(filepath.Join(real, e.Name())); err != nil {
			return err
		}
		p.o.reached(removing)
	}
	if err := lock.Remove(); err != nil {
		return err
	}
	if err := os.Remove(real); err != nil {
		if left, readErr := os.ReadDir(real); readErr != nil || len(left) > 0 {
			return err
		}
	}
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return os.Remove(dir)
	}
	return nil
}
