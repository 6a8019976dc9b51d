package transcript

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// MaxDepth bounds the nesting of a record. Claude Code's deepest records
	// nest about 15 deep; the bound keeps a stack of one bit a level in 64
	// bytes, and a record of brackets alone from costing more than its length.
	MaxDepth = 512

	// MaxText bounds one decoded string, in bytes. The search projection of a
	// whole turn is a quarter of it; what is over serves the echo of a text
	// whose beginning the turn already holds. The rest of a longer string is
	// checked and dropped.
	MaxText = 1 << 20

	// arenaChunk is the size in which room for decoded strings is taken: large
	// beside a usual string, small beside what a pass may hold.
	arenaChunk = 64 << 10
	// arenaLow is the room below which a new chunk is taken, so that a usual
	// string is not moved while it is decoded.
	arenaLow = 1 << 10
)

// A Scanner reads one JSON value front to back and touches each byte once.
// It is strict as RFC 8259 is (structure, numbers, literals, escapes, no
// control characters in strings), with two exceptions inside strings: bytes
// that are not UTF-8 and surrogates without a partner are read as U+FFFD.
// Nesting beyond MaxDepth is refused.
//
// Every method may be called after a failure: it then returns its zero value,
// and Done reports false at the end. Within a container the caller consumes
// exactly one value for each NextMember or NextElement.
//
// A text that holds no escape and is valid UTF-8 aliases the input. Any other
// is written once to memory that is never used again: it stays valid as long
// as it is held, whatever the Scanner does next.
type Scanner struct {
	buf   []byte
	pos   int
	depth int
	// fresh is true between entering a container and its first member.
	fresh bool
	bad   bool

	free    []byte // what is left of the newest arena chunk
	members []member
	order   []Piece
	// Of the leaves being collected: what is left of TextRoom, the bytes of
	// the keys in members, and whether a bound was met.
	room, keys int
	over       bool
}

// Reset makes s read data from its start. Texts returned earlier stay valid.
func (s *Scanner) Reset(data []byte) {
	s.buf, s.pos, s.depth, s.fresh, s.bad = data, 0, 0, false, false
}

// Release drops every reference to the input, so that a Scanner that waits in
// a pool holds no record.
func (s *Scanner) Release() {
	s.Reset(nil)
	s.members, s.order = Recycle(s.members), Recycle(s.order)
}

// recycleLimit is the capacity above which scratch is not kept: one monstrous
// record must not stay in the pool for ever.
const recycleLimit = 512

// Recycle empties scratch for its next use: what it holds is cleared, so that
// it keeps no record alive, and what grew beyond the usual is dropped.
func Recycle[T any](scratch []T) []T {
	if cap(scratch) > recycleLimit {
		return nil
	}
	clear(scratch)
	return scratch[:0]
}

// Done reports whether everything read so far was correct and nothing but
// white space is left.
func (s *Scanner) Done() bool {
	return !s.bad && s.depth == 0 && s.space() == 0 && s.pos == len(s.buf)
}

// Kind is the kind of the next value by its first byte: one of { [ " t f n,
// '0' for a number, or 0 where no value begins.
func (s *Scanner) Kind() byte {
	switch c := s.space(); c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return '0'
	}
	return 0
}

// EnterObject steps into the next value if it is an object. Otherwise it
// consumes nothing and returns false.
func (s *Scanner) EnterObject() bool { return s.enter('{') }

// EnterArray steps into the next value if it is an array. Otherwise it
// consumes nothing and returns false.
func (s *Scanner) EnterArray() bool { return s.enter('[') }

func (s *Scanner) enter(open byte) bool {
	if s.space() != open {
		return false
	}
	if s.depth >= MaxDepth {
		s.fail()
		return false
	}
	s.depth++
	s.pos++
	s.fresh = true
	return true
}

// NextMember moves to the next member of the object that was entered last and
// returns its key, unescaped. At the object's end it steps out and returns false.
func (s *Scanner) NextMember() ([]byte, bool) {
	if !s.next('}') {
		return nil, false
	}
	if s.space() != '"' {
		s.fail()
		return nil, false
	}
	key := s.Text()
	if s.space() != ':' {
		s.fail()
		return nil, false
	}
	s.pos++
	return key, true
}

// NextElement moves to the next element of the array that was entered last.
// At the array's end it steps out and returns false.
func (s *Scanner) NextElement() bool { return s.next(']') }

func (s *Scanner) next(end byte) bool {
	c := s.space()
	if c == end {
		s.fresh = false
		s.pos++
		s.depth--
		return false
	}
	if s.fresh {
		s.fresh = false
		if s.pos < len(s.buf) {
			return true
		}
	} else if c == ',' {
		s.pos++
		return true
	}
	s.fail()
	return false
}

// Bool consumes the next value and reports whether it is true.
func (s *Scanner) Bool() bool {
	is := s.space() == 't'
	s.Skip()
	return is && !s.bad
}

// TryText consumes the next value and returns its text if it is a string.
// Whatever else it is gives nil and false.
func (s *Scanner) TryText() ([]byte, bool) {
	if s.space() != '"' {
		s.Skip()
		return nil, false
	}
	text := s.Text()
	return text, !s.bad
}

// Skip consumes the next value, whatever it is, and returns its bytes.
func (s *Scanner) Skip() []byte {
	s.space()
	end, ok := skipValue(s.buf, s.pos, s.depth)
	if !ok {
		s.fail()
		return nil
	}
	raw := s.buf[s.pos:end]
	s.pos = end
	return raw
}

// Mark is the place of the next value, for Since.
func (s *Scanner) Mark() int {
	s.space()
	return s.pos
}

// Since returns the input from a mark to the end of the last value consumed.
func (s *Scanner) Since(mark int) []byte { return s.buf[mark:s.pos] }

// space moves to the next byte that is not white space and returns it; 0 at
// the end of the input.
func (s *Scanner) space() byte {
	for s.pos < len(s.buf) {
		c := s.buf[s.pos]
		if c > ' ' || !blank(c) {
			return c
		}
		s.pos++
	}
	return 0
}

// fail makes every further call fail as well.
func (s *Scanner) fail() {
	s.bad = true
	s.pos = len(s.buf)
}

// Text consumes the next value, which must be a string, and returns its text.
func (s *Scanner) Text() []byte {
	if s.space() != '"' {
		s.fail()
		return nil
	}
	start := s.pos + 1
	i, high := scanString(s.buf, start)
	if i >= len(s.buf) || s.buf[i] < ' ' {
		s.fail()
		return nil
	}
	if s.buf[i] == '\\' {
		return s.decode(start, i, high)
	}
	s.pos = i + 1
	text := s.buf[start:i:i]
	if high {
		if text = clip(text); !valid(text) {
			text = repair(text)
		}
	}
	return cutText(text)
}

// decode reads the string whose bytes begin at start and whose first escape
// stands at i. high says whether a byte above ASCII may stand before i.
func (s *Scanner) decode(start, i int, high bool) []byte {
	if cap(s.free) < arenaLow {
		s.free = make([]byte, 0, arenaChunk)
	}
	b, dst := s.buf, append(s.free[:0], s.buf[start:min(i, start+MaxText+utf8.UTFMax)]...)
	for {
		var above uint64
		dst, i, above = copyString(dst, b, i)
		high = high || above != 0
		if i >= len(b) || b[i] < ' ' {
			s.fail()
			return nil
		}
		if b[i] == '"' {
			break
		}
		if len(dst) > MaxText {
			end, ok := skipString(b, i)
			if !ok {
				s.fail()
				return nil
			}
			i = end - 1
			break
		}
		n := 0
		if dst, n = unescape(dst, b[i:]); n == 0 {
			s.fail()
			return nil
		}
		i += n
	}
	s.pos = i + 1
	s.free = dst[len(dst):]
	text := dst[:len(dst):len(dst)]
	if high && !valid(text) {
		text = repair(text)
	}
	return cutText(text)
}

// copyString appends string bytes from i on to dst, escapes of two bytes
// decoded, and returns where it stopped: where scanString would, save at such
// an escape, or anywhere once dst is longer than MaxText. above is not 0 if a
// byte above ASCII was passed, and may not be if one follows closely.
func copyString(dst, b []byte, i int) (_ []byte, end int, above uint64) {
	n, room := len(dst), dst[:cap(dst)]
	for i+8 <= len(b) {
		if n+8 > len(room) {
			if n > MaxText {
				return room[:n], i, above
			}
			room = enlarge(room[:n])
		}
		x := binary.LittleEndian.Uint64(b[i:])
		binary.LittleEndian.PutUint64(room[n:], x)
		above |= x & highs
		m := special(x)
		if m == 0 {
			i, n = i+8, n+8
			continue
		}
		k := bits.TrailingZeros64(m) >> 3
		i, n = i+k, n+k
		if b[i] != '\\' || i+1 >= len(b) || short[b[i+1]] == 0 {
			return room[:n], i, above
		}
		room[n] = short[b[i+1]]
		i, n = i+2, n+1
	}
	end, high := scanString(b, i)
	if high {
		above = highs
	}
	return append(room[:n], b[i:end]...), end, above
}

// enlarge moves a string that outgrew its chunk into one of its own, whose
// rest the next strings take. It returns the chunk.
func enlarge(dst []byte) []byte {
	room := make([]byte, max(arenaChunk, 2*len(dst)))
	copy(room, dst)
	return room
}

// unescape appends the character of the escape at the start of b and returns
// the escape's length, 0 if it is none. A surrogate without its partner is U+FFFD.
func unescape(dst, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return dst, 0
	}
	if c := short[b[1]]; c != 0 {
		return append(dst, c), 2
	}
	if b[1] != 'u' {
		return dst, 0
	}
	r := hex4(b[2:])
	if r < 0 {
		return dst, 0
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(b[8:])); pair != utf8.RuneError {
			return utf8.AppendRune(dst, pair), 12
		}
	}
	return utf8.AppendRune(dst, utf8.RuneError), 6
}

// short are the characters of the escapes of two bytes, 0 for no such escape.
var short = [256]byte{
	'"': '"', '\\': '\\', '/': '/',
	'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// hex4 reads four hexadecimal digits; -1 if b does not begin with them.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// Eight bytes at a time: a byte of the mask has its high bit set where the
// byte of the word is of interest. The lowest bit set is always right; those
// above it may be carries, so only the lowest is used.
const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks quotes, backslashes and control characters. Flipping bit 1
// moves the quote next to the control characters and leaves those where they
// are, so that one comparison finds both.
func special(x uint64) uint64 {
	low := x ^ lows*2
	slash := x ^ lows*'\\'
	return ((low-lows*('"'^2+1))&^low | (slash-lows)&^slash) & highs
}

// scanString returns the index of the first byte at or after i that ends a
// run of plain string bytes: a quote, a backslash or a control character, or
// len(b). high is true if a byte above ASCII stands in the run, and may be
// true if one follows closely.
func scanString(b []byte, i int) (end int, high bool) {
	var above uint64
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		above |= x
		if m := special(x); m != 0 {
			return i + bits.TrailingZeros64(m)>>3, above&highs != 0
		}
	}
	high = above&highs != 0
	for ; i < len(b); i++ {
		c := b[i]
		if c == '"' || c == '\\' || c < ' ' {
			break
		}
		high = high || c >= utf8.RuneSelf
	}
	return i, high
}
