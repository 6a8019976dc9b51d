package testscripts

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// peakMemory is the most memory that a running process has held so far. What
// the system tells after a process's end counts its parent in.
func peakMemory(pid int) (bytes int64, ok bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, after, ok := strings.Cut(string(status), "VmHWM:")
	if !ok {
		return 0, false
	}
	_, err = fmt.Sscanf(after, "%d kB", &bytes)
	return bytes << 10, err == nil
}

func cmdMksocket(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "mksocket FILE")
	ts.Check(syscall.Mknod(ts.MkAbs(args[0]), syscall.S_IFSOCK|0o600, 0))
}

func cmdTmpfs(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "tmpfs DIR SIZE")
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(mountTmpfs(dir, args[1]))
	ts.Defer(func() { _ = unmount(dir) })
}

func mountTmpfs(dir, size string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size)
}

func unmount(dir string) error { return syscall.Unmount(dir, syscall.MNT_DETACH) }

// canMount reports whether a file system of its own can be mounted here.
func canMount() bool {
	if os.Geteuid() != 0 {
		return false
	}
	dir, err := os.MkdirTemp("", "terminus-mount-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if err := mountTmpfs(dir, "64k"); err != nil {
		return false
	}
	return unmount(dir) == nil
}

// stopWhen stops a process as soon as a condition holds.
func stopWhen(t *testing.T, p *os.Process, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(lockPatience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the moment to stop never came")
		}
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

func resume(t *testing.T, p *os.Process) {
	t.Helper()
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
