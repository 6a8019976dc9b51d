// Package jsonedit edits JSON as text: a change touches the bytes of what it
// names, and all others stay as they are. Order, spacing, the spelling of
// numbers and strings, line ends, a byte order mark and a missing newline at the
// end survive, and so do the comments and trailing commas of JSONC, which are
// read everywhere.
//
// It promises that what it cannot read for certain is refused: text that is not
// JSON or not UTF-8, and a key that an object holds twice, of which programs
// differ in which they take. An error names the place, and nothing is changed by it.
// Text in which nothing stands but white space and comments is taken for an
// empty object.
package jsonedit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A Kind is the type of a JSON value.
type Kind uint8

// The kinds. Absent is that of the zero Node.
const (
	Absent Kind = iota
	Object
	Array
	String
	Number
	Bool
	Null
)

// String is the kind in a sentence, with its article.
func (k Kind) String() string {
	return [...]string{"absent", "an object", "an array", "a string", "a number", "true or false", "null"}[k]
}

// A Path leads from the root to a value: a string is a key, an int an index.
type Path []any

// String spells a path as a person reads it: .hooks.SessionStart[0]["a b"]. The root is a
// single dot.
func (p Path) String() string {
	if len(p) == 0 {
		return "."
	}
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if plainKey(s) {
				b.WriteString("." + s)
			} else {
				b.WriteString("[" + strconv.Quote(s) + "]")
			}
		}
	}
	return b.String()
}

func plainKey(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c == '-' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9' || i == 0) {
			return false
		}
	}
	return s != ""
}

// with is p and one step more, in memory of its own.
func (p Path) with(step any) Path { return append(p[:len(p):len(p)], step) }

// A Document is one text and the value in it. It does not change: an edit makes
// another Document.
type Document struct {
	text []byte
	root *node // nil where the text is blank
	// comments are the spans of the comments, in order.
	comments [][2]int
}

// A node is a value: where it stands in the text, and what it holds.
type node struct {
	kind       Kind
	start, end int
	keys       []key // of an object; one for each child
	children   []*node
	commas     []int // where the comma behind each child is; -1 behind the last, mostly
}

// A key is the name of an object's member.
type key struct {
	name  string // decoded
	start int
}

// first is where the i-th child of n begins, its key included.
func (n *node) first(i int) int {
	if n.kind == Object {
		return n.keys[i].start
	}
	return n.children[i].start
}

// Text is the document's text. It must not be changed.
func (d *Document) Text() []byte { return d.text }

// Blank reports whether no value stands in the text.
func (d *Document) Blank() bool { return d.root == nil }

// Root is the whole value; an Absent one where the text is blank.
func (d *Document) Root() Node { return Node{d: d, n: d.root} }

// At is the value that p leads to, or an Absent one.
func (d *Document) At(p Path) Node {
	n := d.Root()
	for _, step := range p {
		switch s := step.(type) {
		case string:
			n = n.Get(s)
		case int:
			items := n.Items()
			if s < 0 || s >= len(items) {
				return Node{path: p}
			}
			n = items[s]
		}
	}
	n.path = p
	return n
}

// CommentsWithin reports whether every comment of d stands in other, too.
func (d *Document) CommentsWithin(other *Document) bool {
	have := map[string]int{}
	for _, c := range other.comments {
		have[string(other.text[c[0]:c[1]])]++
	}
	for _, c := range d.comments {
		text := string(d.text[c[0]:c[1]])
		if have[text]--; have[text] < 0 {
			return false
		}
	}
	return true
}

// A Node is one value in a document. The zero Node is one that is not there.
type Node struct {
	d    *Document
	n    *node
	path Path
}

// Kind is what the value is.
func (n Node) Kind() Kind {
	if n.n == nil {
		return Absent
	}
	return n.n.kind
}

// Path leads to the value.
func (n Node) Path() Path { return n.path }

// Text is the value as it is spelled.
func (n Node) Text() string {
	if n.n == nil {
		return ""
	}
	return string(n.d.text[n.n.start:n.n.end])
}

// Get is the member of an object; Absent where there is none, or n is no object.
func (n Node) Get(name string) Node {
	member := Node{path: n.path.with(name)}
	if n.Kind() == Object {
		for i, k := range n.n.keys {
			if k.name == name {
				member.d, member.n = n.d, n.n.children[i]
			}
		}
	}
	return member
}

// Keys are the names of an object's members, in their order.
func (n Node) Keys() []string {
	if n.Kind() != Object {
		return nil
	}
	var names []string
	for _, k := range n.n.keys {
		names = append(names, k.name)
	}
	return names
}

// Items are the elements of an array.
func (n Node) Items() []Node {
	if n.Kind() != Array {
		return nil
	}
	items := make([]Node, len(n.n.children))
	for i, c := range n.n.children {
		items[i] = Node{n.d, c, n.path.with(i)}
	}
	return items
}

// Str is the value of a string.
func (n Node) Str() (string, bool) {
	if n.Kind() != String {
		return "", false
	}
	return unquote(n.d.text[n.n.start:n.n.end]), true
}

// Empty reports whether n is an object or an array that holds nothing.
func (n Node) Empty() bool {
	return (n.Kind() == Object || n.Kind() == Array) && len(n.n.children) == 0
}

// Want is an error that names the value where it is of another kind than k.
func (n Node) Want(k Kind) error {
	switch n.Kind() {
	case k:
		return nil
	case Absent:
		return fmt.Errorf("%s is not there", n.path)
	default:
		return fmt.Errorf("%s is %s, not %s", n.path, n.Kind(), k)
	}
}

// Same reports whether both hold the same: members in the same order, strings of the
// same characters, numbers that a program with 64 bits for one takes for equal.
// A value that is not there is the same as an empty object.
func (n Node) Same(m Node) bool {
	if n.Kind() == Absent || m.Kind() == Absent {
		blank := func(x Node) bool { return x.Kind() == Absent || x.Kind() == Object && x.Empty() }
		return blank(n) && blank(m)
	}
	return same(n.d.text, n.n, m.d.text, m.n)
}

func same(at []byte, a *node, bt []byte, b *node) bool {
	if a.kind != b.kind || len(a.children) != len(b.children) {
		return false
	}
	as, bs := at[a.start:a.end], bt[b.start:b.end]
	switch a.kind {
	case String:
		return unquote(as) == unquote(bs)
	case Number:
		x, xErr := strconv.ParseFloat(string(as), 64)
		y, yErr := strconv.ParseFloat(string(bs), 64)
		return bytes.Equal(as, bs) || xErr == nil && yErr == nil && x == y
	case Bool, Null:
		return bytes.Equal(as, bs)
	}
	for i := range a.children {
		if a.kind == Object && a.keys[i].name != b.keys[i].name {
			return false
		}
		if !same(at, a.children[i], bt, b.children[i]) {
			return false
		}
	}
	return true
}
