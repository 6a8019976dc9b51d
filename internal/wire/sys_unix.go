//go:build linux || darwin

package wire

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// startsAnyName tells whether a program runs whatever its name ends in.
const startsAnyName = true

// writable reports what keeps this user from making files in a directory.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// errOwner says that a file cannot be replaced by one of the same owner.
var errOwner = errors.New("belongs to another user")

// ownable reports whether what replaces a file can be given to its owner.
func ownable(info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() != 0 && int(stat.Uid) != os.Geteuid() {
		return errOwner
	}
	return nil
}

// giveTo makes the owner of a file that of another, which may be nil.
func giveTo(path string, like fs.FileInfo) error {
	if like == nil {
		return nil
	}
	want, ok := like.Sys().(*syscall.Stat_t)
	info, err := os.Lstat(path)
	if err != nil || !ok {
		return err
	}
	have, ok := info.Sys().(*syscall.Stat_t)
	if !ok || have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	err = os.Lchown(path, int(want.Uid), int(want.Gid))
	if err == nil || have.Uid == want.Uid { // a group that one is not in cannot be given
		return nil
	}
	return errOwner
}

// removeProgram removes a program, which may be the one that runs.
func removeProgram(path string) error { return os.Remove(path) }

// makeWay lets a program be replaced that may be running.
func makeWay(string) error { return nil }
