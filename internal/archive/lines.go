package archive

import (
	"bytes"
	"io"
	"sync"
)

// MaxLine is the longest line that is handled as one record. A longer one is
// archived in pieces and is no turn: a record must fit into memory beside
// everything that is derived from it.
const MaxLine = 16 << 20

// A Line is a line, or a piece of one that is longer than MaxLine.
type Line struct {
	Bytes []byte // valid until the next call of Next
	Off   int64  // offset of Bytes in what was read
	Start bool   // Bytes begin a line
	End   bool   // Bytes end with the line's newline
}

// Whole reports whether the line came in one piece.
func (l Line) Whole() bool { return l.Start && l.End }

// A LineReader cuts a stream of bytes into lines.
type LineReader struct {
	r      io.Reader
	buf    []byte
	lo, hi int
	off    int64
	start  bool
	err    error
}

var lineBuffers = sync.Pool{New: func() any {
	p := make([]byte, lineBuffer)
	return &p
}}

// Release gives the reader's buffer back. Lines that Next returned are then no
// longer valid, and Next must not be called again.
func (l *LineReader) Release() {
	if p := l.buf; len(p) == lineBuffer {
		lineBuffers.Put(&p)
	}
	l.buf = nil
}

const (
	lineBuffer  = 256 << 10 // fits all but a handful of records
	readAtLeast = 32 << 10
)

// NewLineReader reads lines from r, whose first byte has offset off.
func NewLineReader(r io.Reader, off int64) *LineReader {
	return &LineReader{r: r, off: off, start: true}
}

// Next returns the next line. What follows the last newline comes as a line
// with End false. The error is io.EOF at the end, or that of the reader.
func (l *LineReader) Next() (Line, error) {
	scanned := 0
	for {
		// Not past MaxLine, however much is at hand: what is one record must not
		// depend on how the input was read.
		if i := bytes.IndexByte(l.buf[l.lo+scanned:min(l.hi, l.lo+MaxLine)], '\n'); i >= 0 {
			return l.take(scanned+i+1, true), nil
		}
		scanned = l.hi - l.lo
		if scanned >= MaxLine {
			return l.take(MaxLine, false), nil
		}
		if l.err != nil {
			if scanned > 0 {
				return l.take(scanned, false), nil
			}
			return Line{}, l.err
		}
		l.fill()
	}
}

func (l *LineReader) take(n int, end bool) Line {
	out := Line{Bytes: l.buf[l.lo : l.lo+n : l.lo+n], Off: l.off, Start: l.start, End: end}
	l.lo += n
	l.off += int64(n)
	l.start = end
	return out
}

func (l *LineReader) fill() {
	if l.buf == nil {
		l.buf = *lineBuffers.Get().(*[]byte)
	}
	if l.lo > 0 {
		copy(l.buf, l.buf[l.lo:l.hi])
		l.lo, l.hi = 0, l.hi-l.lo
	}
	if len(l.buf)-l.hi < readAtLeast {
		grown := make([]byte, min(2*len(l.buf), MaxLine+lineBuffer))
		copy(grown, l.buf[:l.hi])
		l.buf = grown
	}
	n, err := l.r.Read(l.buf[l.hi:])
	l.hi += n
	l.err = err
}
