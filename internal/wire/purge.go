package wire

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/store"
)

// What Terminus keeps in its data directory beside the store and the lock.
var (
	dataFiles   = []string{"progress.json"}
	dataFolders = []string{"snapshots", "injection", "decisions"}
)

// An Archive is what the data directory holds of Terminus.
type Archive struct {
	Dir   string
	Bytes int64
	// Exists tells whether there is a store.
	Exists bool

	names []string // what is to go, the store first
}

// FindArchive looks at a data directory.
func FindArchive(dir string) (Archive, error) {
	a := Archive{Dir: dir}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	for _, e := range entries {
		name := e.Name()
		if name == store.FileName {
			a.Exists = true
			a.names = append([]string{name}, a.names...)
		} else if ours(name) {
			a.names = append(a.names, name)
		}
	}
	for _, name := range a.names {
		err := filepath.WalkDir(filepath.Join(dir, name), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				a.Bytes += info.Size()
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return a, err
		}
	}
	return a, nil
}

// ours reports whether Terminus makes things of this name in its data directory.
func ours(name string) bool {
	if temp, _ := filepath.Match(fsx.TempPattern, name); temp || strings.HasPrefix(name, store.FileName+"-") {
		return true
	}
	for _, own := range append(append([]string{ingest.LockName}, dataFiles...), dataFolders...) {
		if name == own {
			return true
		}
	}
	return false
}

// Purge deletes the archive and everything of Terminus beside it, and the data
// directory if that leaves nothing in it. It takes the lock of a pass, and does
// nothing where another process has it: the error is fsx.ErrLocked then.
func (a Archive) Purge() (left bool, err error) {
	lock, err := fsx.Acquire(filepath.Join(a.Dir, ingest.LockName))
	if err != nil {
		return true, err
	}
	defer func() { _ = lock.Unlock() }()
	if err := store.NoSnapshotRuns(a.Dir); err != nil {
		return true, err
	}
	for _, name := range a.names {
		if name == ingest.LockName {
			continue
		}
		if err := os.RemoveAll(filepath.Join(a.Dir, name)); err != nil {
			return true, err
		}
	}
	if err := lock.Remove(); err != nil {
		return true, err
	}
	_ = os.Remove(a.Dir) // one that holds something else stays
	_, err = os.Lstat(a.Dir)
	return err == nil, nil
}
