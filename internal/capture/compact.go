package capture

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/transcript"
)

const (
	// maxMembers bounds the members of the objects that are open at one time: what
	// is known of them costs some 50 bytes each. A line that has more is archived
	// whole.
	maxMembers = 1 << 18
	// keepScratch is the size above which a buffer is not kept for the next line:
	// one monstrous record must not cost memory for the rest of a pass.
	keepScratch = 1 << 20
	// markRoom is what marks may add to a line: each of a few short values grows
	// by less than the mark's length.
	markRoom = 256

	markStart = `{"terminusElided":`
	// rowMember holds the row in the stream line of a record with an id.
	rowMember = "row"
)

// A place is where in a line an object stands.
type place uint8

const (
	elsewhere place = iota
	inRecord        // its members may be left out
	aroundRow       // its row is the record
)

// isMark reports whether a compact value stands for one that was left out: an
// object of the one member, a number that can be a length.
func isMark(value []byte) bool {
	digits, ok := bytes.CutPrefix(value, []byte(markStart))
	if !ok {
		return false
	}
	digits, ok = bytes.CutSuffix(digits, []byte("}"))
	_, err := strconv.ParseUint(string(digits), 10, 64)
	return ok && err == nil
}

// A writer writes one JSON value compactly, with sorted keys. What it is given is
// valid JSON: it checks nothing again.
type writer struct {
	in      []byte
	i       int
	out     []byte
	members []member // of all open objects
	scratch []byte
	leave   func(member string, value []byte) bool
	over    bool // there were more than maxMembers
}

// A member is one member of an open object, written at out[start:end].
type member struct {
	key               []byte // unescaped
	start, value, end int
	changed           bool
}

// line writes the object that line holds, and what leave names left out. It
// returns line itself where nothing is.
func (w *writer) line(line []byte, at place, leave func(member string, value []byte) bool) []byte {
	w.in, w.i, w.leave, w.over = line, 0, leave, false
	if need := len(line) + markRoom; cap(w.out) < need {
		w.out = make([]byte, 0, need)
	}
	w.out = w.out[:0]
	changed := w.val(at)
	out := w.out
	w.in, w.leave = nil, nil
	w.members = transcript.Recycle(w.members[:cap(w.members)])
	if cap(w.out) > keepScratch {
		w.out = nil
	}
	if cap(w.scratch) > keepScratch {
		w.scratch = nil
	}
	if w.over || !changed {
		return line
	}
	if line[len(line)-1] == '\n' {
		out = append(out, '\n')
	}
	return out
}

// blank moves to the next byte that is no white space, and returns it.
func (w *writer) blank() byte {
	for {
		switch c := w.in[w.i]; c {
		case ' ', '\t', '\n', '\r':
			w.i++
		default:
			return c
		}
	}
}

// val writes the value that comes next, and reports whether something in it was
// left out.
func (w *writer) val(at place) (changed bool) {
	switch w.blank() {
	case '{':
		return w.object(at)
	case '[':
		w.array()
	case '"':
		w.text()
	default:
		n := bytes.IndexAny(w.in[w.i:], ",]} \t\r\n")
		w.out = append(w.out, w.in[w.i:w.i+n]...)
		w.i += n
	}
	return false
}

func (w *writer) array() {
	w.i++
	w.out = append(w.out, '[')
	for first := true; w.blank() != ']'; first = false {
		if !first {
			w.i++ // the comma
			w.out = append(w.out, ',')
		}
		if w.val(elsewhere); w.over {
			return
		}
	}
	w.i++
	w.out = append(w.out, ']')
}

// object writes the members as they come, and puts them in order at the end.
func (w *writer) object(at place) (changed bool) {
	start, base := len(w.out), len(w.members)
	w.i++
	w.out = append(w.out, '{')
	sorted := true
	for w.blank() != '}' {
		if len(w.members) > base {
			w.i++ // the comma
			w.blank()
			w.out = append(w.out, ',')
		}
		if len(w.members) >= maxMembers {
			w.over = true
			return false
		}
		m := member{start: len(w.out)}
		m.key = w.key()
		w.blank()
		w.i++ // the colon
		w.out = append(w.out, ':')
		m.value = len(w.out)
		within := elsewhere
		if at == aroundRow && string(m.key) == rowMember {
			within = inRecord
		}
		if m.changed = w.val(within); w.over {
			return false
		}
		m.end = len(w.out)
		sorted = sorted && (len(w.members) == base || bytes.Compare(w.members[len(w.members)-1].key, m.key) < 0)
		w.members = append(w.members, m)
	}
	w.i++
	w.out = append(w.out, '}')
	changed = w.arrange(start, w.members[base:], sorted, at)
	w.members = w.members[:base]
	return changed
}

// arrange brings the members of the object at out[start:] in order.
func (w *writer) arrange(start int, members []member, sorted bool, at place) (changed bool) {
	if sorted && at == elsewhere {
		return false
	}
	if !sorted {
		slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	}
	w.scratch = append(w.scratch[:0], '{')
	for i, m := range members {
		if i+1 < len(members) && bytes.Equal(m.key, members[i+1].key) {
			continue
		}
		if len(w.scratch) > 1 {
			w.scratch = append(w.scratch, ',')
		}
		value := w.out[m.value:m.end]
		if at == inRecord && w.leave(string(m.key), value) {
			w.scratch = append(w.scratch, w.out[m.start:m.value]...)
			w.scratch = append(w.scratch, markStart...)
			w.scratch = strconv.AppendInt(w.scratch, int64(len(value)), 10)
			w.scratch = append(w.scratch, '}')
			changed = true
			continue
		}
		w.scratch = append(w.scratch, w.out[m.start:m.end]...)
		changed = changed || m.changed
	}
	w.scratch = append(w.scratch, '}')
	w.out = append(w.out[:start], w.scratch...)
	return changed
}

// key writes the string that comes next and returns what it says.
func (w *writer) key() []byte {
	start, out := w.i, len(w.out)
	if !w.text() {
		return w.in[start+1 : w.i-1 : w.i-1]
	}
	return unescape(w.out[out+1 : len(w.out)-1])
}

// text writes the string that comes next, escaped as little as JSON allows, and
// reports whether it has an escape.
func (w *writer) text() (escaped bool) {
	w.i++
	w.out = append(w.out, '"')
	from := w.i // what is not yet written
	for w.in[w.i] != '"' {
		if w.in[w.i] != '\\' {
			w.i++
			continue
		}
		escaped = true
		if next := w.in[w.i+1]; next != 'u' && next != '/' {
			w.i += 2
			continue
		}
		w.out = append(w.out, w.in[from:w.i]...)
		w.escape()
		from = w.i
	}
	w.out = append(append(w.out, w.in[from:w.i]...), '"')
	w.i++
	return escaped
}

// escape writes the character of the escape that comes next, a slash or one given
// by its number.
func (w *writer) escape() {
	if w.in[w.i+1] == '/' {
		w.out = append(w.out, '/')
		w.i += 2
		return
	}
	r := w.hex(w.i + 2)
	raw := w.in[w.i : w.i+6]
	w.i += 6
	if utf16.IsSurrogate(r) {
		if w.in[w.i] == '\\' && w.in[w.i+1] == 'u' {
			if pair := utf16.DecodeRune(r, w.hex(w.i+2)); pair != utf8.RuneError {
				w.out = utf8.AppendRune(w.out, pair)
				w.i += 6
				return
			}
		}
		w.out = append(w.out, raw...)
		return
	}
	if r < ' ' || r == '"' || r == '\\' {
		w.out = append(w.out, control(r)...)
		return
	}
	w.out = utf8.AppendRune(w.out, r)
}

func (w *writer) hex(at int) rune {
	n, err := strconv.ParseUint(string(w.in[at:at+4]), 16, 16)
	if err != nil {
		return utf8.RuneError // cannot be: the line is valid JSON
	}
	return rune(n)
}

// control is the escape of a character that cannot stand for itself.
func control(r rune) string {
	switch r {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// unescape is what a string says that text or escape wrote. Half of a surrogate
// pair is the three bytes that would encode it, were it a character.
func unescape(p []byte) []byte {
	var out []byte
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' {
			out = append(out, p[i])
			continue
		}
		i++
		switch p[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			n, _ := strconv.ParseUint(string(p[i+1:i+5]), 16, 16) // four digits, as in the line
			i += 4
			if n < ' ' {
				out = append(out, byte(n))
				continue
			}
			out = append(out, 0xe0|byte(n>>12), 0x80|byte(n>>6)&0x3f, 0x80|byte(n)&0x3f)
		default:
			out = append(out, p[i])
		}
	}
	return out
}
