package fsx

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// ProcessAlive reports whether a process with that id exists. An id that the
// system has given to another process counts as alive.
func ProcessAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false // on Windows, finding it opens it
	}
	defer func() { _ = p.Release() }()
	if runtime.GOOS == "windows" {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, syscall.EPERM)
}
