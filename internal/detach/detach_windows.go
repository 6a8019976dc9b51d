package detach

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// apart takes the process off the console and its events.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP |
			windows.BELOW_NORMAL_PRIORITY_CLASS,
		HideWindow: true,
	}
}

// standBack has nothing to do: apart says it.
func standBack() func() { return func() {} }

// keepFilesHere has nothing to do: a process gets only the handles that it is
// given by name.
func keepFilesHere() {}
