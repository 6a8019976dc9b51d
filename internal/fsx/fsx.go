// Package fsx owns what Terminus needs of a file system beyond the standard
// library: files and directories that are their owner's alone from the moment
// they exist, replacement of a file in one step, the advisory lock, free space,
// and opening a foreign file without being held up by it.
//
// It promises nothing on network file systems, where locks and renames keep
// their word only as far as the server does. On Windows modes mean nothing and
// are not set: what a directory hands down decides there.
package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/robustio"
)

// The modes of all that Terminus creates.
const (
	OwnerFile fs.FileMode = 0o600
	OwnerDir  fs.FileMode = 0o700
)

// ErrNotRegular is wrapped by OpenRegular's error when the path is a named
// pipe, a device, a socket or a directory.
var ErrNotRegular = errors.New("not a regular file")

// MkdirOwner creates the directory path for its owner alone. The mode is given
// in the creating call. Parents made on the way get what the umask leaves. A
// directory that is there already, also at the end of a link, is success and
// keeps its mode; a file in the way is an error.
func MkdirOwner(path string) error {
	path = filepath.Clean(path) // a separator at the end would make the leaf a parent
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	err := os.Mkdir(path, OwnerDir)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, statErr := os.Stat(path)
	if statErr != nil {
		return statErr
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	}
	return nil
}

// CreateOwner creates the file path for its owner alone and opens it for
// reading and writing. The mode is given in the creating call. Whatever is at
// path already, a dangling link too, is an error that is fs.ErrExist.
func CreateOwner(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, OwnerFile)
}

// Narrow takes from files and directories the rights that are not their
// owner's, and from files the right to be executed. What has none of these is
// not touched, so its ctime stays. Links are not followed, other kinds of file
// are left alone, and failures are ignored: narrowing is a repair, not a check.
//
// It works on names, not on open files: closing a file that SQLite holds open
// in this process would drop SQLite's locks. Between look and change a name can
// be swapped only by who may write its directory, so name the directory first.
func Narrow(paths ...string) {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		narrowed := info.Mode().Perm()
		switch {
		case info.IsDir():
			narrowed &= OwnerDir
		case info.Mode().IsRegular():
			narrowed &= OwnerFile
		}
		if narrowed != info.Mode().Perm() {
			_ = os.Chmod(path, narrowed)
		}
	}
}

// TempPattern matches the files that a killed WriteAtomic leaves behind, in
// the form that filepath.Match takes.
const TempPattern = ".*" + tempSuffix

const tempSuffix = ".terminus-tmp"

// WriteAtomic replaces the file path, or creates it, in one step: a reader, and
// the system after a crash, finds either what was there or all of data, with
// exactly the mode perm. When it fails before the last step, the old file is
// untouched and nothing is left behind. A link at path is replaced, not
// followed.
func WriteAtomic(path string, data []byte, perm fs.FileMode) error {
	temp, err := WriteTemp(path, data, perm)
	if err != nil {
		return err
	}
	return Replace(temp, path)
}

// WriteTemp does the first half of WriteAtomic: it writes a file for its owner alone
// beside path, gives it its mode when it is whole, forces it to the disk, and returns
// its name. Whatever has that name already is passed over, never written through.
func WriteTemp(path string, data []byte, perm fs.FileMode) (name string, err error) {
	f, err := CreateTemp(path)
	if err != nil {
		return "", fmt.Errorf("replace %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err == nil && perm.Perm() != OwnerFile {
		err = f.Chmod(perm.Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("replace %s: %w", path, err)
	}
	return f.Name(), nil
}

// CreateTemp creates an empty file for its owner alone beside path, under a name that
// nothing has yet, that Sweep(path) knows, and that TempPattern matches.
func CreateTemp(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*"+tempSuffix)
}

// Replace does the second half: it gives the file temp the name path, in one step. When
// it fails, temp is gone.
func Replace(temp, path string) error {
	// On Windows a scanner or reader can hold the old file for a moment;
	// robustio tries again for two seconds.
	if err := robustio.Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("replace %s: %w", path, err)
	}
	if err := SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("replaced %s, but its directory may forget it in a crash: %w", path, err)
	}
	return nil
}

// Sweep removes what killed calls of WriteTemp left behind of path, and reports whether
// there was anything. It is for who knows that no other process is at it.
func Sweep(path string) (swept bool) {
	dir, prefix := filepath.Dir(path), "."+filepath.Base(path)+"."
	entries, _ := os.ReadDir(dir) // what cannot be listed cannot be swept
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), tempSuffix) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
			swept = true
		}
	}
	return swept
}

// SweepStale removes the regular files of dir whose names have that beginning and
// that end and that were last written before a time: what killed processes left
// unfinished, where others may be at work. What cannot be listed stays.
func SweepStale(dir, prefix, suffix string, before time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// FreeSpace returns how many bytes this user may still write to the file
// system of dir, or of its nearest parent that exists.
func FreeSpace(dir string) (uint64, error) {
	for {
		free, err := freeSpace(dir)
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || parent == dir {
			if err != nil {
				return 0, &fs.PathError{Op: "free space of", Path: dir, Err: err}
			}
			return free, nil
		}
		dir = parent
	}
}

// OpenRegular opens a regular file for reading, through links, and returns what
// it was when it was opened. It never waits: for anything that is not a regular
// file the error wraps ErrNotRegular, and a named pipe's writer does not notice.
func OpenRegular(path string) (*os.File, Stat, error) {
	// A look before opening keeps its hands off pipes and devices; the look
	// after it is the one that counts.
	info, err := os.Stat(path)
	if err != nil {
		return nil, Stat{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, Stat{}, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	f, err := openNonblock(path)
	if err != nil {
		return nil, Stat{}, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		_ = f.Close()
		return nil, Stat{}, err
	}
	return f, StatOf(info), nil
}
