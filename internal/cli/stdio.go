package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// A sink is stdout. Once the reader at its other end has gone, it swallows
// what is still written: that is no failure of ours, and the exit code stays
// the verdict's. Any other failure is kept and reported by close.
type sink struct {
	w    *bufio.Writer
	gone bool
	err  error
}

func newSink(w io.Writer) *sink {
	s := &sink{}
	s.w = bufio.NewWriter(&sinkEnd{w, s})
	return s
}

func (s *sink) Write(p []byte) (int, error) { return s.w.Write(p) }

// done reports that nobody reads any more, so that long output may stop.
func (s *sink) done() bool { return s.gone || s.err != nil }

// flush hands over what is buffered.
func (s *sink) flush() { _ = s.w.Flush() } // sinkEnd keeps the error

// close flushes, and says what kept the output from being written.
func (s *sink) close() error {
	s.flush()
	if s.err != nil {
		return fmt.Errorf("write stdout: %w", s.err)
	}
	return nil
}

type sinkEnd struct {
	w io.Writer
	s *sink
}

func (e *sinkEnd) Write(p []byte) (int, error) {
	if e.s.done() {
		return len(p), nil
	}
	if _, err := e.w.Write(p); err != nil {
		if readerGone(err) {
			e.s.gone = true
		} else {
			e.s.err = err
		}
	}
	return len(p), nil
}

// readerGone reports whether a write failed because the stream is closed.
func readerGone(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) || systemReaderGone(err)
}

// A screen is what is known of the terminal behind a stream.
type screen struct {
	width  int  // columns; 0 is not a terminal
	colour bool // may be coloured
}

// screenOf looks at a stream. get reads the environment.
func screenOf(w any, get func(string) string) screen {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return screen{}
	}
	const fallback = 80 // what a terminal of unknown width can show
	s := screen{width: fallback, colour: get("NO_COLOR") == "" && get("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.width = width
	}
	return s
}

func (s screen) terminal() bool { return s.width > 0 }

// The looks that text has on a terminal with colour.
const (
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	plain = "\x1b[0m"
)

func (s screen) style(look, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return look + text + plain
}
