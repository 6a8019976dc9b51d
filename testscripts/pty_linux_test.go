package testscripts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

const havePTY = true

// ptyPause is how long -pause stops a program: longer than work may take
// before progress is shown.
const ptyPause = 1200 * time.Millisecond

func cmdPTY(ts *testscript.TestScript, neg bool, args []string) {
	cols, pause := 80, ""
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-cols":
			cols = number(ts, args[1])
		case "-pause":
			pause = ts.MkAbs(args[1])
		}
		args = args[2:]
	}
	usage(ts, neg, len(args) >= 2, "pty [-cols N] [-pause FILE] N program args...")
	master, slave, err := openPTY(cols)
	ts.Check(err)
	defer master.Close()
	cmd := program(ts, args[1:])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	slave.Close()
	if pause != "" {
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			for !exists(pause) {
				select {
				case <-ended:
					return
				case <-time.After(time.Millisecond):
				}
			}
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(ptyPause)
			_ = cmd.Process.Signal(syscall.SIGCONT)
		}()
	}
	out, err := io.ReadAll(master)
	if err != nil && !errors.Is(err, syscall.EIO) { // how Linux says that the last program has gone
		ts.Fatalf("%v", err)
	}
	fmt.Fprint(ts.Stdout(), strings.ReplaceAll(string(out), "\r\n", "\n"))
	checkCode(ts, number(ts, args[0]), cmd.Wait())
}

func openPTY(cols int) (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, fmt.Errorf("unlock the terminal: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, fmt.Errorf("number of the terminal: %w", err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(cols)}); err != nil {
		return nil, nil, fmt.Errorf("size of the terminal: %w", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	return master, slave, err
}
