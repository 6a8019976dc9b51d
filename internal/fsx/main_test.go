package fsx

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// TestMain lets the test binary stand in for a second process: its first
// argument then says what that process does.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "hold-lock":
			os.Exit(holdLock(os.Args[2]))
		case "replace-limited":
			os.Exit(replaceLimited(os.Args[2]))
		}
	}
	setUmask()
	os.Exit(m.Run())
}

// holdLock takes the lock, forgets it, says so, and lives until it is killed.
func holdLock(path string) int {
	if l, elsewhere, err := TryLock(path); l == nil {
		fmt.Println("no lock:", elsewhere, err)
		return 1
	}
	for range 3 { // a file is closed one collection after it is found unreachable
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	fmt.Println("locked")
	time.Sleep(time.Hour)
	return 1
}

// startHolder returns a process that holds the lock on path.
func startHolder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "hold-lock", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "locked\n" {
		t.Fatalf("holder says %q, %v", line, err)
	}
	return cmd
}
