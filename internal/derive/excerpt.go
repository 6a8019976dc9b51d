package derive

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// excerptChars is the length of an excerpt in characters, marks included.
	excerptChars = 240
	// excerptLead is how many characters stand before the match.
	excerptLead = 80
	// cutMark stands where text was left out.
	cutMark = "..."
)

// Excerpt is what is shown of a text that was found by terms: at most 240
// characters, cut marks included, with each run of white space as one space.
// They surround the first place where a term stands as a word; where none
// does, the first where one is part of a word; else they are the text's start.
// Case and diacritics count as little as in the index. No cut parts characters
// that a reader sees as one.
func Excerpt(text []byte, terms []string) string {
	text = collapse(text)
	total := utf8.RuneCount(text)
	if total <= excerptChars {
		return string(text)
	}
	at := utf8.RuneCount(text[:locate(text, terms)])
	from, to, front, back := window(total, at)
	start := offset(text, 0, from)
	end := offset(text, start, to-from)
	if front {
		start = clusterEnd(text, start)
	}
	if back {
		end = clusterStart(text, end)
	}
	out := make([]byte, 0, end-start+2*len(cutMark))
	if front {
		out = append(out, cutMark...)
	}
	out = append(out, text[start:end]...)
	if back {
		out = append(out, cutMark...)
	}
	return string(out)
}

// window chooses the characters [from, to) of total, around the one at at,
// and says at which ends a mark stands for what is left out.
func window(total, at int) (from, to int, front, back bool) {
	const mark = len(cutMark)
	from = max(at-excerptLead, 0)
	switch {
	case from <= mark: // a mark would be no shorter than what it hides
		return 0, excerptChars - mark, false, true
	case total-from <= excerptChars-mark:
		return total - (excerptChars - mark), total, true, false
	}
	return from, from + excerptChars - 2*mark, true, true
}

// collapse copies text with each run of white space as one space, and none at
// its ends.
func collapse(text []byte) []byte {
	return bytes.Join(bytes.Fields(text), []byte(" "))
}

// offset returns where the character stands that is n characters behind i.
func offset(text []byte, i, n int) int {
	for ; n > 0 && i < len(text); n-- {
		_, size := utf8.DecodeRune(text[i:])
		i += size
	}
	return i
}

// maxCluster bounds how far a cut is moved, in characters: text may be made
// of marks alone. The longest emoji in use have eleven, and the match stands
// farther from a cut than that.
const maxCluster = 32

// clusterEnd moves a cut forward out of a sequence of characters that is
// shown as one.
func clusterEnd(text []byte, i int) int {
	for range maxCluster {
		if i == 0 || i == len(text) || !Together(text, i) {
			break
		}
		_, n := utf8.DecodeRune(text[i:])
		i += n
	}
	return i
}

// clusterStart moves a cut back in the same way.
func clusterStart(text []byte, i int) int {
	at := i
	for range maxCluster {
		if at == 0 || at == len(text) || !Together(text, at) {
			return at
		}
		_, n := utf8.DecodeLastRune(text[:at])
		at -= n
	}
	return i
}

// locate returns where the match begins that an excerpt is cut around.
func locate(text []byte, terms []string) int {
	if len(terms) == 0 || !isLoose(text) {
		return locateIn(text, terms)
	}
	k := locateIn(composed(nil, text), terms)
	var parts norm.Iter // of text; each has its composed form by itself
	parts.Init(norm.NFC, text)
	for end := 0; !parts.Done(); {
		at := parts.Pos()
		if end += len(parts.Next()); end > k {
			return at
		}
	}
	return 0
}

// locateIn is locate for a text that is composed, as terms are.
func locateIn(text []byte, terms []string) int {
	words := map[string]bool{}
	var runs, all [][]byte
	for _, term := range terms {
		fold := appendFold(nil, []byte(term))
		if len(fold) == 0 {
			continue
		}
		if all = append(all, fold); nextWord(fold, 0).cjk {
			runs = append(runs, fold)
		} else {
			words[string(fold)] = true
		}
	}
	if len(all) == 0 {
		return 0
	}
	var fold []byte
	for w := nextWord(text, 0); w.start < w.end; w = nextWord(text, w.end) {
		if w.cjk { // a run has no borders between its words
			if k := firstOf(text[w.start:w.end], runs); k >= 0 {
				return w.start + k
			}
			continue
		}
		if fold = appendFold(fold[:0], w.bytes(text)); words[string(fold)] {
			return w.start
		}
	}
	return locatePart(text, all)
}

// locatePart returns where the first of terms, which are folded, stands in
// text as any part of it, 0 if none does.
func locatePart(text []byte, terms [][]byte) int {
	k := firstOf(appendFold(make([]byte, 0, len(text)), text), terms)
	var fold []byte
	for i := 0; i < len(text) && k >= 0; {
		_, n := utf8.DecodeRune(text[i:])
		fold = appendFold(fold[:0], text[i:i+n])
		if k < len(fold) {
			return i
		}
		k -= len(fold)
		i += n
	}
	return 0
}

// firstOf returns where the first of terms stands in b, -1 if none does.
func firstOf(b []byte, terms [][]byte) int {
	found := -1
	for _, term := range terms {
		if k := bytes.Index(b, term); k >= 0 && (found < 0 || k < found) {
			found = k
		}
	}
	return found
}
