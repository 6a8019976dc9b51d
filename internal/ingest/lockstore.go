package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/store"
)

// lockStore takes the lock of a store that is there, for a command that changes it: taking the
// lock makes a file, which is for a store that is ours alone. The error is store.ErrNoStore, also
// where a move has taken the store away before the lock was ours; a *LockedError; or another.
func lockStore(ctx context.Context, dataDir string) (unlock func(), err error) {
	reader, err := store.OpenReader(ctx, store.Path(dataDir))
	if err != nil {
		return nil, err
	}
	_ = reader.Close()
	name := filepath.Join(dataDir, LockName)
	lock, held, err := fsx.TryLock(name)
	if err != nil {
		return nil, fmt.Errorf("take the ingest lock: %w", err)
	}
	if held {
		return nil, &LockedError{name}
	}
	if _, err := os.Stat(store.Path(dataDir)); errors.Is(err, fs.ErrNotExist) {
		_ = lock.Unlock()
		return nil, store.ErrNoStore
	}
	return func() { _ = lock.Unlock() }, nil
}
