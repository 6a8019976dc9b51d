package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// MaxChars is the most that is handed over at once, whatever the budget says:
// Claude Code takes no more than 10,000 characters of a hook, and shows only a
// preview of what is longer.
const MaxChars = 10_000

// closing ends whatever is handed over. It is never cut.
const closing = "\n" + transcript.RecallClose

// frame puts a first line before a block of quoted text, and the tags around it.
// Nothing in the block can pass for one of them.
func frame(intro, block string) string {
	return intro + "\n" + transcript.RecallOpen + "\n" + defuse(block) + closing
}

// fit cuts a framed text to budget characters, from its end, the closing tag
// aside. A budget in which not even that has a place gives "".
func fit(text string, budget int) string {
	if utf8.RuneCountInString(text) <= budget {
		return text
	}
	room := budget - utf8.RuneCountInString(closing)
	if room <= 0 {
		return ""
	}
	return cut(strings.TrimSuffix(text, closing), room) + closing
}

// cut is the first n characters of text; where it is longer, the last three of
// them are dots, if there are more than three.
func cut(text string, n int) string {
	const mark = "..."
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	keep := n - len(mark)
	if keep <= 0 {
		return first(text, n)
	}
	return first(text, keep) + mark
}

// first is the first n characters of text.
func first(text string, n int) string {
	for i := range text {
		if n <= 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// budgeted is a configured budget within the limit that always holds.
func budgeted(chars int) int { return max(min(chars, MaxChars), 0) }

// oneLine is a name as it may stand in a line: control characters and line
// separators become spaces.
func oneLine(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
}

// defuse makes whatever looks like one of the tags something else: its `<`
// becomes `‹`. Case and spacing do not count, nor does what may follow the name.
func defuse(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		text = text[i+1:]
		if isTag(text) {
			b.WriteString("‹")
		} else {
			b.WriteByte('<')
		}
	}
}

// tagName is the name inside both tags.
var tagName = strings.Trim(transcript.RecallOpen, "<>")

// isTag reports whether the name of the tags, or a slash and the name, is the
// next that is to be seen in text.
func isTag(text string) bool {
	rest := strings.TrimLeftFunc(text, isSpacing)
	rest = strings.TrimLeftFunc(strings.TrimPrefix(rest, "/"), isSpacing)
	for _, want := range tagName {
		r, n := utf8.DecodeRuneInString(rest)
		if unicode.ToLower(r) != want {
			return false
		}
		rest = strings.TrimLeftFunc(rest[n:], isSpacing)
	}
	return true
}

// isSpacing reports whether r is white space, or nothing to be seen at all.
func isSpacing(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
