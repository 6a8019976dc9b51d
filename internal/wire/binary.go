package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// mark stands in every build of Terminus and in no other program. It never changes.
const mark = "terminus-program:01d3affa-9921-4c0e-ba7a-77ca62fb714b"

// markChunk is how much of a program is looked at in one go.
const markChunk = 64 << 10

// Marked reports whether what r holds is a build of Terminus. It reads to the end
// or to the mark.
func Marked(r io.Reader) (bool, error) {
	buf := make([]byte, 0, markChunk+len(mark))
	for {
		n, err := io.ReadFull(r, buf[len(buf):len(buf)+markChunk])
		buf = buf[:len(buf)+n]
		switch {
		case bytes.Contains(buf, []byte(mark)):
			return true, nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return false, nil
		case err != nil:
			return false, err
		}
		// The mark may stand across two chunks.
		buf = append(buf[:0], buf[len(buf)-len(mark)+1:]...)
	}
}

// MarkedFile is Marked for a regular file, through links.
func MarkedFile(path string) (bool, error) {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	marked, err := Marked(f)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return marked, nil
}

// A ForeignError says that another program stands at the stable path.
type ForeignError struct{ Path string }

func (e *ForeignError) Error() string { return e.Path + ": another program has this name" }

// Program is what happens to the program at the stable path.
type Program struct {
	// Path is the stable path, and Exe the program that is to be there.
	Path, Exe string
	// Needed tells whether it has to be put there, and Replaces whether another
	// build of Terminus stands there.
	Needed, Replaces bool
}

// planProgram looks at the stable path. Something else than a build of Terminus
// there is an error, a *ForeignError where it can be removed.
func planProgram(exe, path string) (Program, error) {
	p := Program{Path: path, Exe: exe}
	absent := func() (Program, error) {
		p.Needed = true
		return p, checkDir(filepath.Dir(path))
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return absent()
	}
	if err != nil {
		return p, err
	}
	if own, err := os.Stat(exe); err == nil && os.SameFile(info, own) {
		return p, nil
	}
	marked, err := MarkedFile(path)
	if err == nil && !marked {
		err = &ForeignError{path}
	}
	var old []byte
	if err == nil {
		old, err = os.ReadFile(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return absent() // an uninstall took it away just now
	}
	if err != nil {
		return p, err
	}
	own, err := os.ReadFile(exe)
	if err != nil {
		return p, err
	}
	p.Needed = !bytes.Equal(own, old) || info.Mode()&0o111 == 0
	p.Replaces = p.Needed
	if !p.Needed {
		return p, nil
	}
	return p, checkDir(filepath.Dir(path))
}

const (
	programMode fs.FileMode = 0o755
	// startWait is how long a program may take to tell its version. It needs some
	// milliseconds; a system that looks at every new program takes seconds.
	startWait = 20 * time.Second
)

// place copies the program to the stable path. What is copied is started once before
// it gets that name, so that no agent is told to run what cannot.
func (p Program) place(ctx context.Context, version string) error {
	data, err := os.ReadFile(p.Exe)
	if err != nil {
		return err
	}
	fsx.Sweep(p.Path)
	temp, err := fsx.WriteTemp(p.Path, data, programMode)
	if err != nil {
		return err
	}
	if err := starts(ctx, temp, version); err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("%s: a copy of this program does not run there: %w", p.Path, err)
	}
	// What stands there may have changed since it was looked at.
	marked, err := MarkedFile(p.Path)
	if err == nil && !marked {
		err = &ForeignError{p.Path}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = makeWay(p.Path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return err
	}
	return fsx.Replace(temp, p.Path)
}

// starts reports what keeps a copy of this program from running.
func starts(ctx context.Context, path, version string) error {
	if !startsAnyName {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(string(out)); got != version {
		return fmt.Errorf("it says that it is version %q, not %q", got, version)
	}
	return nil
}
