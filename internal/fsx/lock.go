package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/gofrs/flock"
)

// ErrLocked is wrapped by Lock's error when another holder has the lock.
var ErrLocked = errors.New("locked by another process")

// A Lock is an exclusive advisory lock on a file. It is held until Unlock, or
// until the process ends, however it ends. It excludes a second handle in the
// same process, too. The file is never written, truncated or removed.
type Lock struct {
	f *flock.Flock
}

// held keeps every lock reachable: the collector closes a file that nobody
// refers to, and with it would go the lock.
var held sync.Map // *Lock to nothing

// TryLock takes the lock on path without waiting, creating the file for its
// owner alone if needed. If another holder has it, elsewhere is true and the other
// results are nil; an error is always something else.
func TryLock(path string) (l *Lock, elsewhere bool, err error) {
	// Opening a named pipe would wait for its writer.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, false, &fs.PathError{Op: "lock", Path: path, Err: ErrNotRegular}
	}
	f := flock.New(path, flock.SetPermissions(OwnerFile))
	ok, err := f.TryLock()
	if err != nil {
		return nil, false, fmt.Errorf("lock %s: %w", path, err)
	}
	if !ok {
		return nil, true, nil
	}
	l = &Lock{f: f}
	held.Store(l, nil)
	return l, false, nil
}

// Acquire is TryLock for a caller to whom a held lock is a failure: the error then
// wraps ErrLocked and names the file. It does not wait either.
func Acquire(path string) (*Lock, error) {
	l, elsewhere, err := TryLock(path)
	if elsewhere {
		err = fmt.Errorf("%s: %w", path, ErrLocked)
	}
	return l, err
}

// Unlock gives the lock back. A second call does nothing.
func (l *Lock) Unlock() error {
	held.Delete(l)
	return l.f.Unlock()
}
