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
// same process, too. The file is never written or truncated, and only Remove removes it.
type Lock struct {
	f *flock.Flock
}

// held keeps every lock reachable: the collector closes a file that nobody
// refers to, and with it would go the lock.
var held sync.Map // *Lock to nothing

// lockAttempts is how often a lock is taken anew because its file was removed
// between opening and locking it. Somebody would have to do that all the time.
const lockAttempts = 16

// TryLock takes the lock on path without waiting, creating the file for its
// owner alone if needed. If another holder has it, elsewhere is true and the other
// results are nil; an error is always something else. A lock that was taken is on
// the file that has the name path.
func TryLock(path string) (l *Lock, elsewhere bool, err error) {
	for range lockAttempts {
		l, elsewhere, err = tryLock(path)
		if l == nil || l.named() {
			return l, elsewhere, err
		}
		if err := l.Unlock(); err != nil {
			return nil, false, fmt.Errorf("lock %s: %w", path, err)
		}
	}
	return nil, false, fmt.Errorf("lock %s: it is removed again and again", path)
}

func tryLock(path string) (l *Lock, elsewhere bool, err error) {
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

// named reports whether the locked file still has its name. A lock on one that was
// removed, or replaced, excludes nobody.
func (l *Lock) named() bool {
	own, err := l.f.Stat()
	if err != nil {
		return true // what cannot be told is taken as it should be
	}
	now, err := os.Stat(l.f.Path())
	return err == nil && os.SameFile(own, now) || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// Remove removes the file and gives the lock back, in this order: nobody comes to hold
// the lock of a file that is about to go. Windows removes no open file; there the
// order is the other one, and whoever gets in between keeps the file.
func (l *Lock) Remove() error {
	err := os.Remove(l.f.Path())
	if unlockErr := l.Unlock(); unlockErr != nil {
		return unlockErr
	}
	if err != nil && openStays {
		err = os.Remove(l.f.Path())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Unlock gives the lock back. A second call does nothing.
func (l *Lock) Unlock() error {
	held.Delete(l)
	return l.f.Unlock()
}
