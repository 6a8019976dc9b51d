package fsx

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openStays tells that an open file cannot be removed.
const openStays = true

// sysStat has nothing to add: what the system hands out with a directory entry
// holds neither a change time nor a file id, and StatOf opens no file. FileID
// gives the id of an open one.
func sysStat(fs.FileInfo) (ctime int64, inode uint64) { return 0, 0 }

func freeSpace(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// openNonblock is an ordinary open: pipes live in a name space of their own.
func openNonblock(path string) (*os.File, error) { return os.Open(path) }

// FileID returns a number that tells f from every other file of its volume, 0
// if the system has none.
func FileID(f *os.File) uint64 {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 0
	}
	return uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)
}

// SyncDir has nothing to do: a directory cannot be flushed.
func SyncDir(string) error { return nil }
