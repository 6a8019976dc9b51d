package derive

import (
	"unicode"
	"unicode/utf8"
)

// Characters that take part in what a reader sees as one.
const (
	joinerOfNone = '\u200c'
	joiner       = '\u200d'

	firstFlag, lastFlag = 0x1f1e6, 0x1f1ff // two of them are a flag
	firstTone, lastTone = 0x1f3fb, 0x1f3ff // skin tones
	firstTag, lastTag   = 0xe0020, 0xe007f // what flags of regions are spelled with
)

// linkers tie an Indic consonant to the next one.
var linkers = [...]rune{0x94d, 0x9cd, 0xacd, 0xb4d, 0xc4d, 0xd4d, 0x1039, 0x17d2, 0x1a60, 0x1b44}

// Together reports whether a cut of text at i would part characters that a
// reader sees as one: a letter and its marks, a syllable, an emoji of several,
// a flag. It knows these by a few wide rules in place of Unicode's tables: it
// keeps together whatever those do, and now and then a little more. i stands
// between two characters.
func Together[T string | []byte](text T, i int) bool {
	if i <= 0 || i >= len(text) {
		return false
	}
	before, _ := lastRune(text[:i])
	after, _ := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
	switch {
	case before == joiner:
		return true
	case before < 0x300 && after < 0x300:
		return false
	case extends(after):
		return true
	case isFlag(before) && isFlag(after):
		return flagsBefore(text[:i])%2 == 1
	}
	return unicode.Is(unicode.Prepended_Concatenation_Mark, before) ||
		unicode.IsLetter(after) && isLinker(before) ||
		isLeadingJamo(before) && unicode.Is(unicode.Hangul, after)
}

func lastRune[T string | []byte](text T) (rune, int) {
	return utf8.DecodeLastRuneInString(string(text[max(len(text)-utf8.UTFMax, 0):]))
}

// extends reports whether r is never shown by itself.
func extends(r rune) bool {
	switch {
	case r == joiner, r == joinerOfNone,
		r == 0xe33, r == 0xeb3, // a vowel of Thai and of Lao
		r == 0xff9e, r == 0xff9f, // voice marks of half width
		r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7fb, // vowels and final consonants of Hangul
		r >= firstTone && r <= lastTone,
		r >= firstTag && r <= lastTag:
		return true
	}
	return unicode.Is(unicode.M, r)
}

func isFlag(r rune) bool { return r >= firstFlag && r <= lastFlag }

// flagsBefore counts the flag letters that text ends in.
func flagsBefore[T string | []byte](text T) (n int) {
	for {
		r, size := lastRune(text)
		if !isFlag(r) {
			return n
		}
		n++
		text = text[:len(text)-size]
	}
}

func isLinker(r rune) bool {
	for _, l := range linkers {
		if r == l {
			return true
		}
	}
	return false
}

func isLeadingJamo(r rune) bool { return r >= 0x1100 && r <= 0x115f || r >= 0xa960 && r <= 0xa97c }
