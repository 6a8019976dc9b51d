package detach

import (
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// hook starts a worker as a hook does, and hangs.
func hook(args []string) int {
	if err := Start(os.Args[0], append([]string{roleWorker}, args...)...); err != nil {
		return 1
	}
	time.Sleep(lifetime)
	return 0
}

// gone reports whether there is no process pid any more.
func gone(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return true
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0)
	return err == nil && event == windows.WAIT_OBJECT_0
}

// openFiles has nothing to look at: a process gets only the handles that it is
// given by name.
func openFiles() []int { return nil }
