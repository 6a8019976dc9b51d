//go:build !windows

package cli

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// keepClosedPipe makes a write to a closed pipe fail with EPIPE instead of
// killing the process. The signal is caught, not ignored: what is ignored
// would be ignored by the pager too.
func keepClosedPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

func systemReaderGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EBADF)
}
