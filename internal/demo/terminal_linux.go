package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// inTerminal runs a line of shell in a terminal and returns what the terminal was sent. An exit
// code other than 0 is an error.
func inTerminal(ctx context.Context, dir string, env []string, line string) (string, error) {
	master, slave, err := openTerminal()
	if err != nil {
		return "", fmt.Errorf("open a terminal: %w", err)
	}
	defer master.Close()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	slave.Close()
	if err != nil {
		return "", err
	}
	out, err := io.ReadAll(master)
	if errors.Is(err, syscall.EIO) { // how Linux says that the last program has gone
		err = nil
	}
	if ended := cmd.Wait(); ended != nil {
		err = fmt.Errorf("%w\n%s", ended, out)
	}
	return string(out), err
}

func openTerminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	number := 0
	if err == nil {
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
	}
	return master, slave, err
}

// passesEnd waits until no program of that home runs: a hook leaves one behind.
func passesEnd(ctx context.Context, home string) {
	const step = 20 * time.Millisecond
	for ctx.Err() == nil && running(home) {
		select {
		case <-ctx.Done():
		case <-time.After(step):
		}
	}
}

func running(home string) bool {
	programs, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return false
	}
	for _, p := range programs {
		if exe, err := os.Readlink(p); err == nil && strings.HasPrefix(exe, home+"/") {
			return true
		}
	}
	return false
}
