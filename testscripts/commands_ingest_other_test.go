//go:build !linux

package testscripts

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func peakMemory(int) (int64, bool) { return 0, false }

func cmdMksocket(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("sockets are made in tests on Linux alone")
}

func cmdTmpfs(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("file systems are mounted in tests on Linux alone")
}

func canMount() bool { return false }

// What follows is only called where canMount holds.

func mountTmpfs(string, string) error { return errNoSpaceLeft }

func unmount(string) error { return errNoSpaceLeft }

func stopWhen(*testing.T, *os.Process, func() bool) {}

func resume(*testing.T, *os.Process) {}
