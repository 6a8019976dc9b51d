package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/terminus-archive/terminus/internal/fsx"
)

const (
	// backupSuffix names the copy of a file beside it. Claude Code itself writes
	// files that end in .backup.
	backupSuffix = ".terminus-backup"
	// maxBackups bounds the search for a free name.
	maxBackups = 64
)

// backupName is where a copy of text goes beside a file: the first name that is
// free, or that holds just that already.
func backupName(path string, text []byte) (name string, there bool, err error) {
	for n := range maxBackups {
		name = path + backupSuffix
		if n > 0 {
			name += "-" + strconv.Itoa(n+1)
		}
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, false, nil
		}
		if err != nil {
			return "", false, err
		}
		if !info.Mode().IsRegular() {
			continue // a link would be written through
		}
		if old, _, err := ReadFile(name); err == nil && bytes.Equal(old, text) {
			return name, true, nil
		}
	}
	return "", false, fmt.Errorf("%s: %d backups are there already", path, maxBackups)
}

// writeBackup writes a copy of t that is whole or not there, and takes the place of
// nothing.
func (t target) writeBackup(name string) error {
	temp, err := fsx.WriteTemp(name, t.text, t.mode())
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }()
	if err := giveTo(temp, t.info); err != nil {
		return fmt.Errorf("%s: %w", t.real, err)
	}
	if err := os.Link(temp, name); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// A file system without hard links.
	if _, err := os.Lstat(name); err == nil {
		return &fs.PathError{Op: "back up to", Path: name, Err: fs.ErrExist}
	}
	return fsx.Replace(temp, name)
}
