package derive

import (
	"bytes"

	"golang.org/x/text/unicode/norm"
)

// The tokenizer folds letters of Latin with their marks, however they are
// written. Of other scripts it keeps a letter with its mark and drops the mark
// that stands by itself: й and и with a breve would be two words, and a word of
// Hangul in single letters, as file names of macOS are spelled, none that
// anybody types. So index and query are both composed (NFC).

// looseStarts are what the UTF-8 forms begin with of characters that may
// compose with the one before them.
var looseStarts = [...]string{
	"\xcc", "\xcd", // U+0300 to U+036F: diacritics
	"\xd9\x93", "\xd9\x94", "\xd9\x95", // madda and hamza of Arabic
	"\xe1\x85", "\xe1\x86", "\xe1\x87", // vowels and final consonants of Hangul
	"\u3099", "\u309a", // voice marks of kana
}

// isLoose reports whether text may hold letters apart from their marks. Those
// of Indic scripts, which no keyboard writes in two ways, are not looked for.
func isLoose(text []byte) bool {
	for _, start := range looseStarts {
		if bytes.Contains(text, []byte(start)) {
			return true
		}
	}
	return false
}

// composed is text with letters and their marks as one character where there
// is one: text itself, or what is appended to dst[:0].
func composed(dst, text []byte) []byte {
	if !isLoose(text) {
		return text
	}
	return norm.NFC.Append(dst[:0], text...)
}
