//go:build linux || darwin

package fsx

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openStays tells that an open file cannot be removed.
const openStays = false

// freeSpace counts what is left to an ordinary user, not the reserve.
func freeSpace(dir string) (uint64, error) {
	var s unix.Statfs_t
	for {
		err := unix.Statfs(dir, &s)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, err
		}
		return s.Bavail * uint64(s.Bsize), nil
	}
}

// openNonblock returns at once even if path has become a named pipe. The file
// it returns blocks again, as files read by the page do.
func openNonblock(path string) (*os.File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil {
			if err = unix.SetNonblock(fd, false); err != nil {
				_ = unix.Close(fd)
			}
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// FileID returns a number that tells f from every other file of its file
// system, 0 if the system has none.
func FileID(f *os.File) uint64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return StatOf(info).Inode
}

// SyncDir forces what was made or renamed in dir to the disk. File systems that
// cannot sync a directory have nothing more to offer, so their refusal is not an
// error.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
