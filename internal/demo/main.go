// Demo records the demonstration that the README shows: it runs the commands of a script in a
// terminal of its own, with the real binary, on sample sessions in a temporary home, and writes
// what the terminal was sent as an asciicast and as a picture that moves. It is a program of the
// developers, and records on Linux alone.
//
// The same script, samples and program give the same bytes: how long something takes is
// decided here and not measured, and output that names the temporary home is refused.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The terminal's size: a picture of it fills a page of the repository's host.
const (
	columns = 100
	rows    = 20
)

// limit ends a recording that hangs. It takes a second.
const limit = 2 * time.Minute

func main() {
	var s studio
	script := flag.String("script", "docs/demo.txt", "the script: lines of `# remark`, `$ command`, `? command` and `---`")
	flag.StringVar(&s.binary, "binary", "build/terminus", "the program under demonstration")
	flag.StringVar(&s.samples, "samples", "testdata/demo", "a client's configuration directory, with its sessions")
	flag.StringVar(&s.path, "path", "/usr/bin:/bin", "where the shell finds other programs: a PATH")
	cast := flag.String("cast", "docs/demo.cast", "write the asciicast here")
	picture := flag.String("picture", "docs/demo.svg", "write the picture here")
	flag.Parse()
	if err := record(s, *script, *cast, *picture); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func record(s studio, script, cast, picture string) error {
	text, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	steps, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", script, err)
	}
	take, err := s.shoot(steps)
	if err != nil {
		return err
	}
	svg, err := drawing(take)
	if err != nil {
		return fmt.Errorf("%s: %w", script, err)
	}
	if err := os.WriteFile(cast, asciicast(take), 0o644); err != nil {
		return err
	}
	return os.WriteFile(picture, svg, 0o644)
}

// A studio is what a recording is made with.
type studio struct {
	binary  string
	samples string
	path    string
}

// shoot runs the steps in a home that is removed afterwards.
func (s studio) shoot(steps []step) (take, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	home, err := os.MkdirTemp("", "terminus-demo-")
	if err != nil {
		return take{}, err
	}
	defer func() { _ = os.RemoveAll(home) }()
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return take{}, err
	}
	bin := filepath.Join(home, ".local", "bin")
	if err := s.furnish(home, bin); err != nil {
		return take{}, err
	}
	defer passesEnd(ctx, home) // a pass must not meet the removal of its home
	env := []string{"HOME=" + home, "PATH=" + bin + ":" + s.path, "PAGER=cat", "TERM=xterm-256color", "TZ=UTC", "LC_ALL=C.UTF-8"}
	return play(steps, func(command string) (string, error) {
		out, err := inTerminal(ctx, home, env, command)
		if err == nil && strings.Contains(out, home) {
			err = fmt.Errorf("names the temporary home, which is another one each time:\n%s", out)
		}
		if err != nil {
			return "", fmt.Errorf("$ %s: %w", command, err)
		}
		return out, nil
	})
}

// furnish puts the program and the sessions into a home.
func (s studio) furnish(home, bin string) error {
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return err
	}
	program, err := os.ReadFile(s.binary)
	if err != nil {
		return fmt.Errorf("%w: make build makes it", err)
	}
	if err := os.WriteFile(filepath.Join(bin, "terminus"), program, 0o700); err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(home, ".claude"), os.DirFS(s.samples))
}
