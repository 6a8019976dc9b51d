package transcript

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// valid is utf8.Valid, fast where few characters are above ASCII.
func valid(text []byte) bool {
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			m := binary.LittleEndian.Uint64(text[i:]) & highs
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return false
		}
		i += n
	}
	return true
}

// clip drops of a long text what neither its validity nor its repair needs: no
// character that cutText keeps ends behind the clip, and none is split by it
// unless the text there is not UTF-8.
func clip(text []byte) []byte {
	const enough = MaxText + utf8.UTFMax
	if len(text) <= enough {
		return text
	}
	end := enough
	for end > MaxText+1 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end:end]
}

// repair copies text with every byte that is not UTF-8 replaced by U+FFFD, as
// far as cutText keeps it.
func repair(text []byte) []byte {
	dst := make([]byte, 0, min(len(text)+len(text)/2, MaxText+utf8.UTFMax))
	for i := 0; i < len(text) && len(dst) <= MaxText; {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			dst = utf8.AppendRune(dst, utf8.RuneError)
		} else {
			dst = append(dst, text[i:i+n]...)
		}
		i += n
	}
	return dst
}

// cutText applies MaxText, between two characters.
func cutText(text []byte) []byte {
	if len(text) <= MaxText {
		return text
	}
	text = CutBytes(text, MaxText)
	return text[:len(text):len(text)]
}

// CutBytes returns the longest prefix of valid UTF-8 text that has at most
// limit bytes and ends between two characters.
func CutBytes(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
