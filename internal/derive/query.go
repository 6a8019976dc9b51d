package derive

import (
	"strings"
	"unicode/utf8"
)

// maxTerms is how many distinct terms of a query are used; the contract's
// number.
const maxTerms = 32

// Terms returns the distinct words of a query that can be searched, in its
// order and composed spelling, and whether it held more than the 32 that are used.
// Case does not tell words apart. Everything that is no part of a word
// separates them: a query has no operators. A run of CJK characters is one
// term. A word in which the tokenizer sees nothing is left out.
func Terms(query string) (terms []string, cut bool) {
	text := composed(nil, []byte(query))
	seen := map[string]bool{}
	for w := nextWord(text, 0); w.start < w.end; w = nextWord(text, w.end) {
		b := w.bytes(text)
		if w.wide && !hasToken(b) {
			continue
		}
		lower := string(appendLower(nil, b))
		if seen[lower] {
			continue
		}
		if len(terms) == maxTerms {
			return terms, true
		}
		seen[lower] = true
		terms = append(terms, string(b))
	}
	return terms, false
}

// Match is the FTS5 expression for the turns that hold every term, "" where
// no term can be searched: such a query finds nothing and must not be run. A
// run of CJK characters becomes the phrase of its pairs, a single one a prefix.
// It is a correct expression whatever the terms are.
func Match(terms []string) string {
	var b strings.Builder
	for _, term := range terms {
		text := []byte(term)
		for w := nextWord(text, 0); w.start < w.end; w = nextWord(text, w.end) {
			word := w.bytes(text)
			if w.wide && !hasToken(word) {
				continue
			}
			if b.Len() > 0 {
				b.WriteString(" AND ")
			}
			writePhrase(&b, word, w.cjk)
		}
	}
	return b.String()
}

// MatchAny is the FTS5 expression for the turns that hold every term of at least
// one of several lists, "" where no list has a term that can be searched. Its
// phrases stand in the order of the terms.
func MatchAny(lists [][]string) string {
	var parts []string
	for _, terms := range lists {
		if match := Match(terms); match != "" {
			parts = append(parts, "("+match+")")
		}
	}
	return strings.Join(parts, " OR ")
}

// writePhrase writes one word. A word holds no quotes, so none are doubled.
func writePhrase(b *strings.Builder, word []byte, isCJK bool) {
	if isCJK && utf8.RuneCount(word) == 1 {
		b.WriteString(`"` + string(word) + `"*`)
		return
	}
	b.WriteByte('"')
	if isCJK {
		b.Write(trimLast(appendPairs(nil, word)))
	} else {
		b.Write(word)
	}
	b.WriteByte('"')
}

// trimLast takes the last character, which a run has beside its pairs, and
// the spaces around it from pairs. A phrase without it also matches inside a
// longer run.
func trimLast(pairs []byte) []byte {
	pairs = pairs[:len(pairs)-1]
	_, n := utf8.DecodeLastRune(pairs)
	return pairs[1 : len(pairs)-n-1]
}
