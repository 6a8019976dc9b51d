package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible shows s on one line: every control character, bidirectional mark,
// line separator and byte that is not UTF-8 as an escape.
func visible(s string) string { return escapeBut(s, "") }

// visibleText is visible for text of several lines: newlines and tabs stay.
func visibleText(s string) string { return escapeBut(s, "\n\t") }

func escapeBut(s, keep string) string {
	first := strings.IndexFunc(s, func(r rune) bool { return hidden(r) || r == utf8.RuneError })
	if first < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:first])
	for i := first; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			writeHex(&b, 'x', rune(s[i]), 2)
		case !hidden(r) || strings.ContainsRune(keep, r):
			b.WriteString(s[i : i+n])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			writeHex(&b, 'x', r, 2)
		default:
			writeHex(&b, 'u', r, 4)
		}
		i += n
	}
	return b.String()
}

const hexDigits = "0123456789abcdef"

func writeHex(b *strings.Builder, kind byte, r rune, digits int) {
	b.WriteByte('\\')
	b.WriteByte(kind)
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b.WriteByte(hexDigits[r>>shift&0xf])
	}
}

// hidden reports whether a terminal acts on r instead of showing it, or shows
// what follows in another order.
func hidden(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r < 0x600:
		return false
	}
	return r == 0x061c || r == 0x200e || r == 0x200f || // single marks
		r >= 0x2028 && r <= 0x202e || // separators, embeddings, overrides
		r >= 0x2066 && r <= 0x2069 || // isolates
		r == 0xfeff // a byte order mark
}

func isRuneStart(b byte) bool { return utf8.RuneStart(b) }

// wide are the characters that take two columns of a terminal.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x2e80, 0x303e, 1},
		{0x3041, 0x33ff, 1},
		{0x3400, 0x4dbf, 1},
		{0x4e00, 0x9fff, 1},
		{0xa000, 0xa4cf, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff00, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x1f300, 0x1f64f, 1},
		{0x1f680, 0x1f6ff, 1},
		{0x1f900, 0x1faff, 1},
		{0x20000, 0x3fffd, 1},
	},
}

// columns is how much of a line r takes. It is right for the scripts and
// symbols that transcripts are made of; a terminal may still differ.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// width is how many columns s takes.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// head is the longest beginning of s that takes at most limit columns, and at
// least one character.
func head(s string, limit int) string {
	used := 0
	for i, r := range s {
		used += columns(r)
		if used > limit && i > 0 {
			return s[:i]
		}
	}
	return s
}

// fit cuts a line, marking the cut, so that it takes at most limit columns.
// A limit of 0 is none.
func fit(s string, limit int) string {
	if limit <= 0 || width(s) <= limit {
		return s
	}
	if limit == 1 {
		return "…"
	}
	return head(s, limit-1) + "…"
}

// tail is the longest end of s that takes at most limit columns.
func tail(s string, limit int) string {
	from, used := len(s), 0
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:from])
		if used += columns(r); used > limit {
			break
		}
		from -= n
	}
	// A mark that stands on a character which is gone goes as well.
	return strings.TrimLeftFunc(s[from:], func(r rune) bool { return columns(r) == 0 })
}

// middle is fit that cuts in the middle.
func middle(s string, limit int) string {
	if limit < 2 || width(s) <= limit {
		return fit(s, limit)
	}
	front := head(s, limit/2)
	return front + "…" + tail(s, limit-1-width(front))
}

// wrap breaks a line between words, or inside a word that is too long, into
// lines of at most limit columns. A limit of 0 is none.
func wrap(s string, limit int) []string {
	if limit <= 0 {
		return []string{s}
	}
	var lines []string
	line, used := "", 0
	for i, word := range strings.Split(s, " ") {
		w := width(word)
		if i > 0 && used+1+w <= limit {
			line, used = line+" "+word, used+1+w
			continue
		}
		if i > 0 {
			lines = append(lines, line)
		}
		for w > limit {
			part := head(word, limit)
			if part == word { // one character wider than the limit
				break
			}
			lines = append(lines, part)
			word = word[len(part):]
			w = width(word)
		}
		line, used = word, w
	}
	return append(lines, line)
}
