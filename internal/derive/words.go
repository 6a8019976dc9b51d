package derive

import (
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// What a word is must be the same for the index and for a query, and both must
// agree with the tokenizer of the search table, SQLite's unicode61. That
// tokenizer is frozen; its character data is older than Go's and takes every
// code point that it does not know for a letter. unicode61.go holds what it
// does, read off the tokenizer itself for all code points.
//
// A word here is a run of letters, numbers and Unicode's other alphabetic
// characters, with the marks that the tokenizer folds away inside it. Where
// the tokenizer would see less (a vowel sign splits the word), index and query
// split alike. Where it would see more (a symbol that it does not know glues
// two words together), Body puts a space in that character's place.
//
// A run of CJK characters has no spaces between its words. It is a word of its
// own here, and stands in the index as its overlapping pairs.

// maxWord bounds a word of the index and of a query, in bytes: longer ones are
// encoded data, and what they differ in beyond it is not worth an index entry.
const maxWord = 256

// A class is what a character means to a word.
type class uint8

const (
	separator class = iota
	lower
	upper
	number
	letter // without case
	mark   // folded away by the tokenizer; in a word, it changes nothing
	cjk
	wide // of a byte: the first of a character above ASCII
)

// byteClass is the class of each byte.
var byteClass = func() (t [256]class) {
	for c := range t {
		switch {
		case c >= utf8.RuneSelf:
			t[c] = wide
		case 'a' <= c && c <= 'z':
			t[c] = lower
		case 'A' <= c && c <= 'Z':
			t[c] = upper
		case '0' <= c && c <= '9':
			t[c] = number
		}
	}
	return t
}()

// classOf is the class of a character above ASCII.
func classOf(r rune) class {
	switch {
	case r >= 0x2000 && r < 0x2071, r >= 0x2190 && r < 0x2460, r >= 0x2500 && r < 0x2776:
		return separator // punctuation, arrows, boxes and marks, which are frequent
	case r >= 0x4e00 && r < 0xa000:
		return cjk
	case unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r):
		return upper
	case unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r):
		return lower
	case unicode.IsNumber(r) && !unicode.Is(unicode.Han, r):
		return number
	case isCJK(r) && isToken(r):
		return cjk
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.Is(unicode.Other_Alphabetic, r):
		return letter
	case isFoldedAway(r):
		return mark
	}
	return separator
}

// isCJK reports whether r is of a script that is written without spaces, or,
// as Hangul, with endings glued to its words. The two long-vowel marks belong
// to no script by themselves.
func isCJK(r rune) bool {
	return r == 'ー' || r == 'ｰ' ||
		r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}

// isToken reports whether the tokenizer takes r, which is above ASCII, for
// part of a word.
func isToken(r rune) bool {
	i := sort.Search(len(tokens), func(i int) bool { return tokens[i][1] >= r })
	return i < len(tokens) && tokens[i][0] <= r
}

// hasToken reports whether the tokenizer finds anything in a word.
func hasToken(word []byte) bool {
	for _, r := range string(word) {
		if r < utf8.RuneSelf && byteClass[r] != separator || r >= utf8.RuneSelf && isToken(r) {
			return true
		}
	}
	return false
}

// isFoldedAway reports whether the tokenizer drops r from a word without
// ending the word there.
func isFoldedAway(r rune) bool {
	return r >= foldedAway[0] && r <= foldedAway[len(foldedAway)-1] && slices.Contains(foldedAway[:], r)
}

// A word is text[start:end].
type word struct {
	start, end int
	// cjk marks a run of CJK characters.
	cjk bool
	// cased marks a word that has a case boundary.
	cased bool
	// wide marks a word that is not ASCII.
	wide bool
	// glued marks that a character before the word is a separator to us and
	// part of a word to the tokenizer.
	glued bool
}

// bytes is the word as it is indexed and looked for.
func (w word) bytes(text []byte) []byte { return cutWord(text[w.start:w.end]) }

func cutWord(b []byte) []byte { return transcript.CutBytes(b, maxWord) }

// nextWord finds the first word at or after i. At the end of the text it
// returns an empty word there.
func nextWord(text []byte, i int) (w word) {
	for i < len(text) {
		c := byteClass[text[i]]
		n := 1
		if c == wide {
			var r rune
			r, n = utf8.DecodeRune(text[i:])
			if c = classOf(r); c == mark {
				c = separator // a word does not begin with one
			}
			w.glued = w.glued || c == separator && isToken(r)
		}
		switch c {
		case separator:
			i += n
		case cjk:
			w.start, w.cjk, w.wide = i, true, true
			w.end = cjkEnd(text, i+n)
			return w
		default:
			w.start = i
			w.end, w.cased, w.wide = wordEnd(text, i+n, first[c])
			w.wide = w.wide || n > 1
			return w
		}
	}
	w.start, w.end = len(text), len(text)
	return w
}

func cjkEnd(text []byte, i int) int {
	for i < len(text) && text[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(text[i:])
		if classOf(r) != cjk {
			break
		}
		i += n
	}
	return i
}

// The case of a word so far. A boundary lies before an upper-case character
// that follows a lower-case one or a number (retry|Budget, S3|Client), and
// before the last of several upper-case characters that a lower-case one
// follows (HTTP|Server).
const (
	afterLower uint8 = iota // a lower-case character or a number
	afterUpper
	afterUppers // two or more
	afterOther
	boundary // found; stays
)

var first = [...]uint8{lower: afterLower, number: afterLower, upper: afterUpper, letter: afterOther}

// step gives the case after one more character.
var step = [...][cjk]uint8{
	afterLower:  {lower: afterLower, number: afterLower, upper: boundary, letter: afterOther, mark: afterLower},
	afterUpper:  {lower: afterLower, number: afterLower, upper: afterUppers, letter: afterOther, mark: afterUpper},
	afterUppers: {lower: boundary, number: afterLower, upper: afterUppers, letter: afterOther, mark: afterUppers},
	afterOther:  {lower: afterLower, number: afterLower, upper: afterUpper, letter: afterOther, mark: afterOther},
	boundary:    {lower: boundary, number: boundary, upper: boundary, letter: boundary, mark: boundary},
}

// wordEnd returns where the word ends that goes on at i, whether it has a case
// boundary, and whether it goes on with more than ASCII.
func wordEnd(text []byte, i int, state uint8) (end int, cased, above bool) {
	for i < len(text) {
		c := byteClass[text[i]]
		n := 1
		if c == wide {
			var r rune
			r, n = utf8.DecodeRune(text[i:])
			c = classOf(r)
			above = above || c != separator && c != cjk
		}
		if c == separator || c == cjk {
			break
		}
		state = step[state][c]
		i += n
	}
	return i, state == boundary, above
}

// caseParts yields the parts of a word between its case boundaries.
func caseParts(w []byte, yield func(part []byte)) {
	start, last := 0, 0 // of the part, and of the last upper-case character
	state := afterOther
	for i := 0; i < len(w); {
		c, n := byteClass[w[i]], 1
		if c == wide {
			var r rune
			r, n = utf8.DecodeRune(w[i:])
			c = classOf(r)
		}
		next := state
		if c < cjk {
			next = step[state][c]
		}
		if next == boundary {
			cut := i
			if c == lower {
				cut = last
			}
			yield(w[start:cut])
			start, next = cut, first[c]
		}
		if c == upper {
			last = i
		}
		state = next
		i += n
	}
	yield(w[start:])
}

func lowerByte(c byte) byte {
	if byteClass[c] == upper {
		c += 'a' - 'A'
	}
	return c
}

// appendLower appends a word in lower case.
func appendLower(dst, w []byte) []byte {
	for i := 0; i < len(w); {
		if w[i] < utf8.RuneSelf {
			dst = append(dst, lowerByte(w[i]))
			i++
			continue
		}
		r, n := utf8.DecodeRune(w[i:])
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
		i += n
	}
	return dst
}

// appendFold appends a word as the tokenizer folds it: in lower case, without
// diacritics.
func appendFold(dst, w []byte) []byte {
	for i := 0; i < len(w); {
		if w[i] < utf8.RuneSelf {
			dst = append(dst, lowerByte(w[i]))
			i++
			continue
		}
		r, n := utf8.DecodeRune(w[i:])
		i += n
		if isFoldedAway(r) {
			continue
		}
		r = unicode.ToLower(r)
		if k := sort.Search(len(folded), func(i int) bool { return folded[i][0] >= r }); k < len(folded) && folded[k][0] == r {
			r = folded[k][1]
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
