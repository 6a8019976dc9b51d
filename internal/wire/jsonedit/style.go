package jsonedit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// What a text is written with that shows no style of its own.
const (
	defaultUnit    = "  "
	defaultNewline = "\n"
)

// A style is how things are written at one place of a text.
type style struct {
	newline string
	unit    string // one step of indentation
	lines   bool   // each child stands on a line of its own
	indent  string // before a child, where it does
	outdent string // before the closing bracket of an empty one
	between string // between a comma and the child behind it
	colon   string // behind a colon
}

// style finds out how children of n are written; n is nil for the root of a blank
// text.
func (d *Document) style(n *node) style {
	st := style{newline: defaultNewline, unit: d.unit(), colon: " "}
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		st.newline = "\r\n"
	}
	if d.root != nil && d.root.kind == Object && len(d.root.keys) > 0 {
		colon := d.text[:d.root.children[0].start]
		if colon[len(colon)-1] == ':' {
			st.colon = ""
		}
	}
	if n == nil {
		st.lines = true
		return st
	}
	st.outdent = d.lineIndent(n.start)
	last := len(n.children) - 1
	if last < 0 {
		st.lines = d.root.children == nil || d.ownLine(d.root, 0)
		st.indent = st.outdent + st.unit
		st.between = " "
		return st
	}
	st.lines = d.ownLine(n, last)
	st.indent = d.lineIndent(n.first(last))
	switch {
	case st.lines:
		st.between = st.newline + st.indent
	case last > 0:
		between := d.text[n.commas[last-1]+1 : n.first(last)]
		if len(bytes.Trim(between, " \t")) == 0 {
			st.between = string(between)
		}
	default:
		st.between = st.colon
	}
	return st
}

// unit is one step of the text's indentation.
func (d *Document) unit() string {
	for n := d.root; n != nil && len(n.children) > 0; n = n.children[0] {
		if !d.ownLine(n, 0) {
			continue
		}
		if unit, ok := strings.CutPrefix(d.lineIndent(n.first(0)), d.lineIndent(n.start)); ok {
			return unit
		}
	}
	return defaultUnit
}

// ownLine reports whether the i-th child of n is the first on its line.
func (d *Document) ownLine(n *node, i int) bool {
	from := n.start + 1
	if i > 0 {
		from = n.children[i-1].end
	}
	return bytes.IndexByte(d.text[from:n.first(i)], '\n') >= 0
}

// lineIndent is the white space at the beginning of the line that holds an offset.
func (d *Document) lineIndent(at int) string {
	line := d.text[bytes.LastIndexByte(d.text[:at], '\n')+1 : at]
	line = bytes.TrimPrefix(line, []byte(bom))
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// render spells a value as a child at this place.
func (st style) render(v Value) string {
	var b strings.Builder
	st.write(&b, v, st.indent)
	return b.String()
}

func (st style) write(b *strings.Builder, v Value, indent string) {
	switch v := v.(type) {
	case string:
		b.WriteString(quote(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int:
		b.WriteString(strconv.Itoa(v))
	case Members:
		st.list(b, '{', '}', len(v), indent, func(i int, indent string) {
			b.WriteString(quote(v[i].Key) + ":" + st.colon)
			st.write(b, v[i].Value, indent)
		})
	case Elements:
		st.list(b, '[', ']', len(v), indent, func(i int, indent string) { st.write(b, v[i], indent) })
	case nil:
		b.WriteString("null")
	default:
		panic(fmt.Sprintf("jsonedit: a value of type %T", v))
	}
}

// list writes what stands between two brackets: a line for each where the place has
// lines, all on one line otherwise.
func (st style) list(b *strings.Builder, opening, closing byte, n int, indent string, item func(i int, indent string)) {
	b.WriteByte(opening)
	inner := indent + st.unit
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		switch {
		case st.lines:
			b.WriteString(st.newline + inner)
		case i > 0:
			b.WriteString(st.colon) // as wide apart as a value from its key
		}
		item(i, inner)
	}
	if st.lines && n > 0 {
		b.WriteString(st.newline + indent)
	}
	b.WriteByte(closing)
}
