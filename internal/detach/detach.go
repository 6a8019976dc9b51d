// Package detach starts a process that outlives whoever started it.
//
// An agent that loses patience with a hook kills the hook's process group and
// then every descendant that it finds by following parents. So the worker is
// started twice over: Start runs the program with Marker in front of its
// arguments, and that short-lived process, by Handoff, starts the worker and
// ends. The worker leads a session of its own, has no parent that is still
// there, and holds none of the files that were open before it: the reader of a
// hook's output sees its end when the hook ends.
//
// Nothing is promised about the worker's success: nobody waits for it. It
// inherits the environment and the working directory, and yields the processor
// to whoever a person waits for: the hook that started it is still answering.
package detach

import (
	"fmt"
	"os/exec"
)

// Marker is the argument that tells the program to hand over. It is an argument
// and not a variable, because a variable is inherited by every process below.
const Marker = "--reparent"

// Start starts exe with args as a process of its own. It returns as soon as the
// first of the two processes runs.
func Start(exe string, args ...string) error {
	return spawn(exe, append([]string{Marker}, args...))
}

// Reparented reports whether the program was started by Start and has to call
// Handoff before it does anything else. args are its arguments without its own
// name.
func Reparented(args []string) bool { return len(args) > 0 && args[0] == Marker }

// Handoff starts exe with what follows the marker in args, and returns the
// exit code of this process, which is always 0: nobody is there to be told.
func Handoff(exe string, args []string) int {
	if Reparented(args) && len(args) > 1 {
		defer standBack()()
		_ = spawn(exe, args[1:])
	}
	return 0
}

// spawn starts a process on the null device, apart from this one, and lets go
// of it.
func spawn(exe string, args []string) error {
	keepFilesHere()
	cmd := exec.Command(exe, args...)
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s in the background: %w", exe, err)
	}
	return cmd.Process.Release()
}
