// Package markdown owns what is read of conversations that an agent writes as Markdown: lines,
// and which of them stand in a fence, where nothing is markup.
//
// It reads no more of Markdown than that: fences of three or more backquotes or tildes that
// begin a line, behind at most three blanks.
package markdown

import (
	"bytes"
	"iter"
)

// A Line is one line with its end, as it stands in the text.
type Line struct {
	// Off is its place in the text.
	Off  int
	Text []byte
	// Fenced says that the line is a fence or stands in one.
	Fenced bool
}

// Bare is the line without its end.
func (l Line) Bare() []byte { return bytes.TrimRight(l.Text, "\r\n") }

// Lines are the lines of a text. breaks, if not nil, reports whether a line begins something
// new at which a fence ends that nobody closed: one that an agent was writing when it was
// stopped. Such a line in a fence that is closed behind it is quoted, and breaks nothing.
func Lines(text []byte, breaks func(line []byte) bool) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		var open fence
		var c closer
		off := 0
		for raw := range bytes.Lines(text) {
			l := Line{Off: off, Text: raw}
			off += len(raw)
			f := fenceOf(l.Bare())
			if open.n > 0 && breaks != nil && breaks(l.Bare()) && !c.at(off, open, text) {
				open = fence{}
			}
			switch {
			case open.n == 0 && f.n > 0:
				open, l.Fenced, c = f, true, closer{}
			case open.n > 0:
				l.Fenced = true
				if f.ends(open) {
					open = fence{}
				}
			}
			if !yield(l) {
				return
			}
		}
	}
}

// A fence is the beginning of a line: n marks of one kind, and whether more stands behind them.
type fence struct {
	mark byte
	n    int
	info bool
}

// ends reports whether the fence closes another.
func (f fence) ends(open fence) bool { return f.mark == open.mark && f.n >= open.n && !f.info }

// A closer says of a place whether the next fence behind it closes an open one. It looks at no
// line twice.
type closer struct {
	open   fence
	until  int // the place of that fence, or the end of the text
	closes bool
}

func (c *closer) at(off int, open fence, text []byte) bool {
	if c.open == open && off <= c.until {
		return c.closes
	}
	*c = closer{open: open, until: off}
	for raw := range bytes.Lines(text[off:]) {
		next := fenceOf(bytes.TrimRight(raw, "\r\n"))
		if next.n > 0 && next.mark == open.mark {
			c.closes = next.ends(open)
			break
		}
		c.until += len(raw)
	}
	return c.closes
}

func fenceOf(line []byte) fence {
	const blanks, least = 3, 3
	i := 0
	for i < len(line) && i < blanks && line[i] == ' ' {
		i++
	}
	if i == len(line) || line[i] != '`' && line[i] != '~' {
		return fence{}
	}
	f := fence{mark: line[i]}
	for i < len(line) && line[i] == f.mark {
		f.n++
		i++
	}
	info := bytes.TrimSpace(line[i:])
	if f.n < least || f.mark == '`' && bytes.IndexByte(info, '`') >= 0 {
		return fence{}
	}
	f.info = len(info) > 0
	return f
}
