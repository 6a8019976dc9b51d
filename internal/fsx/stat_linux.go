package fsx

import (
	"io/fs"
	"syscall"
)

func sysStat(info fs.FileInfo) (ctime int64, inode uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return s.Ctim.Nano(), s.Ino
}
