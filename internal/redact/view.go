package redact

import (
	"bytes"
	"sort"
)

// Bytes of a view that no source byte stands for as such.
const (
	brk   = 0x00 // the end of a text: no rule reads across it
	other = 0x01 // a character that means nothing to any rule
)

// A view is a text as the rules read it: escapes decoded, terminal escape
// sequences left out. Without either it is the source itself.
type view struct {
	b     []byte
	segs  []seg  // by at; none: every byte stands for itself
	parts []part // by at: the texts of the view
	hint  int    // the segment that was asked for last
	fixed []edit // found while the view was made
	// fields holds the names of fields, which parts point into.
	fields []byte
}

// A seg says where bytes of the view come from: the one at at stands for the
// width bytes of the source from src on, and those behind it, one for one, for
// what follows there. Without a width that is so from at on.
type seg struct{ at, src, width int }

// A part is one text of a view. joined says that only a line break that is not
// in the source parts it from the part before: both are elements of one array.
type part struct {
	at, end  int
	key      span // the source of the name of its field, empty where there is none
	joined   bool
	isString bool // a string of a record, as a whole
}

type span struct{ from, to int }

// source returns the bytes of the source that the byte at p stands for.
func (v *view) source(p int) (from, to int) {
	if len(v.segs) == 0 {
		return p, p + 1
	}
	s := v.segs[v.seg(p)]
	if p == s.at && s.width > 0 {
		return s.src, s.src + s.width
	}
	from = s.src + p - s.at
	if s.width > 0 {
		from += s.width - 1
	}
	return from, from + 1
}

// seg returns the index of the last segment that begins at or before p.
func (v *view) seg(p int) int {
	const near = 8 // what is asked for stands mostly near what was asked for last
	i := v.hint
	for range near {
		switch {
		case v.segs[i].at > p:
			i--
		case i+1 < len(v.segs) && v.segs[i+1].at <= p:
			i++
		default:
			v.hint = i
			return i
		}
	}
	v.hint = sort.Search(len(v.segs), func(i int) bool { return v.segs[i].at > p }) - 1
	return v.hint
}

// depth is how many backslashes stand before the quote at p: a string that a
// quote opens is closed by one of no greater depth.
func (v *view) depth(p int) int {
	if len(v.segs) == 0 {
		return 0
	}
	if s := v.segs[v.seg(p)]; s.at == p {
		return max(s.width-1, 0)
	}
	return 0
}

// part returns the part that holds p.
func (v *view) part(p int) *part {
	i := sort.Search(len(v.parts), func(i int) bool { return v.parts[i].at > p }) - 1
	return &v.parts[max(i, 0)]
}

// joint reports whether p is the line break between two elements of an array.
func (v *view) joint(p int) bool {
	i := sort.Search(len(v.parts), func(i int) bool { return v.parts[i].at > p })
	return i < len(v.parts) && v.parts[i].joined && v.parts[i].at == p+1
}

// A reader makes a view.
type reader struct {
	view
	text []byte
	// Where the next special bytes of the part stand, at or after what was last
	// asked for.
	next [len(specials)]int
	// aside are the texts in terminal escape sequences, which are read last.
	aside []span
}

const (
	esc      = 0x1b
	bell     = 0x07
	specials = "\\\x1b\x00"
)

// textView reads src as one text.
func textView(src []byte) *view {
	if bytes.IndexByte(src, '\\') < 0 && bytes.IndexByte(src, esc) < 0 && bytes.IndexByte(src, 0) < 0 {
		return &view{b: src, parts: []part{{end: len(src)}}}
	}
	r := newReader(src)
	r.add(part{}, 0, len(src))
	r.finish()
	return &r.view
}

func newReader(src []byte) *reader {
	r := &reader{text: src}
	r.fields = src
	r.b = make([]byte, 0, len(src))
	r.segs = make([]seg, 0, bytes.Count(src, []byte{'\\'})+bytes.Count(src, []byte{esc})+1)
	return r
}

// add appends the source's bytes from from to to as a part.
func (r *reader) add(p part, from, to int) {
	if len(r.b) > 0 {
		sep := byte(brk)
		if p.joined {
			sep = '\n'
		}
		r.b = append(r.b, sep)
	}
	p.at = len(r.b)
	r.next = [len(specials)]int{-1, -1, -1}
	r.segs = append(r.segs, seg{at: p.at, src: from})
	for i := from; i < to; {
		end := r.special(i, to)
		r.b = append(r.b, r.text[i:end]...)
		if i = end; i == to {
			break
		}
		switch r.text[i] {
		case '\\':
			i = r.escape(i, to)
		case esc:
			i = r.left(r.sequence(i+1, to))
		default:
			i = r.put(other, i, i+1)
		}
	}
	p.end = len(r.b)
	r.parts = append(r.parts, p)
}

// finish reads what was put aside.
func (r *reader) finish() {
	for n := 0; n < len(r.aside); n++ { // a text may put more aside
		r.add(part{}, r.aside[n].from, r.aside[n].to)
	}
}

// special returns where the first special byte stands in [i, to), to if none.
func (r *reader) special(i, to int) int {
	first := to
	for k := range r.next {
		if r.next[k] < i {
			at := bytes.IndexByte(r.text[i:to], specials[k])
			if r.next[k] = i + at; at < 0 {
				r.next[k] = to
			}
		}
		first = min(first, r.next[k])
	}
	return first
}

// put appends c, which stands for the source's bytes from from to to.
func (r *reader) put(c byte, from, to int) int {
	r.segs = append(r.segs, seg{len(r.b), from, to - from})
	r.b = append(r.b, c)
	return to
}

// left notes that what stands before i is left out.
func (r *reader) left(i int) int {
	r.segs = append(r.segs, seg{at: len(r.b), src: i})
	return i
}

// escape reads the backslashes at i and what they escape. However many there
// are, they stand for one escape: the text is quoted that deeply.
func (r *reader) escape(i, to int) int {
	at := i
	for at < to && r.text[at] == '\\' {
		at++
	}
	if at == to {
		return r.put('\\', i, at)
	}
	rest := r.text[at:to]
	// Quoted n times, a line break has 2^(n-1) backslashes, and one with a
	// backslash before it thrice as many.
	continued := (at-i)%3 == 0
	switch c := rest[0]; c {
	case '"', '\'', '`', '/':
		return r.put(c, i, at+1)
	case '\n':
		return r.put(' ', i, at+1) // a command that goes on
	case 'n', 'r':
		if continued {
			return r.put(' ', i, at+1)
		}
		return r.put('\n', i, at+1)
	case 't':
		if !hasFold(rest, "token") { // `dir\token`, not a tab
			return r.put('\t', i, at+1)
		}
	case 'u':
		if n, ok := hex(rest[1:], 4); ok {
			if n == esc {
				if continued {
					r.put('\\', i, at)
				}
				return r.left(r.sequence(at+5, to))
			}
			return r.put(plain(n), i, at+5)
		}
	case 'x', '0', 'e':
		if n := terminal(rest); n > 0 {
			return r.left(r.sequence(at+n, to))
		}
	}
	return r.put('\\', i, at)
}

// plain is the byte that the rules see of the character n.
func plain(n int) byte {
	switch {
	case n >= ' ' && n < 0x7f, n == '\n', n == '\t', n == '\r':
		return byte(n)
	}
	return other
}

// terminal is the length of an escape character as source code spells it, its
// backslash excluded, before what makes it one; 0 if rest is none.
func terminal(rest []byte) int {
	for _, form := range []string{"x1b", "033", "e"} {
		if hasFold(rest, form) && len(rest) > len(form) && (rest[len(form)] == '[' || rest[len(form)] == ']') {
			return len(form)
		}
	}
	return 0
}

const (
	// maxControl bounds the parameters of a control sequence; real ones have a
	// dozen bytes.
	maxControl = 64
	// maxCommand bounds an operating system command: a title, or a link.
	maxCommand = 4096
)

// sequence reads over a terminal escape sequence, whose escape character ends
// at at. What is none costs the escape character alone.
func (r *reader) sequence(at, to int) int {
	if at >= to {
		return at
	}
	switch c := r.text[at]; c {
	case '[':
		for i := at + 1; i < min(to, at+maxControl); i++ {
			if b := r.text[i]; b < 0x20 || b > 0x3f {
				if b >= 0x40 && b <= 0x7e && b != '\\' {
					return i + 1
				}
				break
			}
		}
	case ']':
		for i := at + 1; i < min(to, at+maxCommand); i++ {
			if n := terminator(r.text[i:to]); n > 0 {
				r.aside = append(r.aside, span{at + 1, i})
				return i + n
			}
		}
	case '(', ')':
		return min(at+2, to)
	case '7', '8', '=', '>':
		return at + 1
	}
	return at
}

// terminator is the length of what ends an operating system command, 0 if b
// does not begin with it.
func terminator(b []byte) int {
	switch b[0] {
	case bell:
		return 1
	case esc:
		return 1 + slashes(b[1:])
	case '\\':
		n := slashes(b)
		for _, form := range []string{"u0007", "x07", "007", "a"} {
			if hasFold(b[n:], form) {
				return n + len(form)
			}
		}
		for _, form := range []string{"u001b", "x1b", "033", "e"} {
			if hasFold(b[n:], form) {
				n += len(form)
				return n + slashes(b[n:])
			}
		}
	}
	return 0
}

// slashes counts the backslashes that b begins with, up to those of one that
// is quoted a few times.
func slashes(b []byte) int {
	n := 0
	for n < min(len(b), 16) && b[n] == '\\' {
		n++
	}
	return n
}

// hex reads n hexadecimal digits.
func hex(b []byte, n int) (value int, ok bool) {
	if len(b) < n {
		return 0, false
	}
	for _, c := range b[:n] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		value = value<<4 | int(c)
	}
	return value, true
}

// hasFold reports whether b begins with the lower-case ASCII prefix, in any case.
func hasFold(b []byte, prefix string) bool {
	if len(b) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(b[i]) != prefix[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}
