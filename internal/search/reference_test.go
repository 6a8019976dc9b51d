package search_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// What the contract says of words, written down once more and slowly. Nothing
// of the packages under test is used.

// fold is what the tokenizer makes of a character of the tests' texts.
func fold(r rune) string {
	if unicode.Is(unicode.Mn, r) {
		return ""
	}
	r = unicode.ToLower(r)
	if bare, ok := map[rune]rune{'é': 'e', 'ể': 'e', 'ä': 'a'}[r]; ok {
		r = bare
	}
	return string(r)
}

func folded(word string) string {
	var b strings.Builder
	for _, r := range word {
		b.WriteString(fold(r))
	}
	return b.String()
}

// wordsOf cuts a text, its letters composed with their marks: at everything that is no letter, number or mark, and
// where Chinese begins or ends.
func wordsOf(text string) []string {
	var out []string
	last := ' '
	for _, r := range norm.NFC.String(text) {
		switch {
		case !unicode.In(r, unicode.L, unicode.N, unicode.Mn):
			last = ' '
			continue
		case last == ' ' || unicode.Is(unicode.Han, r) != unicode.Is(unicode.Han, last):
			out = append(out, "")
		}
		out[len(out)-1] += string(r)
		last = r
	}
	return out
}

func isHan(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// pairs are the tokens of a run; with all the last character is one as well.
func pairs(run string, all bool) []string {
	chars := strings.Split(run, "")
	var out []string
	for i := range len(chars) - 1 {
		out = append(out, chars[i]+chars[i+1])
	}
	if all {
		out = append(out, chars[len(chars)-1])
	}
	return out
}

// partsOf cuts an identifier before an upper-case letter behind another kind
// of character, and before the last of several that a lower-case letter follows.
func partsOf(word string) []string {
	chars := []rune(word)
	out := []string{""}
	for i, r := range chars {
		if i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(chars[i-1]) || i+1 < len(chars) && unicode.IsLower(chars[i+1])) {
			out = append(out, "")
		}
		out[len(out)-1] += string(r)
	}
	return out
}

// tokensOf are the tokens of a turn that says text, in their order.
func tokensOf(text string) []string {
	var out, seen []string
	words := wordsOf(text)
	for _, w := range words {
		if isHan(w) {
			out = append(out, pairs(w, true)...)
			continue
		}
		out, seen = append(out, folded(w)), append(seen, strings.ToLower(w))
	}
	for _, w := range words {
		for _, part := range partsOf(w) {
			if lower := strings.ToLower(part); !isHan(w) && !slices.Contains(seen, lower) {
				out, seen = append(out, folded(part)), append(seen, lower)
			}
		}
	}
	return out
}

// A term is one of a query: a token, or several that stand side by side.
type term struct {
	word   string
	phrase []string
	prefix bool // the one token need only begin so
}

// termsOf are the distinct terms of a query; case does not tell them apart.
func termsOf(query string) []term {
	var out []term
	for _, w := range wordsOf(query) {
		if slices.ContainsFunc(out, func(t term) bool { return strings.EqualFold(t.word, w) }) {
			continue
		}
		t := term{word: w, phrase: []string{folded(w)}}
		if isHan(w) {
			t.prefix = len([]rune(w)) == 1
			t.phrase = pairs(w, t.prefix)
		}
		out = append(out, t)
	}
	return out
}

func TestTheReferenceReadsWordsAsTheContractSays(t *testing.T) {
	for text, want := range map[string]string{
		"src/worker/S.ts":           "src worker s ts",
		"snake_case kebab-case":     "snake case kebab case",
		"SearchManager":             "searchmanager search manager",
		"searchManager Search":      "searchmanager search manager",
		"HTTPServer, S3Client v2":   "httpserver s3client v2 http server s3 client",
		"Résumé re\u0301sume\u0301": "resume resume",
		"a项目评审b":                    "a 项目 目评 评审 审 b",
	} {
		if got := strings.Join(tokensOf(text), " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
