package doctor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

const (
	// versionLimit is how long a program may take to say its version.
	versionLimit = 2 * time.Second
	// agentLimit is the same for an agent, which may be a large program in a slow
	// language that is not in memory yet.
	agentLimit = 10 * time.Second
	// serverLimit is how long the MCP server may take to list its tools. An agent
	// waits longer.
	serverLimit = 5 * time.Second
	// closeLimit is how long the output of a program that has ended is waited for:
	// a child of it may hold it open.
	closeLimit = 200 * time.Millisecond
	// maxOutput is far above a version, and above the list of our tools.
	maxOutput = 256 << 10
)

// output runs a program with nothing, or with input, on its stdin, and returns what
// it wrote to stdout, as far as it is read. A program that fails or lasts too long
// is an error.
func output(ctx context.Context, limit time.Duration, input []byte, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = closeLimit
	if input != nil {
		cmd.Stdin = bytes.NewReader(input)
	}
	out := &limited{}
	cmd.Stdout = out
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has ended well, and a child of it lives on
	}
	if ctx.Err() != nil {
		err = errTooLong
	}
	return out.buf.Bytes(), err
}

var errTooLong = errors.New("it did not end in time")

// limited keeps the first maxOutput bytes, and takes all.
type limited struct{ buf bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := maxOutput - l.buf.Len(); room > 0 {
		l.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

var _ io.Writer = (*limited)(nil)
