//go:build linux || darwin

package detach

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hook starts a worker as a hook does, says so on stdout, and hangs.
func hook(args []string) int {
	if err := Start(os.Args[0], append([]string{roleWorker}, args...)...); err != nil {
		return 1
	}
	_, _ = os.Stdout.WriteString("started\n")
	time.Sleep(lifetime)
	return 0
}

// niceOf is the niceness of what getpriority returns: Linux's system call counts
// from 40 downwards.
func niceOf(priority int) int {
	if runtime.GOOS == "linux" {
		return 20 - priority
	}
	return priority
}

func TestWorkerOutlivesTheKillingOfItsStarter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "beats")
	held, inherited, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	cmd := exec.Command(os.Args[0], roleHook, file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.ExtraFiles = []*os.File{inherited}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inherited.Close()
	killed := false
	defer func() {
		if !killed {
			_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		}
		_ = cmd.Wait()
	}()
	w := waitForWorker(t, file)

	group, err := unix.Getpgid(w.PID)
	if err != nil || group != w.PID {
		t.Errorf("worker %d is in group %d, %v", w.PID, group, err)
	}
	if nice, err := unix.Getpriority(unix.PRIO_PROCESS, w.PID); err != nil || niceOf(nice) < niceness {
		t.Errorf("worker has the niceness %d, %v", niceOf(nice), err)
	}
	if len(w.Open) > 0 {
		t.Errorf("worker was handed descriptors %v", w.Open)
	}
	eventually(t, "the end of the process between", func() bool { return !slices.Contains(descendants(t, cmd.Process.Pid), w.PID) })

	// First the group, then whatever descends from the hook.
	below := descendants(t, cmd.Process.Pid)
	if err := unix.Kill(-cmd.Process.Pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	killed = true
	for _, pid := range below {
		if pid == w.PID {
			t.Fatal("the worker is a descendant of the hook")
		}
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	for name, r := range map[string]io.Reader{"stdout": stdout, "an inherited pipe": held} {
		if out, err := io.ReadAll(r); err != nil {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
	if gone(w.PID) {
		t.Fatal("the worker died with the hook")
	}
	then := lastReport(file).Beats
	eventually(t, "another beat", func() bool { return lastReport(file).Beats > then+1 })
}

// descendants returns the processes below pid that still run, as `ps` tells them.
func descendants(t *testing.T, pid int) []int {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		t.Skipf("no ps to look with: %v", err)
	}
	children := map[int][]int{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		child, err1 := strconv.Atoi(f[0])
		parent, err2 := strconv.Atoi(f[1])
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		children[parent] = append(children[parent], child)
	}
	var all []int
	for todo := []int{pid}; len(todo) > 0; {
		below := children[todo[0]]
		todo = append(todo[1:], below...)
		all = append(all, below...)
	}
	return all
}

// gone reports whether there is no process pid any more. One that ended and
// that nobody has waited for counts as gone.
func gone(pid int) bool {
	if err := unix.Kill(pid, 0); errors.Is(err, unix.ESRCH) {
		return true
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// openFiles returns the pipes beyond standard error that this process was
// started with.
func openFiles() []int {
	var open []int
	for fd := 3; fd < 64; fd++ {
		var stat unix.Stat_t
		if unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_IFMT == unix.S_IFIFO {
			open = append(open, fd)
		}
	}
	return open
}
