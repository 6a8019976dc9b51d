package wire

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// LockName is the file in the configuration directory whose lock an install or an
// uninstall has while it works. It is there only as long.
const LockName = "install.lock"

const (
	// turnWait is how long another install or uninstall is waited for. One takes well
	// below a second, but where a system looks at every new program for long.
	turnWait = 5 * time.Second
	// turnPause is between two looks.
	turnPause = 20 * time.Millisecond
)

// A BusyError says that another install or uninstall was at work all the while.
type BusyError struct{ Path string }

func (e *BusyError) Error() string {
	return e.Path + ": another install or uninstall is at work"
}

// A turn is the time in which no other install or uninstall changes anything.
type turn struct {
	lock *fsx.Lock
	dir  string
	// made are the directories that had to be made for the lock.
	made []string
	// stale tells that the lock's file was there already, and nobody's: somebody was
	// killed in their turn.
	stale bool
}

// takeTurn waits for the turn of this process. The error is a *BusyError where it does
// not come, or why the lock cannot be taken at all.
func takeTurn(ctx context.Context, dir string) (*turn, error) {
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	for waited := false; ; waited = true {
		t, err := tryTurn(dir)
		if t != nil {
			t.stale = t.stale && !waited
			return t, nil
		}
		// A directory may go between making it and making a file in it, with the
		// turn of another.
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			if err == nil {
				err = &BusyError{filepath.Join(dir, LockName)}
			}
			return nil, err
		case <-time.After(turnPause):
		}
	}
}

// tryTurn is nil without an error where it is another's turn.
func tryTurn(dir string) (*turn, error) {
	t := &turn{dir: dir, made: missing(dir)}
	if err := fsx.MkdirOwner(dir); err != nil {
		removeDirectories(t.made)
		return nil, err
	}
	path := filepath.Join(dir, LockName)
	_, err := os.Lstat(path)
	t.stale = err == nil
	lock, elsewhere, err := fsx.TryLock(path)
	if lock == nil {
		if !elsewhere {
			removeDirectories(t.made)
		}
		return nil, err
	}
	t.lock = lock
	return t, nil
}

// end ends a turn, and removes directories in which nothing stands then: those given,
// and those that were made for the lock.
func (t *turn) end(dirs ...string) {
	_ = t.lock.Remove() // a file that stays is the next turn's
	if t.stale {
		dirs = append(dirs, t.dir)
	}
	removeDirectories(append(dirs, t.made...))
}
