package derive

import (
	"encoding/binary"
	"math/bits"
)

// Every byte of every text passes here, so words are found 64 bytes at a time:
// a bitmap says of each byte in a block whether it is a letter or a number,
// and shifted against itself where words begin and end and where their case
// has a boundary. Runs that hold a byte above ASCII are left to nextWord.

// block is the width of the bitmaps.
const block = 64

// bitmaps describe a block, bit i its byte i.
type bitmaps struct {
	alnum, upper, lower, wide uint64
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// between sets the high bit of each byte of x, all ASCII, that lies in [from, to].
func between(x uint64, from, to byte) uint64 {
	return (x + lows*uint64(0x80-from)) &^ (x + lows*uint64(0x7f-to))
}

// gather collects the high bits of the bytes of x into the low byte.
func gather(x uint64) uint64 { return (x & highs) >> 7 * 0x0102040810204080 >> 56 }

func describe(b []byte) (m bitmaps) {
	_ = b[block-1]
	for i := 0; i < block; i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		x := word &^ highs
		upper := between(x, 'A', 'Z') &^ word
		lower := between(x, 'a', 'z') &^ word
		number := between(x, '0', '9') &^ word
		m.upper |= gather(upper) << i
		m.lower |= gather(lower) << i
		m.alnum |= gather(upper|lower|number) << i
		m.wide |= gather(word) << i
	}
	return m
}

// words appends the words of text to dst. glued is true if after the last one
// a character follows that is a separator to us and part of a word to the
// tokenizer.
func words(dst []word, text []byte) (_ []word, glued bool) {
	var (
		tail          [block]byte
		last          bitmaps // of the block before
		open          = -1    // where the present run began
		cased, isWide bool    // of the present run
	)
	// One block more than there are ends the last run.
	for base := 0; base <= len(text); base += block {
		b := text[base:]
		if len(b) < block {
			tail = [block]byte{}
			copy(tail[:], b)
			b = tail[:]
		}
		m := describe(b)
		run, before := m.alnum|m.wide, last.alnum|last.wide
		small, smallBefore := m.alnum&^m.upper, last.alnum&^last.upper
		upper1, upper2 := m.upper<<1|last.upper>>63, m.upper<<2|last.upper>>62
		boundary := m.upper&(small<<1|smallBefore>>63) | m.lower&upper1&upper2
		shifted := run<<1 | before>>63
		starts, ends := run&^shifted, shifted&^run
		last = m
		for from := 0; ; {
			if open < 0 {
				if starts == 0 {
					break
				}
				from = bits.TrailingZeros64(starts)
				starts &= starts - 1
				open, cased, isWide = base+from, false, false
			}
			end := bits.TrailingZeros64(ends)
			span := ^uint64(0) << from & (1<<end - 1)
			cased = cased || boundary&span != 0
			isWide = isWide || m.wide&span != 0
			if end == block {
				break
			}
			ends &= ends - 1
			if isWide {
				dst, glued = wideWords(dst, text[:base+end], open, glued)
			} else {
				dst = append(dst, word{start: open, end: base + end, cased: cased, glued: glued})
				glued = false
			}
			open = -1
		}
	}
	return dst, glued
}

// wideWords appends the words of the run that goes from i to the end of text.
func wideWords(dst []word, text []byte, i int, glued bool) ([]word, bool) {
	for {
		w := nextWord(text, i)
		glued = glued || w.glued
		if w.start == w.end {
			return dst, glued
		}
		w.glued, glued = glued, false
		dst = append(dst, w)
		i = w.end
	}
}
