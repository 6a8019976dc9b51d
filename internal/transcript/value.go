package transcript

import (
	"bytes"
	"iter"
	"math"
	"strconv"
)

// A Value is one JSON value as it stands in a record: a part of it, not a copy. It
// is read when it is asked, front to back, and costs no memory of its own beyond
// texts that had to be decoded. A value that is not there is nil; every method may be
// asked of any value and answers for what it is not with nothing, so that wrong types
// in foreign bytes read like missing ones.
type Value []byte

// ParseValue gives the JSON value that data consists of, blanks around it aside. ok is
// false where data is anything but one whole value that a Scanner takes.
func ParseValue(data []byte) (v Value, ok bool) {
	var s Scanner
	s.Reset(data)
	v = s.Skip()
	if !s.Done() {
		return nil, false
	}
	return v, true
}

// Kind is '{', '[', '"', 't', 'f', 'n' or, for a number, '0'; 0 where there is no value.
func (v Value) Kind() byte {
	if len(v) == 0 {
		return 0
	}
	switch c := v[0]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	}
	return '0'
}

// Get is the value behind the keys, each a member of the one before it. Of equal keys
// the last one counts.
func (v Value) Get(keys ...string) Value {
	for _, key := range keys {
		var found Value
		for k, m := range v.Members() {
			if string(k) == key {
				found = m
			}
		}
		v = found
	}
	return v
}

// Members are the members of an object, in the order in which they stand.
func (v Value) Members() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		var s Scanner
		if s.Reset(v); !s.EnterObject() {
			return
		}
		for {
			key, ok := s.NextMember()
			if !ok {
				return
			}
			if m := s.Skip(); m == nil || !yield(key, m) {
				return
			}
		}
	}
}

// Elements are the elements of an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		var s Scanner
		if s.Reset(v); !s.EnterArray() {
			return
		}
		for s.NextElement() {
			if e := s.Skip(); e == nil || !yield(e) {
				return
			}
		}
	}
}

// Text is what a string says, of at most MaxText bytes; nil for anything else. It
// aliases the record where nothing had to be decoded.
func (v Value) Text() []byte {
	s := v.scanner()
	text, _ := s.TryText()
	return text
}

// scanner reads the value. Where it holds an escape it has room for as many decoded bytes
// as the value can give, so that a short text does not take a whole chunk.
func (v Value) scanner() Scanner {
	var s Scanner
	s.Reset(v)
	if bytes.IndexByte(v, '\\') >= 0 {
		s.free = make([]byte, 0, min(max(len(v)+wordSize, arenaLow), arenaChunk))
	}
	return s
}

// wordSize is how many bytes a string is copied at a time.
const wordSize = 8

// String is Text as a string, a copy.
func (v Value) String() string { return string(v.Text()) }

// Bool is true for true.
func (v Value) Bool() bool { return v.Kind() == 't' }

// Number is the value of a number, or of a text that is one; ok is false for anything
// else, and for what no float64 holds.
func (v Value) Number() (n float64, ok bool) {
	text := []byte(v)
	switch v.Kind() {
	case '"':
		text = v.Text()
	case '0':
	default:
		return 0, false
	}
	const longest = 64 // no number of any agent is nearly as long
	if len(text) > longest {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(text), 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// Leaves are the string leaves of the value, as Scanner.Leaves collects them.
func (v Value) Leaves() []Piece {
	s := v.scanner()
	return s.Leaves(nil, false)
}

// Nested is the value that a text holds as JSON, as the arguments of calls often are; the
// value itself where it is no text.
func (v Value) Nested() Value {
	if v.Kind() != '"' {
		return v
	}
	inner, _ := ParseValue(v.Text())
	return inner
}

// FirstText is the first text that says anything among values, nil where none does.
func FirstText(values ...Value) []byte {
	for _, v := range values {
		if t := v.Text(); len(t) > 0 {
			return t
		}
	}
	return nil
}
