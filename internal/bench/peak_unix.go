//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the most memory that a process held, in bytes. A process begins with
// the memory of the one that started it: 0 where it held no more than that.
func peak(s *os.ProcessState) int64 {
	use, ok := s.SysUsage().(*syscall.Rusage)
	var own syscall.Rusage
	if !ok || syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil || use.Maxrss <= own.Maxrss {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return use.Maxrss
	}
	return use.Maxrss << 10
}
