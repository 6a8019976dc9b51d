package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
)

// lessOptions are given to less, unless the user has set LESS: end where the
// text fits on the screen, keep colours, leave the text standing.
const lessOptions = "FRX"

// How a shell ends that could not run its command, or could not find it.
const (
	shellCannotRun = 126
	shellNotFound  = 127
)

// page sends what print writes through the user's pager, where stdout is a
// terminal; anywhere else, and where no pager can be started, print writes
// straight to stdout. That $PAGER names no program shows only when its shell
// ends: print is then called a second time.
func (e *env) page(print func() error) error {
	pager := e.pagerCommand()
	if pager == nil || !e.screen.terminal() {
		return print()
	}
	pager.Stdout, pager.Stderr = e.stdout, e.stderr
	shown := e.screen
	if e.environ.Get("LESS") == "" {
		pager.Env = append(pager.Environ(), "LESS="+lessOptions)
	}
	if e.environ.Get("LESS") != "" || e.environ.Get("PAGER") != "" {
		e.screen.colour = false // another pager may show the sequences as text
	}
	defer func() { e.screen = shown }()
	seen, err := e.printInto(pager, print)
	if seen {
		return err
	}
	e.screen = shown
	return print()
}

// printInto starts a pager and prints into it. seen is false where nothing of that
// can have been seen, because there was no pager. The shell of Windows does not
// tell one that is missing from one that failed.
func (e *env) printInto(pager *exec.Cmd, print func() error) (seen bool, err error) {
	in, err := pager.StdinPipe()
	if err != nil {
		return false, nil
	}
	if err := pager.Start(); err != nil {
		return false, nil
	}
	// An interrupt is the pager's business, which has the terminal.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	terminal := e.out
	e.out = newSink(in)
	printErr := print()
	writeErr := e.out.close()
	e.out = terminal
	_ = in.Close()
	// Any other failure of a pager is between it and its reader.
	if code := exitStatus(pager.Wait()); code == shellCannotRun || code == shellNotFound {
		return false, nil
	}
	if printErr != nil {
		return true, printErr
	}
	return true, writeErr
}

// exitStatus is the code with which a process ended, 0 where it has none.
func exitStatus(err error) int {
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode()
	}
	return 0
}

// pagerCommand is $PAGER, run by the shell because it may hold options; else
// less, else more; nil where there is none. PAGER=cat means none.
func (e *env) pagerCommand() *exec.Cmd {
	if pager := e.environ.Get("PAGER"); pager == "cat" {
		return nil
	} else if pager != "" {
		if runtime.GOOS == "windows" {
			return exec.Command("cmd", "/c", pager)
		}
		return exec.Command("sh", "-c", pager)
	}
	for _, name := range []string{"less", "more"} {
		if path, err := exec.LookPath(name); err == nil {
			return exec.Command(path)
		}
	}
	return nil
}
