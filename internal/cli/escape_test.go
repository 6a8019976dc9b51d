package cli

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisibleEscapesWhatATerminalActsOn(t *testing.T) {
	for _, c := range []struct{ in, line, text string }{
		{"plain text", "plain text", "plain text"},
		{"", "", ""},
		{"é 日本 🙂", "é 日本 🙂", "é 日本 🙂"},
		{"a\nb\tc\rd", `a\nb\tc\rd`, "a\nb\tc" + `\rd`},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `\x1b[31mred\x1b[0m`},
		{"\x00\x07\x7f", `\x00\x07\x7f`, `\x00\x07\x7f`},
		{"\u0080\u009b", `\u0080\u009b`, `\u0080\u009b`},
		{"\u202eevil\u2066x\u2069\u061c\u200f", `\u202eevil\u2066x\u2069\u061c\u200f`, `\u202eevil\u2066x\u2069\u061c\u200f`},
		{"a\u2028b\ufeffc", `a\u2028b\ufeffc`, `a\u2028b\ufeffc`},
		{"\xff\xed\xa0", `\xff\xed\xa0`, `\xff\xed\xa0`},
		{"\ufffd", "\ufffd", "\ufffd"},
	} {
		if got := visible(c.in); got != c.line {
			t.Errorf("visible(%q) = %q, want %q", c.in, got, c.line)
		}
		if got := visibleText(c.in); got != c.text {
			t.Errorf("visibleText(%q) = %q, want %q", c.in, got, c.text)
		}
	}
}

// C69
func TestFitCutsAtTheWidth(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"abc", 0, "abc"},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"abcd", 1, "…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"日本", 2, "…"},
		{"a✅b✅", 5, "a✅b…"},
		{"⚠️⚠️⚠️", 5, "⚠️⚠️…"},
		{"🇩🇪🇫🇷", 4, "🇩🇪🇫🇷"},
		{"🇩🇪🇫🇷", 3, "🇩🇪…"},
		{"ab👩\u200d👩\u200d👧", 7, "ab…"},
	} {
		if got := fit(c.in, c.limit); got != c.want {
			t.Errorf("fit(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestWrapBreaksBetweenWords(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"one two three", 0, "one two three"},
		{"one two three", 7, "one two|three"},
		{"one two three", 100, "one two three"},
		{"abcdefgh ij", 3, "abc|def|gh|ij"},
		{"日本語 日本", 4, "日本|語|日本"},
		{"日本", 1, "日|本"},
		{"👩\u200d👧👩\u200d👧", 2, "👩\u200d👧|👩\u200d👧"},
		{"🇩🇪🇫🇷🇯🇵", 3, "🇩🇪|🇫🇷|🇯🇵"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301e\u0301|e\u0301"},
		{"", 5, ""},
	} {
		if got := strings.Join(wrap(c.in, c.limit), "|"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

// FuzzVisible holds what is shown to: it is UTF-8 of which a terminal acts on
// nothing, and wrapping it loses nothing but the blanks where it broke.
func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[2Jb \u202e\xff日本", 7)
	f.Add("one two three", 3)
	f.Add("日本 👩\u200d👧👩\u200d👧 🇩🇪🇫🇷 e\u0301\u0323", 0)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		shown := visible(s)
		if !utf8.ValidString(shown) || strings.ContainsFunc(shown, hidden) {
			t.Fatalf("visible(%q) = %q", s, shown)
		}
		limit = 2 + limit&0x7f
		var joined strings.Builder
		for _, line := range wrap(shown, limit) {
			if width(line) > limit && line != first(line) {
				t.Fatalf("%q is wider than %d", line, limit)
			}
			joined.WriteString(line)
		}
		if strings.ReplaceAll(joined.String(), " ", "") != strings.ReplaceAll(shown, " ", "") {
			t.Fatalf("wrap(%q, %d) lost something: %q", shown, limit, joined.String())
		}
		if w := width(fit(shown, limit)); w > limit {
			t.Fatalf("fit(%q, %d) takes %d", shown, limit, w)
		}
	})
}
