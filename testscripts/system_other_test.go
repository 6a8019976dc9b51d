//go:build !unix

package testscripts

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

func cmdMkfifo(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("no FIFOs on this system") }

func terminate(p *os.Process) error { return p.Kill() }
