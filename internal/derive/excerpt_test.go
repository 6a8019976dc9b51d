package derive

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestExcerptShowsTheMatch(t *testing.T) {
	filler := strings.Repeat("lorem ipsum ", 60)
	tests := []struct{ name, text, query, want string }{
		{"a word", filler + "the needle here " + filler, "needle", "needle"},
		{"the first of several words", filler + "one two " + filler + "two one", "two absent", "one two"},
		{"as a word before as part of one", filler + "needles " + filler + "a needle here", "needle", "a needle here"},
		{"as part of a word", filler + "the SearchManager here " + filler, "manager", "the SearchManager here"},
		{"in any case", filler + "the NEEDLE here", "needle", "NEEDLE"},
		{"without diacritics", filler + "the résumé here " + filler, "RESUME", "résumé"},
		{"with diacritics that the text lacks", filler + "the resume here " + filler, "résumé", "resume"},
		{"part of a word beside folded ones", strings.Repeat("é e\u0301 ", 100) + "übermanager " + filler, "manager", "übermanager"},
		{"in a run of CJK", strings.Repeat("今天的会议。", 60) + "项目评审" + strings.Repeat("今天的会议。", 60), "目评", "项目评审"},
		{"the start when there is none", "start " + filler, "absent", "start lorem"},
		{"the start without a query", "start " + filler, "", "start lorem"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			terms, _ := Terms(tt.query)
			got := Excerpt([]byte(tt.text), terms)
			if !strings.Contains(got, tt.want) {
				t.Errorf("%q does not show %q", got, tt.want)
			}
			if n := utf8.RuneCountInString(got); n != excerptChars {
				t.Errorf("%d characters", n)
			}
		})
	}
}

func TestExcerptMarksWhatIsLeftOut(t *testing.T) {
	word := strings.Repeat("x", 9) + " "
	tests := []struct {
		name, text  string
		front, back bool
		length      int
	}{
		{"white space is collapsed", "  a \n\t b\u00a0c \u2003", false, false, 5},
		{"nothing", " \n", false, false, 0},
		{"240 characters", strings.Repeat("é", 240), false, false, 240},
		{"241 characters", strings.Repeat("é", 241), false, true, 240},
		{"match near the start", "needle " + strings.Repeat(word, 50), false, true, 240},
		{"match 83 characters in", strings.Repeat("x", 82) + " needle " + strings.Repeat(word, 50), false, true, 240},
		{"match 84 characters in", strings.Repeat("x", 83) + " needle " + strings.Repeat(word, 50), true, true, 240},
		{"match at the end", strings.Repeat(word, 50) + "needle", true, false, 240},
		{"match in the middle", strings.Repeat(word, 50) + "needle " + strings.Repeat(word, 50), true, true, 240},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Excerpt([]byte(tt.text), []string{"needle"})
			if n := utf8.RuneCountInString(got); n != tt.length {
				t.Errorf("%d characters, want %d", n, tt.length)
			}
			if strings.HasPrefix(got, cutMark) != tt.front || strings.HasSuffix(got, cutMark) != tt.back {
				t.Errorf("marks of %q", got)
			}
			if strings.Contains(tt.text, "needle") != strings.Contains(got, "needle") {
				t.Errorf("%q does not show the match", got)
			}
		})
	}
}

// C69: whatever a text is made of, a cut falls between what a reader sees as
// single characters.
func TestExcerptDoesNotTearCharacters(t *testing.T) {
	for name, unit := range map[string]string{
		"a combining mark":             "e\u0301",
		"several combining marks":      "e\u0323\u0302\u0301",
		"a family":                     "👩\u200d👩\u200d👧",
		"a skin tone":                  "👍🏽",
		"a kiss with skin tones":       "🧑🏻\u200d❤\ufe0f\u200d💋\u200d🧑🏿",
		"a flag":                       "🇩🇪",
		"the flag of a region":         "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
		"a keycap":                     "1\ufe0f\u20e3",
		"a vowel sign":                 "कि",
		"a conjunct":                   "क्षि",
		"a syllable of letters":        "\u1112\u1161\u11ab",
		"a vowel of Thai":              "กำ",
		"a voice mark of half width":   "ｶﾞ",
		"points of Hebrew":             "בָּ",
		"marks of Arabic":              "مُّ",
		"a mark that joins no letters": "ن\u200c",
	} {
		t.Run(name, func(t *testing.T) {
			for lead := range 2 * utf8.RuneCountInString(unit) {
				// The match far inside, so that both ends are cut.
				text := strings.Repeat("a", lead) + " " + strings.Repeat(unit, 200) + " needle " + strings.Repeat(unit, 200)
				got := Excerpt([]byte(text), []string{"needle"})
				front, back, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(got, cutMark), cutMark), " needle ")
				if !ok || got[:3] != cutMark || got[len(got)-3:] != cutMark {
					t.Fatalf("%q", got)
				}
				for _, part := range []string{front, back} {
					if strings.ReplaceAll(part, unit, "") != "" || len(part) == 0 {
						t.Errorf("lead %d: %q is torn", lead, part)
					}
				}
				if n := utf8.RuneCountInString(got); n > excerptChars {
					t.Errorf("%d characters", n)
				}
			}
		})
	}
}

func TestExcerptOfMarksAloneIsCutAnywhere(t *testing.T) {
	text := strings.Repeat("\u0301", 500) + " needle " + strings.Repeat("\u0301", 500)
	got := Excerpt([]byte(text), []string{"needle"})
	if n := utf8.RuneCountInString(got); n > excerptChars || n < excerptChars-maxCluster || !strings.Contains(got, "needle") {
		t.Errorf("%d characters: %q", n, got)
	}
}

func TestTogether(t *testing.T) {
	for _, c := range []struct {
		text string // with a bar where it is cut
		want bool
	}{
		{"a|b", false},
		{"|a", false},
		{"a|", false},
		{"日|本", false},
		{"👍|👍", false},
		{"e|\u0301", true},
		{"e\u0301|e", false},
		{"👩|\u200d👧", true},
		{"👩\u200d|👧", true},
		{"🇩|🇪", true},
		{"🇩🇪|🇫🇷", false},
		{"🇩🇪🇫|🇷", true},
		{"a🇩|🇪", true},
		{"가|각", false},
		{"क्|ष", true},
		{"क्|", false},
		{"क् |ष", false},
	} {
		front, back, _ := strings.Cut(c.text, "|")
		if got := Together([]byte(front+back), len(front)); got != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add(strings.Repeat("word ", 100)+"needle", "needle")
	f.Add(strings.Repeat("e\u0301", 300), "e")
	f.Add(strings.Repeat("项目评审", 90), "评审")
	f.Fuzz(func(t *testing.T, text, query string) {
		terms, _ := Terms(query)
		got := Excerpt([]byte(text), terms)
		if n := utf8.RuneCountInString(got); n > excerptChars {
			t.Fatalf("%d characters", n)
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(got, cutMark), cutMark)
		if !strings.Contains(string(collapse([]byte(text))), inner) {
			t.Fatalf("%q is no part of the text", inner)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q is torn", got)
		}
	})
}
