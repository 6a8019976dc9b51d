package wire

import (
	"io/fs"
	"os"
	"strconv"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// startsAnyName tells whether a program runs whatever its name ends in.
const startsAnyName = false

// writable has nothing to ask: what keeps a file from being made shows when it is.
func writable(string) error { return nil }

// ownable has nothing to ask, as giveTo has nothing to give.
func ownable(fs.FileInfo) error { return nil }

// giveTo has nothing to give: a file belongs to who made it.
func giveTo(string, fs.FileInfo) error { return nil }

// removeProgram removes a program. One that runs cannot be removed, but renamed: it
// stays behind under a name that the next install or uninstall sweeps.
func removeProgram(path string) error {
	fsx.Sweep(path)
	if err := os.Remove(path); err == nil || os.IsNotExist(err) {
		return err
	}
	return makeWay(path)
}

// makeWay renames a program that may be running.
func makeWay(path string) error {
	dir, base := split(path)
	err := os.Rename(path, dir+"."+base+"."+strconv.Itoa(os.Getpid())+".terminus-tmp")
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

func split(path string) (dir, base string) {
	for i := len(path) - 1; i >= 0; i-- {
		if os.IsPathSeparator(path[i]) {
			return path[:i+1], path[i+1:]
		}
	}
	return "", path
}
