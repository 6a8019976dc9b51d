package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// maxLinks is how many links are followed to a file that is not there, as systems do.
const maxLinks = 40

// A target is a file that is to be edited, as it was read.
type target struct {
	path string      // as it is named
	real string      // where its links lead; the file there is the one that is replaced
	text []byte      // nil where there is none
	info fs.FileInfo // nil where there is none
}

// readTarget reads a file. One that is not there is no error.
func readTarget(path string) (target, error) {
	t := target{path: path}
	var err error
	if t.real, err = follow(path); err != nil {
		var named *fs.PathError
		if !errors.As(err, &named) {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return t, err
	}
	if t.text, _, err = ReadFile(t.real); err != nil || t.text == nil {
		return t, err
	}
	t.info, err = os.Stat(t.real)
	return t, err
}

// follow is where the links of a path lead, also to a file that is not there.
func follow(path string) (string, error) {
	for range maxLinks {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return real, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil // not there itself
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", errors.New("too many links")
}

// mode is the mode that the file has, or is to get.
func (t target) mode() fs.FileMode {
	if t.info == nil {
		return fsx.OwnerFile
	}
	return t.info.Mode().Perm()
}

// errReadOnly is wrapped by what keeps a file from being written.
var errReadOnly = errors.New("read-only")

// check reports what would keep the file from being replaced. It writes nothing, so
// a full disk shows only later.
func (t target) check() error {
	if t.info != nil && t.mode()&0o222 == 0 {
		return fmt.Errorf("%s: %w", t.real, errReadOnly)
	}
	if err := checkDir(filepath.Dir(t.real)); err != nil || t.info == nil {
		return err
	}
	if err := ownable(t.info); err != nil {
		return fmt.Errorf("%s: %w (%w)", t.real, errReadOnly, err)
	}
	return nil
}

// checkDir reports what would keep a file from being made in a directory, which may
// have to be made itself.
func checkDir(dir string) error {
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s: not a directory", dir)
		case err == nil:
			err := writable(dir)
			if errors.Is(err, fs.ErrNotExist) {
				break // an uninstall took it away just now
			}
			if err != nil {
				return fmt.Errorf("%s: %w (%w)", dir, errReadOnly, err)
			}
			return nil
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		link, err := os.Lstat(dir)
		switch {
		case err != nil:
			dir = filepath.Dir(dir)
		case link.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s: a link that leads nowhere", dir)
		}
		// Else another install made it just now: it is looked at again.
	}
}

// missing are the directories that have to be made for dir, the outermost first.
func missing(dir string) []string {
	if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
		return nil
	}
	return append(missing(filepath.Dir(dir)), dir)
}

// maxAttempts is how often an edit begins anew because the file changed under it.
// An agent that writes its state at every turn does so once in a while, not all the time.
const maxAttempts = 16

// replace makes edit's text the content of the file that path leads to: edit sees
// what is there, keep is called before anything is written, and the file is looked
// at once more in the last moment. Where it has changed, all of it begins anew. nil is
// a file that is to go. What is there is replaced in one step and keeps its mode and
// owner; extended attributes and further hard links do not come along. Between the
// last look and that step a change can still be lost: no system offers better for
// files that others write without a lock.
func replace(path string, edit func(target) ([]byte, error), keep func(target) error) error {
	for range maxAttempts {
		t, err := readTarget(path)
		if err != nil {
			return err
		}
		text, err := edit(t)
		if err != nil {
			return err
		}
		if same(text, t.text) {
			return nil
		}
		if err := t.check(); err != nil {
			return err
		}
		if err := keep(t); err != nil {
			return err
		}
		if done, err := t.swap(text); done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: changes faster than it can be edited", path)
}

// same reports whether both are the same content; none at all is not an empty one.
func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// swap puts text in the place of the file, unless that is no longer what t says.
func (t target) swap(text []byte) (done bool, err error) {
	var temp string
	if text != nil {
		if temp, err = fsx.WriteTemp(t.real, text, t.mode()); err != nil {
			return false, err
		}
		if err := giveTo(temp, t.info); err != nil {
			_ = os.Remove(temp)
			return false, fmt.Errorf("%s: %w", t.real, err)
		}
	}
	now, err := readTarget(t.path)
	if err != nil || now.real != t.real || !same(now.text, t.text) {
		if temp != "" {
			_ = os.Remove(temp)
		}
		return false, err
	}
	if text == nil {
		return true, os.Remove(t.real)
	}
	return true, fsx.Replace(temp, t.real)
}
