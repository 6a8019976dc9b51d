package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/terminus-archive/terminus/internal/document"
)

// MaxLine is the longest message that is read, in bytes. A request holds words,
// paths and ids, some kilobytes at most; a longer line is read past, in pieces.
const MaxLine = 1 << 20

const (
	readSize = 64 << 10 // of one piece of a line
	tooLong  = "the message is longer than 1 MiB"
)

// A line is one line of the input.
type line struct {
	text []byte // without its newline; valid until the next line is read

	// Of a line longer than MaxLine there is no text. notification says that it was
	// one whole object without an id, as far as its brackets tell; id is that of the
	// object, "" if there is none that can be echoed.
	long, notification bool
	id                 document.Raw
}

func (l line) blank() bool { return !l.long && len(bytes.TrimSpace(l.text)) == 0 }

var newline = []byte("\n")

type lineReader struct {
	in  *bufio.Reader
	buf []byte
}

func newLineReader(in io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, readSize)}
}

// next reads one line. At the end of the input it returns what stood behind the
// last newline, with io.EOF.
func (r *lineReader) next() (line, error) {
	r.buf = r.buf[:0]
	var past *idFinder
	for {
		piece, err := r.in.ReadSlice('\n')
		switch {
		case past != nil:
			past.read(piece)
		case len(r.buf)+len(bytes.TrimSuffix(piece, newline)) > MaxLine:
			past = &idFinder{}
			past.read(r.buf)
			past.read(piece)
			r.buf = nil
		default:
			r.buf = append(r.buf, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if past != nil {
			return line{long: true, notification: past.notification(), id: past.found()}, err
		}
		return line{text: bytes.TrimSuffix(r.buf, newline)}, err
	}
}

// An idFinder looks for the id of an object that is too long to be held, so that
// whoever asked is told. It knows strings and brackets, and no more of JSON.
type idFinder struct {
	depth             int
	inString, escaped bool
	isValue           bool // inside the outer object, behind a colon
	broken            bool // brackets that close what is not open, or a second value
	begun             bool
	name, id          []byte
	hasID             bool
}

// maxID is more than any id has; a longer one is not echoed to a line that
// cannot be read anyway.
const maxID = 1 << 10

func (f *idFinder) read(piece []byte) {
	for _, c := range piece {
		if f.inString {
			f.take(c)
			switch {
			case f.escaped:
				f.escaped = false
			case c == '\\':
				f.escaped = true
			case c == '"':
				f.inString = false
			}
			continue
		}
		f.token(c)
	}
}

// token reads a byte that is in no string.
func (f *idFinder) token(c byte) {
	switch c {
	case ' ', '\t', '\r', '\n':
		return
	case '{', '[':
		f.broken = f.broken || f.depth == 0 && (f.begun || c == '[')
		f.begun = true
		if f.depth == 1 {
			f.take(c) // makes an id that is no string and no number
		}
		f.depth++
		return
	case '}', ']':
		f.depth--
		f.broken = f.broken || f.depth < 0
		return
	}
	f.broken = f.broken || f.depth == 0
	if f.depth == 1 {
		switch c {
		case ':':
			f.isValue = true
			if string(f.name) == `"id"` {
				f.id, f.hasID = f.id[:0], true
			}
			return
		case ',':
			f.isValue, f.name = false, f.name[:0]
			return
		}
	}
	f.inString = c == '"'
	f.take(c)
}

// take keeps a byte of a name of the outer object, and of the value of its id.
func (f *idFinder) take(c byte) {
	switch {
	case f.depth != 1:
	case !f.isValue && len(f.name) <= maxID:
		f.name = append(f.name, c)
	case f.isValue && string(f.name) == `"id"` && len(f.id) <= maxID:
		f.id = append(f.id, c)
	}
}

func (f *idFinder) notification() bool {
	return f.begun && !f.broken && f.depth == 0 && !f.inString && !f.hasID
}

// found is the id, "" if there is none that can be echoed.
func (f *idFinder) found() document.Raw {
	if f.broken || len(f.id) > maxID {
		return ""
	}
	return idOf(bytes.ToValidUTF8(f.id, []byte("\uFFFD")))
}
