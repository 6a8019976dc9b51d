//go:build linux || darwin

package testscripts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/terminus-archive/terminus/internal/corpus"
)

// A process as ps shows it.
type process struct {
	pid, parent, group int
	args               string
}

func processes(t *testing.T) []process {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,pgid=,args=").Output()
	if err != nil {
		t.Skipf("no ps to look with: %v", err)
	}
	var all []process
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		var p process
		var errs [3]error
		p.pid, errs[0] = strconv.Atoi(f[0])
		p.parent, errs[1] = strconv.Atoi(f[1])
		p.group, errs[2] = strconv.Atoi(f[2])
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		p.args = strings.Join(f[3:], " ")
		all = append(all, p)
	}
	return all
}

// below are the processes that descend from pid.
func below(all []process, pid int) []process {
	var found []process
	for _, p := range all {
		if p.parent == pid && p.pid != pid {
			found = append(append(found, p), below(all, p.pid)...)
		}
	}
	return found
}

// An agent that gives a hook up kills its process group and then whatever
// descends from it. The pass outlives both, archives everything and writes its
// row; and it holds nothing of the hook's: who reads the hook's stdout is at its
// end as soon as the hook is.
func TestThePassOutlivesItsHook(t *testing.T) {
	root := filepath.Join(t.TempDir(), "claude")
	if _, err := corpus.Generate(root, corpus.Options{Seed: 3, Bytes: 24 << 20, Projects: 3}); err != nil {
		t.Fatal(err)
	}
	h := home(t, root)
	// A copy of the binary: its processes are this test's alone.
	exe := filepath.Join(t.TempDir(), "terminus")
	data, err := os.ReadFile(filepath.Join(binDir, "terminus"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, data, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := command(h, "hook", "SessionStart")
	cmd.Path, cmd.Args[0] = exe, exe
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe() // nothing comes: the hook waits for half a second
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pass process
	deadline := time.Now().Add(hookSlack)
	for all := processes(t); pass.pid == 0; all = processes(t) {
		for _, p := range all {
			if p.args == exe+" ingest" {
				pass = p
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("no pass was started")
		}
	}
	if pass.group != pass.pid {
		t.Errorf("the pass %d is in group %d", pass.pid, pass.group)
	}
	if err := unix.Kill(-cmd.Process.Pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		t.Fatal(err)
	}
	for _, p := range below(processes(t), cmd.Process.Pid) {
		if p.pid == pass.pid {
			t.Error("the pass descends from the hook")
		}
		_ = unix.Kill(p.pid, unix.SIGKILL)
	}
	if out, err := io.ReadAll(stdout); err != nil || len(out) > 0 {
		t.Errorf("stdout %q, %v", out, err)
	}
	_ = cmd.Wait()
	if unix.Kill(pass.pid, 0) != nil || defunct(t, pass.pid) {
		t.Error("the pass was over before the end of stdout was met")
	}
	for unix.Kill(pass.pid, 0) == nil && !defunct(t, pass.pid) {
		if time.Now().After(deadline.Add(time.Minute)) {
			t.Fatal("the pass does not end")
		}
		time.Sleep(awaitStep)
	}
	mustRun(t, h, "verify")
	run := lastRun(t, h)
	if run.FilesSeen == 0 || run.FilesCommitted != run.FilesSeen || run.Error != nil {
		t.Errorf("the pass: %+v", run)
	}
}

// defunct reports whether a process has ended and nobody has asked how.
func defunct(t *testing.T, pid int) bool {
	t.Helper()
	out, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}
