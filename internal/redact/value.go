package redact

import (
	"bytes"
	"math"
)

// Classes of bytes, as bits.
const (
	isLower = 1 << iota
	isUpper
	isDigit
	isDash  // - and _
	isDot   // .
	isPlus  // + / and =
	isBlank // space and tab
	isLine  // line breaks, and the ends of texts
	isQuote // " ' and `
	isMark  // of addresses: ? & % : ~ and @

	isLetter = isLower | isUpper
	isAlnum  = isLetter | isDigit
	isWord   = isAlnum | isDash
	isName   = isWord | isDot
	isSpace  = isBlank | isLine
)

var class = func() (is [256]uint16) {
	for c := range is {
		switch {
		case c >= 'a' && c <= 'z':
			is[c] = isLower
		case c >= 'A' && c <= 'Z':
			is[c] = isUpper
		case c >= '0' && c <= '9':
			is[c] = isDigit
		}
	}
	for _, group := range []struct {
		bytes string
		bit   uint16
	}{
		{"-_", isDash},
		{".", isDot},
		{"+/=", isPlus},
		{" \t", isBlank},
		{"\n\r\v\f\x00", isLine},
		{"\"'`", isQuote},
		{"?&%:~@", isMark},
	} {
		for i := range len(group.bytes) {
			is[group.bytes[i]] = group.bit
		}
	}
	return is
}()

// is reports whether the byte at p is of one of the classes.
func (s *scanner) is(p int, classes uint16) bool {
	return p >= 0 && p < len(s.b) && class[s.b[p]]&classes != 0
}

// over returns the first place from p on that is of none of the classes.
func (s *scanner) over(p int, classes uint16) int {
	for p < len(s.b) && class[s.b[p]]&classes != 0 {
		p++
	}
	return p
}

// back returns where the bytes of the classes begin that end at p, at the
// earliest at floor.
func (s *scanner) back(p, floor int, classes uint16) int {
	for p > floor && class[s.b[p-1]]&classes != 0 {
		p--
	}
	return p
}

// ends reports whether p is the end of the text, or of a part of it.
func (s *scanner) ends(p int) bool { return p >= len(s.b) || s.b[p] == brk }

// word returns the end of an unquoted value at p: white space, a quote or a
// backslash. A marker is read as a whole.
func (s *scanner) word(p int) int {
	for p < len(s.b) && class[s.b[p]]&(isSpace|isQuote) == 0 && s.b[p] != '\\' {
		if n := marker(s.b[p:]); n > 0 {
			p += n
			continue
		}
		p++
	}
	return p
}

// quoted returns where the string is closed that the quote at p opens: at the
// next such quote that is no deeper, in the same text. -1: nowhere.
func (s *scanner) quoted(p int) int {
	q, depth := s.b[p], s.depth(p)
	for at := p + 1; ; at++ {
		k := bytes.IndexByte(s.b[at:], q)
		if k < 0 || bytes.IndexByte(s.b[at:at+k], brk) >= 0 {
			return -1
		}
		if at += k; s.depth(at) <= depth {
			return at
		}
	}
}

// quotedHere is quoted for a string that ends on its line.
func (s *scanner) quotedHere(p int) int {
	end := s.quoted(p)
	if end >= 0 && s.oneLine(p+1, end) {
		return end
	}
	return -1
}

// oneLine reports whether the bytes from from to to are on one line.
func (s *scanner) oneLine(from, to int) bool {
	return bytes.IndexByte(s.b[from:to], '\n') < 0 && bytes.IndexByte(s.b[from:to], '\r') < 0
}

// maxDepth is the deepest quoting that is told apart: with it, quotes that are
// never closed cost a text no more than so many readings.
const maxDepth = 15

// quote reports whether a quote stands at p that may be one of a string's.
func (s *scanner) quote(p int) bool {
	return p < len(s.b) && (s.b[p] == '"' || s.b[p] == '\'') && s.depth(p) <= maxDepth
}

// opens reports whether a quote that opens a value stands at p. That of
// `"token="+t` does not: code goes on behind it, and it is the second of its
// kind on the line.
func (s *scanner) opens(p int) bool {
	if !s.quote(p) {
		return false
	}
	next := s.over(p+1, isBlank)
	if next < len(s.b) && next < p+maxGap && !s.is(next, isLine) && bytes.IndexByte([]byte("+,);]}.:"), s.b[next]) < 0 {
		return true
	}
	q, depth, before := s.b[p], s.depth(p), 0
	for i := p - 1; i >= max(0, p-maxBehind) && !s.is(i, isLine); i-- {
		if s.b[i] == q && s.depth(i) == depth {
			before++
		}
	}
	return before%2 == 0
}

// maxBehind is how far back on its line it is looked whether a quote is open.
const maxBehind = 256

// rest returns the end of the text from p on: of its part, or of the string in
// it that p is quoted in.
func (s *scanner) rest(p int) int {
	end := len(s.b)
	if k := bytes.IndexByte(s.b[p:], brk); k >= 0 {
		end = p + k
	}
	for at := p; at < end; at++ {
		k := bytes.IndexByte(s.b[at:end], '"')
		if k < 0 {
			break
		}
		if at += k; s.depth(at) > 0 {
			return at
		}
	}
	return end
}

// value finds the value at p on its line: inside of quotes, or a run of other
// bytes. next is where to go on behind it.
func (s *scanner) value(p int) (v span, next int) {
	if s.opens(p) {
		if end := s.quotedHere(p); end >= 0 {
			return span{p + 1, end}, end + 1
		}
		p++
	}
	end := s.word(p)
	return span{p, end}, end
}

func (s *scanner) bytes(v span) []byte { return s.b[v.from:v.to] }

// kinds are the words behind the colon of a marker, longest first where one
// begins with another. All markers are "[redacted" and one of them.
var kinds = []string{
	"]", ": a PEM private key block]", ": a text that cannot be filtered]",
	":connection-url-userinfo]", ":a-command-line-flag-value]", ":a-json-web-token]", ":a-github-token]",
	":a-high-entropy-value]", ":a-telegram-token]",
}

// marker returns the length of the marker that b begins with, 0 if none.
func marker(b []byte) int {
	const start = "[redacted"
	if len(b) <= len(start) || b[0] != '[' || string(b[:len(start)]) != start {
		return 0
	}
	rest := b[len(start):]
	for _, k := range kinds {
		if len(rest) >= len(k) && string(rest[:len(k)]) == k {
			return len(start) + len(k)
		}
	}
	for i := range shapes {
		if k := shapes[i].mark[len(start):]; len(rest) >= len(k) && string(rest[:len(k)]) == k {
			return len(start) + len(k)
		}
	}
	return 0
}

// harmless reports whether a value, whatever its name says, is none: empty, a
// marker, without a letter or digit, a word of a programming language, or a
// place that somebody is to fill.
func harmless(v []byte) bool {
	if n := marker(v); n > 0 && mix(v[n:])&isAlnum == 0 && marker(v[n:]) == 0 {
		return true
	}
	solid, same := false, len(v) > 2
	for _, c := range v {
		solid = solid || class[c]&isAlnum != 0 || c >= 0x80
		same = same && c|0x20 == v[0]|0x20 && class[c]&isDigit == 0
	}
	if !solid || same {
		return true
	}
	return isAny(bytes.TrimRight(v, ";,)}]"), nothings) || reference(v) || version(v)
}

// version reports whether v is the version of a package.
func version(v []byte) bool {
	v = bytes.TrimLeft(v, "~^>=v")
	dots := 0
	for i, c := range v {
		switch {
		case c == '.' && i > 0:
			dots++
		case c == '-' && dots == 2, c == '+' && dots == 2:
			return true
		case class[c]&isDigit == 0:
			return false
		}
	}
	return dots == 2
}

// nothings are values that say that there is none, and the names of types.
var nothings = []string{
	"true", "false", "null", "nil", "none", "undefined", "string", "str", "number", "int", "bool", "boolean", "bytes",
	"any", "void", "unknown", "object", "optional", "value", "lambda",
}

// reference reports whether a value only names where the value is: a variable,
// a template, a place to be filled in.
func reference(v []byte) bool {
	v = bytes.TrimRight(v, ";,)")
	n := len(v)
	switch {
	case n == 2 && v[0] == '%' && class[v[1]]&isLetter != 0:
		return true
	case n < 3:
		return false
	case v[0] == '<' && v[n-1] == '>', v[0] == '%' && v[n-1] == '%' && upperName(v[1:n-1]):
		return bytes.IndexByte(v[1:n-1], v[0]) < 0
	case v[0] == '%' && n <= maxVerb && class[v[n-1]]&isLetter != 0: // of a format
		return true
	case v[0] == '$' && v[1] == '{', v[0] == '{' && v[1] == '{':
		return v[n-1] == '}'
	case v[0] == '$':
		return v[1] == '(' || upperName(v[1:])
	}
	for _, p := range lookups {
		if hasFold(v, p) {
			return true
		}
	}
	return false
}

// maxVerb is the length of the longest verb of a format: %-10.3f.
const maxVerb = 7

// lookups are how code begins that reads a value from its surroundings.
var lookups = []string{"process.env", "os.environ", "os.getenv(", "import.meta.env", "system.getenv(", "env["}

func upperName(v []byte) bool {
	for _, c := range v {
		if class[c]&(isUpper|isDigit) == 0 && c != '_' {
			return false
		}
	}
	return len(v) > 2 && class[v[0]]&isDigit == 0
}

// isAny reports whether v is one of words in any case.
func isAny(v []byte, words []string) bool {
	for _, w := range words {
		if len(v) == len(w) && hasFold(v, w) {
			return true
		}
	}
	return false
}

// mix returns the classes that v has bytes of.
func mix(v []byte) (classes uint16) {
	for _, c := range v {
		classes |= class[c]
	}
	return classes
}

// all reports whether v has bytes of each of the classes.
func all(v []byte, classes ...uint16) bool {
	m := mix(v)
	for _, c := range classes {
		if m&c == 0 {
			return false
		}
	}
	return true
}

// entropy is that of v's bytes, in bits a byte.
func entropy(v []byte) float64 {
	var counts [256]int
	for _, c := range v {
		counts[c]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(v))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
