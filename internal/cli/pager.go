package cli

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
)

// lessOptions are given to less, unless the user has set LESS: end where the
// text fits on the screen, keep colours, leave the text standing.
const lessOptions = "FRX"

// page sends what print writes through the user's pager, where stdout is a
// terminal; anywhere else, and where no pager can be started, print writes
// straight to stdout.
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
	in, err := pager.StdinPipe()
	if err != nil {
		return print()
	}
	if err := pager.Start(); err != nil {
		return print()
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
	// A pager that was left with an error has said so itself.
	_ = pager.Wait()
	if printErr != nil {
		return printErr
	}
	return writeErr
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
