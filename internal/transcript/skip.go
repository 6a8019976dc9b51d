package transcript

import (
	"encoding/binary"
	"math/bits"
)

// blank reports whether c is white space between JSON tokens.
func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// skipBlank returns the index of the first byte at or after i that is not
// white space.
func skipBlank(b []byte, i int) int {
	for i < len(b) && blank(b[i]) {
		i++
	}
	return i
}

// nesting is the stack of open containers, a bit each: set for an object.
type nesting struct {
	bits [MaxDepth / 64]uint64
	n    int
}

func (s *nesting) push(object bool) {
	w, m := s.n/64, uint64(1)<<(s.n%64)
	if object {
		s.bits[w] |= m
	} else {
		s.bits[w] &^= m
	}
	s.n++
}

func (s *nesting) inObject() bool {
	top := s.n - 1
	return s.bits[top/64]&(1<<(top%64)) != 0
}

// skipValue checks the value at i, inside depth open containers, and returns
// the index behind it. On failure end is how far it read. The stack is
// constant: nesting costs no recursion.
func skipValue(b []byte, i, depth int) (end int, ok bool) {
	var open nesting
	for {
		// A value begins here.
		i = skipBlank(b, i)
		if i >= len(b) {
			return i, false
		}
		switch c := b[i]; c {
		case '"':
			i, ok = skipString(b, i+1)
		case '{', '[':
			if depth+open.n >= MaxDepth {
				return i, false
			}
			object := c == '{'
			i = skipBlank(b, i+1)
			if i < len(b) && b[i] == c+2 { // '}' is '{'+2, ']' is '['+2
				i, ok = i+1, true
				break
			}
			open.push(object)
			if object {
				if i, ok = skipKey(b, i); !ok {
					return i, false
				}
			}
			continue
		case 't':
			i, ok = skipWord(b, i, "true")
		case 'f':
			i, ok = skipWord(b, i, "false")
		case 'n':
			i, ok = skipWord(b, i, "null")
		default:
			i, ok = skipNumber(b, i)
		}
		if !ok {
			return i, false
		}
		if i, ok = open.close(b, i); !ok || open.n == 0 {
			return i, ok
		}
	}
}

// close reads what may follow a value: the ends of containers, then a comma
// and, in an object, the next key. It returns where the next value begins,
// or, with no container open, where the outermost value ended.
func (s *nesting) close(b []byte, i int) (int, bool) {
	for s.n > 0 {
		i = skipBlank(b, i)
		if i >= len(b) {
			return i, false
		}
		object := s.inObject()
		switch c := b[i]; {
		case c == ',':
			if object {
				return skipKey(b, i+1)
			}
			return i + 1, true
		case c == '}' && object, c == ']' && !object:
			s.n--
			i++
		default:
			return i, false
		}
	}
	return i, true
}

// skipKey checks a key and its colon.
func skipKey(b []byte, i int) (int, bool) {
	i = skipBlank(b, i)
	if i >= len(b) || b[i] != '"' {
		return i, false
	}
	i, ok := skipString(b, i+1)
	if !ok {
		return i, false
	}
	i = skipBlank(b, i)
	if i >= len(b) || b[i] != ':' {
		return i, false
	}
	return i + 1, true
}

// skipString checks the rest of a string from i, inside its quotes, and
// returns the index behind the closing quote.
func skipString(b []byte, i int) (int, bool) {
	for {
		for ; i+8 <= len(b); i += 8 {
			if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			i++
		}
		if i >= len(b) || b[i] < ' ' {
			return i, false
		}
		if b[i] == '"' {
			return i + 1, true
		}
		if i+1 >= len(b) {
			return i, false
		}
		switch b[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			if hex4(b[i+2:]) < 0 {
				return i, false
			}
			i += 6
		default:
			return i, false
		}
	}
}

func skipWord(b []byte, i int, word string) (int, bool) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, false
	}
	return i + len(word), true
}

// skipNumber checks a number: no leading zeros, digits on both sides of a
// point and after an exponent. Its size is not bounded: it is never computed.
func skipNumber(b []byte, i int) (int, bool) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i >= len(b) || b[i] < '0' || b[i] > '9':
		return i, false
	case b[i] == '0':
		i++
	default:
		i = skipDigits(b, i)
	}
	if i < len(b) && b[i] == '.' {
		end := skipDigits(b, i+1)
		if end == i+1 {
			return end, false
		}
		i = end
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		end := skipDigits(b, i)
		if end == i {
			return end, false
		}
		i = end
	}
	return i, true
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}
