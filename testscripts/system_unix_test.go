//go:build unix

package testscripts

import (
	"os"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

func cmdMkfifo(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "mkfifo FILE")
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
