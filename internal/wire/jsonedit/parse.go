package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxDepth bounds the nesting that is read, and with it the stack. Files that
// agents write are nested a dozen deep.
const maxDepth = 512

// bom is what some editors of Windows put before UTF-8.
const bom = "\ufeff"

// Parse reads a text. The document keeps it.
func Parse(text []byte) (*Document, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("not UTF-8 text")
	}
	p := &parser{text: text}
	if bytes.HasPrefix(text, []byte(bom)) {
		p.at = len(bom)
	}
	d := &Document{text: text}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(text) {
		var err error
		if d.root, err = p.value(nil); err != nil {
			return nil, err
		}
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at < len(text) {
			return nil, p.fault(p.at, nil, "nothing may follow the value")
		}
	}
	d.comments = p.comments
	return d, nil
}

type parser struct {
	text     []byte
	at       int
	comments [][2]int
}

// fault is an error at an offset, inside the value that path leads to.
func (p *parser) fault(at int, path Path, format string, args ...any) error {
	line := 1 + bytes.Count(p.text[:at], []byte("\n"))
	column := 1 + utf8.RuneCount(p.text[bytes.LastIndexByte(p.text[:at], '\n')+1:at])
	return fmt.Errorf("line %d, column %d, in %s: %s", line, column, path, fmt.Sprintf(format, args...))
}

// peek is the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// space passes over white space and comments.
func (p *parser) space() error {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		var end int
		switch {
		case isSpace(rest[0]):
			p.at++
			continue
		case bytes.HasPrefix(rest, []byte("//")):
			if end = bytes.IndexByte(rest, '\n'); end < 0 {
				end = len(rest)
			}
			end = len(bytes.TrimRight(rest[:end], "\r"))
		case bytes.HasPrefix(rest, []byte("/*")):
			if end = bytes.Index(rest[2:], []byte("*/")); end < 0 {
				return p.fault(p.at, nil, "a comment does not end")
			}
			end += len("/**/")
		default:
			return nil
		}
		p.comments = append(p.comments, [2]int{p.at, p.at + end})
		p.at += end
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (p *parser) value(path Path) (*node, error) {
	if len(path) > maxDepth {
		return nil, p.fault(p.at, nil, "nested more than %d deep", maxDepth)
	}
	n := &node{start: p.at}
	var err error
	switch c := p.peek(); {
	case c == '{':
		n.kind = Object
		err = p.children(n, '}', path)
	case c == '[':
		n.kind = Array
		err = p.children(n, ']', path)
	case c == '"':
		n.kind = String
		err = p.str(path)
	case c == '-' || '0' <= c && c <= '9':
		n.kind = Number
		err = p.number(path)
	default:
		err = p.word(n, path)
	}
	n.end = p.at
	return n, err
}

// children reads the inside of an object or an array, up to and with its closing
// bracket.
func (p *parser) children(n *node, closing byte, path Path) error {
	p.at++
	known := names{}
	for {
		if err := p.space(); err != nil {
			return err
		}
		switch {
		case p.peek() == closing:
			p.at++
			return nil
		case p.at == len(p.text):
			return p.fault(p.at, path, "the text ends before %q", closing)
		case len(n.children) > 0 && n.commas[len(n.commas)-1] < 0:
			return p.fault(p.at, path, "%s where a comma or %q has to be", p.shown(), closing)
		}
		child := path.with(len(n.children))
		if n.kind == Object {
			k, err := p.key(path)
			if err != nil {
				return err
			}
			child = path.with(k.name)
			if known.twice(k.name) {
				return p.fault(k.start, path, "%s is there twice", child)
			}
			n.keys = append(n.keys, k)
		}
		v, err := p.value(child)
		if err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		comma := -1
		if p.peek() == ',' {
			comma = p.at
			p.at++
		}
		n.children, n.commas = append(n.children, v), append(n.commas, comma)
	}
}

// names are the keys that an object has so far.
type names map[string]bool

func (n names) twice(name string) bool {
	if n[name] {
		return true
	}
	n[name] = true
	return false
}

// key reads a key and its colon.
func (p *parser) key(path Path) (key, error) {
	k := key{start: p.at}
	if p.peek() != '"' {
		return k, p.fault(p.at, path, "%s where a key in double quotes has to be", p.shown())
	}
	if err := p.str(path); err != nil {
		return k, err
	}
	k.name = unquote(p.text[k.start:p.at])
	if err := p.space(); err != nil {
		return k, err
	}
	if p.peek() != ':' {
		return k, p.fault(p.at, path.with(k.name), "%s where a colon has to be", p.shown())
	}
	p.at++
	return k, p.space()
}

// shown is the character at hand, for an error.
func (p *parser) shown() string {
	if p.at == len(p.text) {
		return "the end of the text"
	}
	r, _ := utf8.DecodeRune(p.text[p.at:])
	return fmt.Sprintf("%q", r)
}

// word reads true, false or null.
func (p *parser) word(n *node, path Path) error {
	for _, w := range []struct {
		text string
		kind Kind
	}{{"true", Bool}, {"false", Bool}, {"null", Null}} {
		if bytes.HasPrefix(p.text[p.at:], []byte(w.text)) {
			n.kind = w.kind
			p.at += len(w.text)
			return nil
		}
	}
	return p.fault(p.at, path, "%s where a value has to be", p.shown())
}

// number reads a number as JSON spells one.
func (p *parser) number(path Path) error {
	start := p.at
	digits := func() bool {
		from := p.at
		for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
			p.at++
		}
		return p.at > from
	}
	if p.peek() == '-' {
		p.at++
	}
	zero := p.peek() == '0'
	whole := p.at
	ok := digits() && (!zero || p.at == whole+1)
	if ok && p.peek() == '.' {
		p.at++
		ok = digits()
	}
	if ok && (p.peek() == 'e' || p.peek() == 'E') {
		p.at++
		if p.peek() == '+' || p.peek() == '-' {
			p.at++
		}
		ok = digits()
	}
	if !ok {
		return p.fault(start, path, "a number is not spelled as JSON spells one")
	}
	return nil
}

// str reads a string.
func (p *parser) str(path Path) error {
	start := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return nil
		case c == '\n' || c == '\r':
			return p.fault(start, path, "a string does not end on its line")
		case c < ' ':
			return p.fault(p.at, path, "a control character in a string")
		case c == '\\':
			n := escapeLen(p.text[p.at:])
			if n == 0 {
				return p.fault(p.at, path, "an escape that JSON does not have")
			}
			p.at += n - 1
		}
	}
	return p.fault(start, path, "a string does not end on its line")
}

// escapeLen is the length of the escape that s begins with, 0 if it is none.
func escapeLen(s []byte) int {
	if len(s) < 2 || s[0] != '\\' {
		return 0
	}
	if s[1] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), s[1]) < 0 {
			return 0
		}
		return 2
	}
	const whole = len(`\uXXXX`)
	if len(s) < whole {
		return 0
	}
	for _, c := range s[2:whole] {
		if hexDigit(c) < 0 {
			return 0
		}
	}
	return whole
}
