package transcript

import (
	"bytes"
	"slices"
)

// MaxLeafDepth bounds the walk for string leaves: the value itself is at
// depth 0, and what stands at this depth or deeper is ignored.
const MaxLeafDepth = 8

// A member is one key of an object whose leaves were collected: its leaves
// are dst[from:to].
type member struct {
	key      []byte
	from, to int
}

// Leaves consumes the next value, appends its string leaves to dst and
// returns it: arrays in their order, objects in the byte order of their keys,
// the last of equal keys only. Keys, numbers, booleans, nulls and empty
// strings give nothing. echo is the Echo of every piece.
func (s *Scanner) Leaves(dst []Piece, echo bool) []Piece {
	return s.leaves(dst, echo, 0, nil, nil)
}

// LeavesSeen is Leaves, and shows see each member of the value, and of the
// objects that are its members, in the order of the input. text is nil where
// the member is anything but a string that says something; parent is the key
// of the object that the member belongs to, nil for the value itself.
func (s *Scanner) LeavesSeen(dst []Piece, echo bool, see func(parent, key, text []byte)) []Piece {
	return s.leaves(dst, echo, 0, nil, see)
}

func (s *Scanner) leaves(dst []Piece, echo bool, depth int, parent []byte, see func(parent, key, text []byte)) []Piece {
	kind := s.Kind()
	switch {
	case kind == '"':
		if text := s.Text(); len(text) > 0 {
			dst = append(dst, Piece{Text: text, Echo: echo})
		}
	case depth+1 >= MaxLeafDepth:
		s.Skip()
	case kind == '[' && s.EnterArray():
		for s.NextElement() {
			dst = s.leaves(dst, echo, depth+1, nil, nil)
		}
	case kind == '{' && s.EnterObject():
		dst = s.objectLeaves(dst, echo, depth, parent, see)
	default:
		s.Skip()
	}
	return dst
}

func (s *Scanner) objectLeaves(dst []Piece, echo bool, depth int, parent []byte, see func(parent, key, text []byte)) []Piece {
	base, first := len(s.members), len(dst)
	below := see
	if depth > 0 {
		below = nil
	}
	sorted := true
	for {
		key, ok := s.NextMember()
		if !ok {
			break
		}
		if n := len(s.members); sorted && n > base {
			sorted = bytes.Compare(s.members[n-1].key, key) < 0
		}
		from, direct := len(dst), s.Kind() == '"'
		if see != nil && !direct {
			see(parent, key, nil)
		}
		dst = s.leaves(dst, echo, depth+1, key, below)
		if see != nil && direct {
			var text []byte
			if len(dst) > from {
				text = dst[from].Text
			}
			see(parent, key, text)
		}
		s.members = append(s.members, member{key, from, len(dst)})
	}
	if !sorted {
		dst = s.reorder(dst, first, s.members[base:])
	}
	clear(s.members[base:])
	s.members = s.members[:base]
	return dst
}

// reorder puts the leaves of an object, which stand in dst from first on,
// into the order of its keys, and drops those of a key that comes again.
func (s *Scanner) reorder(dst []Piece, first int, members []member) []Piece {
	slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	s.order = append(s.order[:0], dst[first:]...)
	dst = dst[:first]
	for i, m := range members {
		if i+1 < len(members) && bytes.Equal(m.key, members[i+1].key) {
			continue
		}
		dst = append(dst, s.order[m.from-first:m.to-first]...)
	}
	s.order = Recycle(s.order)
	return dst
}
