package redact

import "bytes"

// recordView reads a JSON object on one line: its strings are the texts, each
// the value of a field or an element of an array. A value whose field has a
// secret name is taken out as a whole, whatever it says. What is no such object
// is read as a text.
func recordView(src []byte) *view {
	if i := blank(src, 0); i == len(src) || src[i] != '{' {
		return textView(src)
	}
	l := lexer{reader: newReader(src)}
	if !l.run() {
		return textView(src)
	}
	l.finish()
	return &l.view
}

// A lexer finds the strings of a record.
type lexer struct {
	*reader
	key      span // the name of the field that is being read
	array    bool // the last bytes were elements of an array, strings all of them
	elements int  // of that array
	secret   bool // the last field was a name, and its value is a secret's
	flag     bool // the last element is a flag that a secret follows
}

// run reads the whole record. It reports whether it can be one: what stands
// outside of strings is looked at byte by byte, its order is not.
func (l *lexer) run() bool {
	for i := 0; i < len(l.text); {
		c := l.text[i]
		if c == '"' {
			end := closing(l.text, i+1)
			if end < 0 {
				return false
			}
			i = l.str(span{i + 1, end})
			continue
		}
		if !structure[c] {
			return false
		}
		switch c {
		case '[':
			l.array, l.elements, l.flag = true, 0, false
		case ',', ' ', '\t', '\r', '\n':
		default:
			l.array = false
		}
		i++
	}
	return true
}

// structure are the bytes that stand outside of strings.
var structure = func() (is [256]bool) {
	for _, c := range "{}[]:, \t\r\n\x00+-.0123456789eEtrufalsn" {
		is[c] = true
	}
	return is
}()

// str takes the string s and returns where to go on.
func (l *lexer) str(s span) int {
	next := blank(l.text, s.to+1)
	if next < len(l.text) && l.text[next] == ':' {
		l.key, l.array = s, false
		return next + 1
	}
	value := l.text[s.from:s.to]
	key := l.text[l.key.from:l.key.to]
	switch {
	case !l.array && (secretName(key) || l.secret && isAny(key, valueFields)):
		l.fix(s, "[redacted]")
	case l.array && l.flag && len(value) > 0 && value[0] != '-':
		l.fix(s, markFlag)
		l.elements = -1 // what follows does not go on from the flag
	default:
		l.add(part{key: l.key, joined: l.array && l.elements > 0, isString: true}, s.from, s.to)
	}
	l.secret = !l.array && isAny(key, nameFields) && len(value) <= maxNameLen && secretName(value)
	l.flag = l.array && isFlag(value)
	if l.array {
		l.elements++
	}
	return s.to + 1
}

// Fields of a list of names and values.
var (
	nameFields  = []string{"name", "key", "header"}
	valueFields = []string{"value"}
)

// fix takes out a whole string.
func (l *lexer) fix(s span, mark string) {
	if !harmless(l.text[s.from:s.to]) {
		l.fixed = append(l.fixed, edit{s.from, s.to, mark, rulePair})
	}
}

// closing returns where the string ends that begins at i, -1 if nowhere.
func closing(b []byte, i int) int {
	for at := i; ; at++ {
		k := bytes.IndexByte(b[at:], '"')
		if k < 0 {
			return -1
		}
		at += k
		n := 0
		for at-n > i && b[at-n-1] == '\\' {
			n++
		}
		if n%2 == 0 {
			return at
		}
	}
}

// blank returns the first place from i on that is neither white space nor the
// padding of a damaged file.
func blank(b []byte, i int) int {
	for i < len(b) && (b[i] <= ' ' && structure[b[i]]) {
		i++
	}
	return i
}
