package fsx

import (
	"os"
	"os/exec"
	"testing"
)

func TestProcessAlive(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, "-test.run", "^$")
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	for pid, want := range map[int]bool{os.Getpid(): true, c.Process.Pid: false, 0: false, -1: false} {
		if got := ProcessAlive(pid); got != want {
			t.Errorf("process %d alive: %v, want %v", pid, got, want)
		}
	}
}
