package derive

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// texts makes pieces; a text that begins with a star is an echo.
func texts(list ...string) (pieces []transcript.Piece) {
	for _, t := range list {
		bare, echo := strings.CutPrefix(t, "*")
		pieces = append(pieces, transcript.Piece{Text: []byte(bare), Echo: echo})
	}
	return pieces
}

func TestText(t *testing.T) {
	numbered := "     1→package main\n     2→\n    10→\tfunc main() {}"
	tests := []struct {
		name   string
		pieces []transcript.Piece
		want   string
	}{
		{"nothing", nil, ""},
		{"joined by newlines, empty ones left out", texts("a", "", "b\nc"), "a\nb\nc"},
		{"an echo of the whole", texts("a\nb", "*a\nb\n"), "a\nb"},
		{"an echo with a line more", texts("a\nb", "*a\nx\nb\ny"), "a\nb\nx\ny"},
		{"an echo alone", texts("*a\nb\na"), "a\nb"},
		{"an echo before a text", texts("*a", "a"), "a\na"},
		{"lines that differ in white space", texts("  a\tb", "*a\tb  \r\n\n"), "  a\tb"},
		{"a listing with arrows", texts(numbered, "*/src/main.go", "*package main\n\nfunc main() {}\n// new"), numbered + "\n/src/main.go\n// new"},
		{"a listing with tabs", texts("1\tone\n2\ttwo", "*one\ntwo\nthree"), "1\tone\n2\ttwo\nthree"},
		{"numbers that differ are other words", texts("12\tfoo", "*13\tfoo"), "12\tfoo\n13\tfoo"},
		{"a number alone", texts("12", "*12\n13"), "12\n13"},
		{"an echo of an echo", texts("*a\nb", "*b\nc"), "a\nb\nc"},
		{"an echo of nothing", texts("a", "* \n "), "a"},
	}
	var p Projector
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(p.Text(tt.pieces)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestTextIsCutBetweenCharacters(t *testing.T) {
	half := strings.Repeat("a", maxText/2)
	tests := []struct {
		name   string
		pieces []transcript.Piece
		want   string
	}{
		{"separators do not count", texts(half, half, "x"), half + "\n" + half},
		{"the cut ends the text", texts(half, half[1:], "éa", "b"), half + "\n" + half[1:]},
		{"an echo is cut too", texts(half, half[2:], "*éa"), half + "\n" + half[2:] + "\né"},
		{"echoes that repeat cost nothing", texts(half, "*"+half+half, half), half + "\n" + half + half[:0]},
	}
	tests[3].pieces = texts(half, "*"+half, half, "y")
	tests[3].want = half + "\n" + half
	var p Projector
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(p.Text(tt.pieces)); got != tt.want {
				t.Errorf("%d bytes, want %d", len(got), len(tt.want))
			}
		})
	}
}

func TestBodyAddsThePartsOfIdentifiers(t *testing.T) {
	tests := []struct{ text, want string }{
		{"SearchManager", "Search Manager"},
		{"searchManager Search", "Manager"},
		{"searchManager SEARCH manager", ""},
		{"HTTPServer", "HTTP Server"},
		{"S3Client", "S3 Client"},
		{"v2 sha256 README", ""},
		{"parseHTTPHeader2Line", "parse HTTP Header2 Line"},
		{"snake_case kebab-case path/to/file.go", ""},
		{"retryBudget retryBudget RetryBudget", "retry Budget"},
		{"READMEs", "READM Es"},
		{"iOS", "i OS"},
		{"aB", "a B"},
		{"ÜberGroß größeÄndern", "Über Groß größe Ändern"},
		{"fooBAR barFoo", "foo BAR"},
		{"x1Y", "x1 Y"},
		{"日本SearchManager語", "Search Manager"},
		{strings.Repeat("x", 70) + "FooBar", strings.Repeat("x", 70) + " Foo Bar"},
	}
	var p Projector
	for _, tt := range tests {
		body := string(p.Body(texts(tt.text)))
		_, parts, _ := strings.Cut(body, "\n")
		if got := strings.ReplaceAll(parts, "\n", " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestBodyBoundsTheParts(t *testing.T) {
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "aa%05dZzzz ", i)
	}
	var p Projector
	text := b.String()
	body := string(p.Body(texts(text)))
	if n := len(body) - len(text); n > maxParts || n < maxParts-8 {
		t.Errorf("parts of %d bytes", n)
	}
}

func TestBodyOfLongWordsAndCJK(t *testing.T) {
	long := strings.Repeat("a", 300)
	tests := []struct{ text, want string }{
		{"项目评审", " 项目 目评 评审 审 "},
		{"项", " 项 "},
		{"see 项目.", "see  项目 目 ."},
		{"a项目b", "a 项目 目 b"},
		{"カタカナー", " カタ タカ カナ ナー ー "},
		{"한국어 x", " 한국 국어 어  x"},
		{"項・目", " 項 ・ 目 "},
		{"x " + long + " y", "x " + long[:256] + " y"},
		{strings.Repeat("é", 129) + "!", strings.Repeat("é", 128) + "!"},
		{"a" + strings.Repeat("é", 128), "a" + strings.Repeat("é", 127)},
		{"fix\U0001fae0bug", "fix bug"},
		{"fix \U0001fae0 bug", "fix bug"},
		{"bug\U0001fae0", "bug"},
		{"\U0001fae0", ""},
		{"✅ done → next", "✅ done → next"},
	}
	var p Projector
	for _, tt := range tests {
		if got := string(p.Body(texts(tt.text))); got != tt.want {
			t.Errorf("%.40q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// slowWords finds the words of a text one character at a time.
func slowWords(text []byte) (list []word) {
	for w := nextWord(text, 0); w.start < w.end; w = nextWord(text, w.end) {
		list = append(list, w)
	}
	return list
}

// slowBody is Body by its definition, for texts in which no two words fold alike.
func slowBody(text string) string {
	var b strings.Builder
	end := 0
	seen := map[string]bool{}
	list := slowWords([]byte(text))
	if slices.ContainsFunc(list, func(w word) bool { return w.wide }) {
		text = string(composed(nil, []byte(text)))
		list = slowWords([]byte(text))
	}
	for _, w := range list {
		if w.glued {
			b.WriteByte(' ')
		} else {
			b.WriteString(text[end:w.start])
		}
		if end = w.end; w.cjk {
			b.Write(appendPairs(nil, []byte(text[w.start:w.end])))
			continue
		}
		b.Write(w.bytes([]byte(text)))
		seen[string(appendLower(nil, w.bytes([]byte(text))))] = true
	}
	if last := nextWord([]byte(text), end); !last.glued {
		b.WriteString(text[end:])
	}
	room := maxParts
	for _, w := range list {
		for _, part := range slowParts(string(w.bytes([]byte(text)))) {
			lower := string(appendLower(nil, []byte(part)))
			if w.cjk || seen[lower] {
				continue
			}
			seen[lower] = true
			if room -= len(part) + 1; room < 0 {
				return b.String()
			}
			b.WriteString("\n" + part)
		}
	}
	return b.String()
}

// slowParts splits a word by the rule as it is stated.
func slowParts(w string) (parts []string) {
	isUpper := func(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }
	isLower := func(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }
	var runes []rune
	var at []int
	for i, r := range w {
		if !isFoldedAway(r) {
			runes, at = append(runes, r), append(at, i)
		}
	}
	start := 0
	for i := 1; i < len(runes); i++ {
		cut := -1
		switch {
		case isUpper(runes[i]) && (isLower(runes[i-1]) || unicode.IsNumber(runes[i-1])):
			cut = at[i]
		case isLower(runes[i]) && i >= 2 && isUpper(runes[i-1]) && isUpper(runes[i-2]):
			cut = at[i-1]
		}
		if cut > start {
			parts = append(parts, w[start:cut])
			start = cut
		}
	}
	if len(parts) > 0 {
		parts = append(parts, w[start:])
	}
	return parts
}

// The white space around a text is passed once, not for each of its echoes.
func TestManyEchoesOfBlanksAreCheap(t *testing.T) {
	blank := strings.Repeat(" ", maxText/5) + "x"
	pieces := texts(blank, blank, blank, blank)
	for range maxText {
		pieces = append(pieces, transcript.Piece{Text: []byte("y"), Echo: true})
	}
	begin := time.Now()
	var p Projector
	if text := string(p.Text(pieces)); !strings.HasSuffix(text, "x\ny") || len(text) != 4*len(blank)+5 {
		t.Errorf("projection of %d bytes", len(text))
	}
	if d := time.Since(begin); d > 10*time.Second { // milliseconds, or minutes
		t.Errorf("%v", d)
	}
}

func FuzzBody(f *testing.F) {
	for _, s := range []string{"SearchManager HTTPServer x", "项目ABc日", "Ⓐa\u0301Bb\U0001fae0C", strings.Repeat("aB", 200), strings.Repeat("x", 63) + "yZ " + strings.Repeat("-", 70) + "Foo"} {
		f.Add(s, s)
	}
	var p Projector
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			t.Skip()
		}
		fast, glued := words(nil, []byte(a))
		slow := slowWords([]byte(a))
		for i := range fast {
			fast[i].wide = slow[min(i, len(slow)-1)].wide // only a hint
		}
		if !slices.Equal(fast, slow) {
			t.Fatalf("%q: words %+v, want %+v", a, fast, slow)
		}
		if last := nextWord([]byte(a), len(a)); last.glued && !glued {
			t.Fatalf("%q: glued", a)
		}
		if got, want := string(p.Body(texts(strings.TrimLeft(a, "*")))), slowBody(strings.TrimLeft(a, "*")); got != want {
			t.Fatalf("%q: body %q, want %q", a, got, want)
		}
		pieces := []transcript.Piece{{Text: []byte(a)}, {Text: []byte(b), Echo: true}, {Text: []byte(b)}, {Text: []byte(a), Echo: true}}
		text := string(p.Text(pieces))
		if !strings.HasPrefix(text, a) || !strings.HasSuffix(text, b) || len(text) > len(a)+2*len(b)+2 {
			t.Fatalf("text %q of %q and %q", text, a, b)
		}
		// What an echo loses, the text holds.
		echoed := vocabulary(p.Body(pieces[:2]))
		for word := range vocabulary(p.Body(pieces[1:2])) {
			if !echoed[word] {
				t.Fatalf("%q after %q lost %q", b, a, word)
			}
		}
	})
}

func vocabulary(text []byte) map[string]bool {
	m := map[string]bool{}
	for _, w := range slowWords(text) {
		m[string(appendLower(nil, w.bytes(text)))] = true
	}
	return m
}

func TestTableKeepsWhatItWasGiven(t *testing.T) {
	var tab table
	for round := range 3 {
		tab.reset()
		for i := range uint64(1000) {
			if !tab.add(i*0x9e3779b97f4a7c15) || tab.add(i*0x9e3779b97f4a7c15) {
				t.Fatalf("round %d: %d", round, i)
			}
		}
		for i := range uint64(1000) {
			if tab.find(i*0x9e3779b97f4a7c15) != int(i) {
				t.Fatalf("round %d: %d is %d", round, i, tab.find(i*0x9e3779b97f4a7c15))
			}
		}
		if tab.find(1) != -1 {
			t.Error("found what was not entered")
		}
	}
}

func TestTablesOfCharactersAreSorted(t *testing.T) {
	less := func(list [][2]rune) bool {
		return sort.SliceIsSorted(list, func(i, j int) bool { return list[i][0] < list[j][0] })
	}
	if !less(tokens[:]) || !less(folded[:]) || !slices.IsSorted(foldedAway[:]) {
		t.Error("a table is not in order")
	}
}

func TestProjectorIsReusable(t *testing.T) {
	inputs := [][]transcript.Piece{texts("SearchManager"), texts("项目"), texts("a\nb", "*a\nc"), texts(strings.Repeat("fooBar ", 9000)), nil, texts("x")}
	var shared Projector
	for range 3 {
		for _, in := range inputs {
			var fresh Projector
			if a, b := shared.Body(in), fresh.Body(in); !bytes.Equal(a, b) {
				t.Fatalf("%.40q, want %.40q", a, b)
			}
		}
	}
}
