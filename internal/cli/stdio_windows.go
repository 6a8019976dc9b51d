package cli

import (
	"errors"
	"syscall"
)

// keepClosedPipe has nothing to do: Windows has no signal for a closed pipe.
func keepClosedPipe() {}

// errNoData is ERROR_NO_DATA, "the pipe is being closed".
const errNoData = syscall.Errno(232)

func systemReaderGone(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, errNoData) || errors.Is(err, syscall.Errno(6)) // ERROR_INVALID_HANDLE
}
