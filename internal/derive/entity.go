package derive

import (
	"bytes"
	"iter"
	"unicode"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// The kinds of entities, as they are stored and shown.
const (
	KindTool    = "tool"
	KindPath    = "path"
	KindCommand = "command"
	KindSymbol  = "symbol"
	KindError   = "error"
)

const (
	// maxEntities bounds the entities of one turn; the contract's number.
	maxEntities = 48
	// maxError bounds the text of an error, in bytes; the contract's number.
	maxError = 512
	// maxValue bounds every other value, in bytes: the longest path that Linux
	// takes. What is longer is encoded data with a slash in it; it is left out
	// rather than cut, so that a value always is what was named.
	maxValue = 4096
)

// An Entity is a thing that a turn names in a structured field.
type Entity struct {
	Kind, Value string
}

// Entities reads the distinct entities out of a turn's mentions, in their
// order, at most 48. A tool's name and a file path stand as they are (a path
// without quotes around and line numbers behind it); a shell command gives its
// program and its path-shaped words; identifiers give their identifier-shaped
// words; the words of a recall query both of the latter; a failure its text
// without what differs from one occurrence to the next.
func Entities(mentions []transcript.Mention) []Entity {
	if len(mentions) == 0 {
		return nil
	}
	set := entitySet{}
	for _, m := range mentions {
		if Named(m, set.add); set.full() {
			break
		}
	}
	return set
}

// Named calls see for each thing that one mention names, by Entities' rules and as
// often as it is named, until see says false. The value may alias the mention.
func Named(m transcript.Mention, see func(kind string, value []byte) bool) {
	switch m.Origin {
	case transcript.ToolName:
		named(see, KindTool, m.Text)
	case transcript.FilePath:
		named(see, KindPath, normalPath(m.Text))
	case transcript.ShellLine:
		if named(see, KindCommand, program(m.Text)) {
			allNamed(see, KindPath, pathWords(m.Text))
		}
	case transcript.Identifiers:
		allNamed(see, KindSymbol, identifiers(m.Text))
	case transcript.RecallQuery:
		if allNamed(see, KindSymbol, identifiers(m.Text)) {
			allNamed(see, KindPath, pathWords(m.Text))
		}
	case transcript.Failure:
		named(see, KindError, normalError(m.Text))
	}
}

func named(see func(kind string, value []byte) bool, kind string, value []byte) bool {
	return len(value) == 0 || len(value) > maxValue || see(kind, value)
}

func allNamed(see func(kind string, value []byte) bool, kind string, values iter.Seq[[]byte]) bool {
	for v := range values {
		if !named(see, kind, v) {
			return false
		}
	}
	return true
}

// An entitySet keeps entities in the order in which they came.
type entitySet []Entity

func (s entitySet) full() bool { return len(s) == maxEntities }

// add reports whether there is room for more.
func (s *entitySet) add(kind string, value []byte) bool {
	for _, e := range *s {
		if e.Value == string(value) && e.Kind == kind {
			return true
		}
	}
	*s = append(*s, Entity{kind, string(value)})
	return !s.full()
}

// PathValue is a path as Entities stores it: what a filter compares with.
func PathValue(path string) string { return string(normalPath([]byte(path))) }

// positions is how many numbers are taken off the end of a path: a line and a
// column.
const positions = 2

// normalPath trims a path, takes one pair of quotes off and up to two line
// positions. It stays relative or absolute, and nothing in it is resolved.
func normalPath(path []byte) []byte {
	path = unquoted(bytes.TrimSpace(path))
	for range positions {
		i := len(path)
		for i > 0 && isDigit(path[i-1]) {
			i--
		}
		if i == len(path) || i < 2 || path[i-1] != ':' {
			break
		}
		path = path[:i-1]
	}
	return path
}

// unquoted takes one pair of equal quotes off.
func unquoted(word []byte) []byte {
	n := len(word)
	if n >= 2 && (word[0] == '"' || word[0] == '\'') && word[n-1] == word[0] {
		return word[1 : n-1]
	}
	return word
}

// program is the name of the program that a shell command runs first, without
// its directory; empty where the command does not say.
func program(command []byte) []byte {
	for word := range bytes.FieldsSeq(command) {
		word = unquoted(word)
		if len(word) == 0 || isAssignment(word) {
			continue
		}
		return word[bytes.LastIndexAny(word, `/\`)+1:]
	}
	return nil
}

// isAssignment reports whether a word of a command sets a variable.
func isAssignment(word []byte) bool {
	i := bytes.IndexByte(word, '=')
	if i < 1 || isDigit(word[0]) {
		return false
	}
	for _, c := range word[:i] {
		if !isAlnum(c) && c != '_' {
			return false
		}
	}
	return true
}

// pathWords yields the path-shaped words of a shell command or a query: those
// with a separator that are neither an option, an assignment, a URL nor a
// pattern that the shell would expand.
func pathWords(text []byte) iter.Seq[[]byte] {
	const (
		operators = ";&|<>()"
		expansion = "$`*?{}"
	)
	return func(yield func([]byte) bool) {
		for field := range bytes.FieldsSeq(text) {
			for len(field) > 0 {
				word := field
				if i := bytes.IndexAny(field, operators); i >= 0 {
					word, field = field[:i], field[i+1:]
				} else {
					field = nil
				}
				word = bytes.Trim(word, `"'`)
				if !bytes.ContainsAny(word, `/\`) || word[0] == '-' || isAssignment(word) ||
					bytes.ContainsAny(word, expansion) || bytes.Contains(word, []byte("://")) {
					continue
				}
				if !yield(normalPath(word)) {
					return
				}
			}
		}
	}
}

// Identifiers yields the identifier-shaped words of text, those that Entities
// stores as symbols.
func Identifiers(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range identifiers([]byte(text)) {
			if !yield(string(word)) {
				return
			}
		}
	}
}

// identifiers yields the words of letters, numbers and underscores that have a
// case boundary, or an underscore between parts that are not empty.
func identifiers(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 0; i < len(text); {
			end, named := identifier(text, i)
			if named && !yield(text[i:end]) {
				return
			}
			if end == i { // a separator
				_, n := utf8.DecodeRune(text[i:])
				end += n
			}
			i = end
		}
	}
}

// identifier returns where the word that begins at i ends, and whether it has
// the shape of an identifier. The end is i where no word begins.
func identifier(text []byte, i int) (end int, named bool) {
	start, state := i, afterOther
	joined, hollow := false, false // has an underscore; has an empty part
	part := i                      // where the present part began
	for i < len(text) {
		c, n := byteClass[text[i]], 1
		if c == wide {
			var r rune
			r, n = utf8.DecodeRune(text[i:])
			if c = classOf(r); c == cjk {
				c = letter
			}
		}
		switch {
		case text[i] == '_':
			joined, hollow, part = true, hollow || part == i, i+1
			if state != boundary {
				state = afterOther
			}
		case c == separator, c == mark && i == start:
			return i, i > start && (state == boundary || joined && !hollow && part < i)
		default:
			state = step[state][c]
		}
		i += n
	}
	return i, i > start && (state == boundary || joined && !hollow && part < i)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlnum(c byte) bool {
	class := byteClass[c]
	return class == lower || class == upper || class == number
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// normalError is an error's text without what differs from one occurrence to
// the next: times, UUIDs, addresses and line positions are replaced by marks,
// runs of white space by one space. At most 512 bytes.
func normalError(text []byte) []byte {
	dst := make([]byte, 0, min(len(text), maxError)+utf8.UTFMax)
	blank := true // so that none comes first
	for i := 0; i < len(text) && len(dst) <= maxError; {
		if mark, n := variable(text, i); n > 0 {
			dst, blank = append(dst, mark...), false
			i += n
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case !unicode.IsSpace(r):
			dst, blank = append(dst, text[i:i+n]...), false
		case !blank:
			dst, blank = append(dst, ' '), true
		}
		i += n
	}
	return bytes.TrimRight(transcript.CutBytes(bytes.TrimRight(dst, " "), maxError), " ")
}

// variable recognises what normalError replaces at i, and returns the mark
// that stands for it and its length; 0 for nothing of the kind.
func variable(text []byte, i int) (mark string, n int) {
	c, rest := text[i], text[i:]
	after := i > 0 && isAlnum(text[i-1])
	switch {
	case c == ':' && after:
		if n = position(rest); n > 0 {
			return ":<line>", n
		}
	case after || !isHex(c):
	case timestamp(rest) > 0:
		return "<ts>", timestamp(rest)
	case uuid(rest):
		return "<uuid>", uuidLen
	case address(rest) > 0:
		return "<addr>", address(rest)
	}
	return "", 0
}

// ends reports whether nothing of a word follows the first n bytes of b.
func ends(b []byte, n int) bool { return n == len(b) || !isAlnum(b[n]) }

func digits(b []byte) (n int) {
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return n
}

// position is the length of a line number, or of a line and a column, with
// their colons.
func position(b []byte) int {
	n := digits(b[1:])
	if n == 0 {
		return 0
	}
	n++
	if n < len(b) && b[n] == ':' {
		if m := digits(b[n+1:]); m > 0 && ends(b, n+1+m) {
			return n + 1 + m
		}
	}
	if !ends(b, n) {
		return 0
	}
	return n
}

// like reports whether b begins with a text of that form, 0 standing for any
// digit.
func like(b []byte, form string) bool {
	if len(b) < len(form) {
		return false
	}
	for i := range len(form) {
		if form[i] == '0' && isDigit(b[i]) || form[i] != '0' && b[i] == form[i] {
			continue
		}
		return false
	}
	return true
}

// timestamp is the length of an ISO 8601 time, 0 if b does not begin with a
// whole one.
func timestamp(b []byte) int {
	const seconds = "0000-00-00T00:00:00"
	if !like(b, seconds) {
		return 0
	}
	n := len(seconds)
	if n < len(b) && b[n] == '.' {
		m := digits(b[n+1:])
		if m == 0 {
			return 0
		}
		n += 1 + m
	}
	switch {
	case n == len(b):
	case b[n] == 'Z':
		n++
	case b[n] == '+', b[n] == '-':
		switch zone := b[n+1:]; {
		case like(zone, "00:00"):
			n += len("+00:00")
		case like(zone, "00"):
			n += len("+00")
		default:
			return 0
		}
	}
	if !ends(b, n) {
		return 0
	}
	return n
}

const uuidLen = 36

func uuid(b []byte) bool {
	if len(b) < uuidLen || !ends(b, uuidLen) {
		return false
	}
	for i, c := range b[:uuidLen] {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !isHex(c) {
			return false
		}
	}
	return true
}

// address is the length of a hexadecimal number after 0x.
func address(b []byte) int {
	if !bytes.HasPrefix(b, []byte("0x")) {
		return 0
	}
	n := 2
	for n < len(b) && isHex(b[n]) {
		n++
	}
	if n == 2 || !ends(b, n) {
		return 0
	}
	return n
}
