package ingest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/store"
)

// ErrMoved means that the data directory was moved after the configuration had been
// read. Nothing was done, and nothing was made at the old place.
var ErrMoved = errors.New("the data directory has been moved meanwhile")

// lock takes the lock of the pass. held means that another process has it. A move
// holds the same lock until its end, so that what is seen under it stays true for the
// pass: without this second look, a pass that was read into the old place before a
// move and gets the lock after it would begin a second archive there.
func (p *pass) lock() (lock *fsx.Lock, held bool, err error) {
	if err := p.moved(); err != nil {
		return nil, false, err
	}
	dir := p.o.Config.DataDir
	if err := fsx.MkdirOwner(dir); err != nil {
		return nil, false, fmt.Errorf("create the data directory: %w", err)
	}
	lock, held, err = fsx.TryLock(filepath.Join(dir, LockName))
	if moved := p.moved(); moved != nil {
		if lock != nil {
			leave(dir, lock)
		}
		return nil, false, moved
	}
	if err != nil {
		return nil, false, fmt.Errorf("take the ingest lock: %w", err)
	}
	return lock, held, nil
}

// moved is ErrMoved where the data directory is elsewhere by now.
func (p *pass) moved() error {
	if p.o.Where == nil {
		return nil
	}
	now, err := p.o.Where()
	if err == nil && filepath.Clean(now) != filepath.Clean(p.o.Config.DataDir) {
		err = ErrMoved
	}
	return err
}

// leave gives back the lock of a directory that is no longer the data directory, and
// takes away what taking it has made. One that holds an archive is somebody's.
func leave(dir string, lock *fsx.Lock) {
	if _, err := os.Lstat(store.Path(dir)); err == nil {
		_ = lock.Unlock() // it ends with this process at the latest
		return
	}
	_ = lock.Remove()  // as above
	_ = os.Remove(dir) // one that holds something stays
}
