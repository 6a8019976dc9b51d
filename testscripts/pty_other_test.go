//go:build !linux

package testscripts

import "github.com/rogpeppe/go-internal/testscript"

const havePTY = false

func cmdPTY(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("no pseudo-terminals in tests on this system")
}
