//go:build linux || darwin

package detach

import (
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// apart gives the process a session, and with it a group, of its own, without
// a terminal.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// niceness is how far the worker stands back. With nobody else about it runs as
// fast as ever.
const niceness = 10

// standBack makes processes that this goroutine starts stand back, until what it
// returns is called. To Linux the niceness is that of one thread.
func standBack() func() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, niceness)
	return runtime.UnlockOSThread // this process ends: it need not come forward again
}

// keepFilesHere marks every descriptor beyond standard error as closed in
// children. Go marks those that it opens; one that this process was started
// with would be handed on, and hold somebody's pipe open.
func keepFilesHere() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // no such directory: nothing can be done that is safe here
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
