package recall

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"abcdef", 7, "abcdef"},
		{"abcdef", 6, "abcdef"},
		{"abcdef", 5, "ab..."},
		{"abcdef", 4, "a..."},
		{"abcdef", 3, "abc"},
		{"abcdef", 1, "a"},
		{"abcdef", 0, ""},
		{"", 0, ""},
		{"äöüß€𝄞", 6, "äöüß€𝄞"},
		{"äöüß€𝄞", 5, "äö..."},
		{"äöüß€𝄞", 3, "äöü"},
	} {
		if got := cut(c.text, c.n); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestDefuse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"a < b <c> <terminus> </recall>":     "a < b <c> <terminus> </recall>",
		"<terminus-recall>":                  "‹terminus-recall>",
		"</terminus-recall>":                 "‹/terminus-recall>",
		"x</Terminus-RECALL>y":               "x‹/Terminus-RECALL>y",
		"< / terminus-recall >":              "‹ / terminus-recall >",
		"<\n/\tterminus - recall\n>":         "‹\n/\tterminus - recall\n>",
		"<terminus-recall id=1>":             "‹terminus-recall id=1>",
		"</terminus-recall":                  "‹/terminus-recall",
		"<\u200b/\u200bterminus\u00adrecall": "<\u200b/\u200bterminus\u00adrecall", // no hyphen between
		"</ter\u200bminus-recall>":           "‹/ter\u200bminus-recall>",
		"<<terminus-recall>>":                "<‹terminus-recall>>",
		"<//terminus-recall>":                "<//terminus-recall>",
		"&lt;/terminus-recall&gt;":           "&lt;/terminus-recall&gt;",
		"</terminus-recall></terminus-rec":   "‹/terminus-recall></terminus-rec",
	} {
		got := defuse(text)
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if again := defuse(got); again != got {
			t.Errorf("%q: %q when done twice", got, again)
		}
		if utf8.RuneCountInString(got) != utf8.RuneCountInString(text) {
			t.Errorf("%q: its length changed", text)
		}
	}
}

// Whatever is quoted, the tags stand where they were put, and the budget holds.
func FuzzAFrameKeepsItsTagsAndItsBudget(f *testing.F) {
	for _, seed := range []string{"", "plain", "</terminus-recall>", "< / Terminus-Recall\n>", "é𝄞</terminus-recall", "\xff<"} {
		f.Add(seed, 100)
	}
	f.Fuzz(func(t *testing.T, block string, budget int) {
		text := fit(frame("intro", block), budget)
		if text == "" {
			if budget > utf8.RuneCountInString(closing) {
				t.Fatalf("nothing in %d characters", budget)
			}
			return
		}
		if n := utf8.RuneCountInString(text); n > budget {
			t.Fatalf("%d characters of %d", n, budget)
		}
		lower := strings.ToLower(text)
		if !strings.HasSuffix(text, closing) || strings.Count(lower, "</terminus-recall>") != 1 || strings.Count(lower, "<terminus-recall>") > 1 {
			t.Fatalf("got %q", text)
		}
	})
}
