package detach

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// apart takes the process off the console and its events.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP,
		HideWindow:    true,
	}
}

// keepFilesHere has nothing to do: a process gets only the handles that it is
// given by name.
func keepFilesHere() {}
