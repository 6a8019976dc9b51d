package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/derive"
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

// wide are the characters that take two columns of a terminal: East Asian wide
// and full-width ones, and emoji; gaps inside their blocks are taken for wide.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x231a, 0x231b, 1},
		{0x2329, 0x232a, 1},
		{0x23e9, 0x23ec, 1},
		{0x23f0, 0x23f0, 1},
		{0x23f3, 0x23f3, 1},
		{0x25fd, 0x25fe, 1},
		{0x2614, 0x2615, 1},
		{0x2630, 0x2637, 1},
		{0x2648, 0x2653, 1},
		{0x267f, 0x267f, 1},
		{0x268a, 0x268f, 1},
		{0x2693, 0x2693, 1},
		{0x26a1, 0x26a1, 1},
		{0x26aa, 0x26ab, 1},
		{0x26bd, 0x26be, 1},
		{0x26c4, 0x26c5, 1},
		{0x26ce, 0x26ce, 1},
		{0x26d4, 0x26d4, 1},
		{0x26ea, 0x26ea, 1},
		{0x26f2, 0x26f3, 1},
		{0x26f5, 0x26f5, 1},
		{0x26fa, 0x26fa, 1},
		{0x26fd, 0x26fd, 1},
		{0x2705, 0x2705, 1},
		{0x270a, 0x270b, 1},
		{0x2728, 0x2728, 1},
		{0x274c, 0x274c, 1},
		{0x274e, 0x274e, 1},
		{0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1},
		{0x2795, 0x2797, 1},
		{0x27b0, 0x27b0, 1},
		{0x27bf, 0x27bf, 1},
		{0x2b1b, 0x2b1c, 1},
		{0x2b50, 0x2b50, 1},
		{0x2b55, 0x2b55, 1},
		{0x2e80, 0x303e, 1},
		{0x3041, 0xa4cf, 1},
		{0xa960, 0xa97c, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe10, 0xfe19, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff00, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x1b2fb, 1},
		{0x1d300, 0x1d376, 1},
		{0x1f004, 0x1f004, 1},
		{0x1f0cf, 0x1f0cf, 1},
		{0x1f18e, 0x1f18e, 1},
		{0x1f191, 0x1f19a, 1},
		{0x1f200, 0x1f64f, 1},
		{0x1f680, 0x1f6ff, 1},
		{0x1f7e0, 0x1f7f0, 1},
		{0x1f90c, 0x1faff, 1},
		{0x20000, 0x3fffd, 1},
	},
}

// emojiStyle asks for the picture of a character that is a letter otherwise: a
// terminal then gives it two columns.
const emojiStyle = '\ufe0f'

// columns is how much of a line r takes. It is right for the scripts and
// symbols that transcripts are made of, and counts an emoji of several
// characters as all of them: a terminal that draws one in their place leaves
// some of the line empty.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == emojiStyle:
		return 1 // beside the one of what it stands behind
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

// head is the longest beginning of s that takes at most limit columns, cut
// between what a reader sees as characters.
func head(s string, limit int) string {
	used, whole := 0, 0
	for i, r := range s {
		if !derive.Together(s, i) {
			whole = i
		}
		if used += columns(r); used > limit {
			return s[:whole]
		}
	}
	return s
}

// first is the first character of s as a reader sees it.
func first(s string) string {
	for i := range s {
		if i > 0 && !derive.Together(s, i) {
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
	return head(s, limit-1) + "…"
}

// tail is the longest end of s that takes at most limit columns.
func tail(s string, limit int) string {
	from, used := len(s), 0
	for at := len(s); at > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:at])
		if used += columns(r); used > limit {
			break
		}
		if at -= n; !derive.Together(s, at) {
			from = at
		}
	}
	return s[from:]
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
// lines of at most limit columns; a character that is wider is a line of its
// own. A limit of 0 is none.
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
			if part == "" {
				part = first(word)
			}
			if part == word {
				break
			}
			lines = append(lines, part)
			word = word[len(part):]
			w -= width(part)
		}
		line, used = word, w
	}
	return append(lines, line)
}
