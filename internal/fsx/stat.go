package fsx

import "io/fs"

// A Stat is what tells one state of a file from another. The device is left
// out: it changes at a remount.
type Stat struct {
	Size  int64
	Mtime int64 // nanoseconds since the epoch
	Ctime int64 // nanoseconds since the epoch; 0 where the system has none
	Inode uint64
}

// StatOf reads a Stat out of what os.Stat, os.Lstat or File.Stat returned.
func StatOf(info fs.FileInfo) Stat {
	s := Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	s.Ctime, s.Inode = sysStat(info)
	return s
}
