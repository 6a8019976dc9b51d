package transcript

import (
	"bytes"
	"cmp"
	"slices"
)

const (
	// TextRoom bounds the text of a turn that search sees, in bytes: what the
	// contract promises to index. Of one value's leaves no more are collected
	// than reach it, so that there are at most as many of them.
	TextRoom = 256 << 10

	// echoShare is how many bytes of an echo count as one against TextRoom: an
	// echo may repeat what the turn already holds, and only what is behind the
	// repeated part is wanted. It makes the bound for echoes 4 MiB, which holds
	// a file before and after an edit at the full length of a text.
	echoShare = 16

	// MaxLeafDepth bounds the walk for string leaves: the value itself is at
	// depth 0, and what stands at this depth or deeper is ignored.
	MaxLeafDepth = 8

	// maxMembers bounds the members of one object whose leaves are collected:
	// those with the lowest keys count. Texts of eight bytes fill TextRoom with
	// as many, and to hold them takes about a megabyte at each depth.
	maxMembers = 32 << 10

	// maxKeys bounds the bytes of the keys of these members, which may have
	// been decoded. Keys of 128 bytes, usual for paths, reach both bounds.
	maxKeys = 4 << 20
)

// A member is one key of an object whose leaves are collected. While they are
// collected in the order of the input its leaves are dst[from:to]; while they
// are in the order of the keys its value is buf[from:to].
type member struct {
	key      []byte
	from, to int
}

// Leaves consumes the next value, appends its string leaves to dst and
// returns it: arrays in their order, objects in the byte order of their keys,
// the last of equal keys only. Keys, numbers, booleans, nulls and empty
// strings give nothing. echo is the Echo of every piece.
//
// It stops behind the leaf that reaches TextRoom, of which an echo takes one
// byte for each 16 of its own, and ignores what follows the first 32,768
// members of an object or 4 MiB of their keys. The value is checked to its end.
func (s *Scanner) Leaves(dst []Piece, echo bool) []Piece {
	return s.LeavesSeen(dst, echo, nil)
}

// A see is shown one member of an object. text is nil where the member is
// anything but a string that says something; parent is the key of the object
// that the member belongs to, nil for the value itself.
type see = func(parent, key, text []byte)

// LeavesSeen is Leaves, and shows see each member of the value, and of the
// objects that are its members, in the order of the input. A value that exceeds
// a bound is shown again from its start, then whole.
func (s *Scanner) LeavesSeen(dst []Piece, echo bool, see see) []Piece {
	mark, depth, first := s.Mark(), s.depth, len(dst)
	s.room, s.keys, s.over = TextRoom, 0, false
	dst = s.leaves(dst, echo, 0, nil, see)
	if !s.over {
		return dst
	}
	// Which leaves count depends on keys that were not read yet.
	s.pos, s.depth, s.fresh, s.bad = mark, depth, false, false
	value := s.Skip()
	if s.bad {
		return dst[:first]
	}
	ordered := Scanner{buf: value, free: s.free, members: s.members, room: TextRoom}
	dst = ordered.orderedLeaves(dst[:first], echo, 0, nil, see)
	s.free, s.members = ordered.free, ordered.members[:0]
	return dst
}

// leaves collects in the order of the input and reads each byte once, as
// suits all but monstrous values. At a bound it sets over and fails.
func (s *Scanner) leaves(dst []Piece, echo bool, depth int, parent []byte, see see) []Piece {
	kind := s.Kind()
	switch {
	case kind == '"' && s.room <= 0:
		s.exceed()
	case kind == '"':
		dst = s.leaf(dst, echo)
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

// leaf appends the next value, a string, and takes its room.
func (s *Scanner) leaf(dst []Piece, echo bool) []Piece {
	text := s.Text()
	if len(text) == 0 {
		return dst
	}
	if echo {
		s.room -= len(text)/echoShare + 1
	} else {
		s.room -= len(text)
	}
	return append(dst, Piece{Text: text, Echo: echo})
}

func (s *Scanner) exceed() {
	s.over = true
	s.fail()
}

func (s *Scanner) objectLeaves(dst []Piece, echo bool, depth int, parent []byte, see see) []Piece {
	base, first, keys := len(s.members), len(dst), s.keys
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
		n := len(s.members)
		if sorted && n > base {
			sorted = bytes.Compare(s.members[n-1].key, key) < 0
		}
		if s.keys += len(key); n-base >= maxMembers || s.keys > maxKeys {
			s.exceed()
			break
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
	if !sorted && !s.over {
		dst = s.reorder(dst, first, s.members[base:])
	}
	clear(s.members[base:])
	s.members, s.keys = s.members[:base], keys
	return dst
}

// reorder puts the leaves of an object, which stand in dst from first on,
// into the order of its keys, and drops those of a key that comes again.
func (s *Scanner) reorder(dst []Piece, first int, members []member) []Piece {
	s.order = append(s.order[:0], dst[first:]...)
	dst = dst[:first]
	for _, m := range byKey(members) {
		dst = append(dst, s.order[m.from-first:m.to-first]...)
	}
	s.order = Recycle(s.order)
	return dst
}

// byKey sorts members by their keys and drops all but the last of equal ones.
func byKey(members []member) []member {
	slices.SortFunc(members, func(a, b member) int {
		if c := bytes.Compare(a.key, b.key); c != 0 {
			return c
		}
		return cmp.Or(a.from-b.from, a.to-b.to) // the order of the input
	})
	n := 0
	for i, m := range members {
		if i+1 < len(members) && bytes.Equal(m.key, members[i+1].key) {
			continue
		}
		members[n] = m
		n++
	}
	clear(members[n:])
	return members[:n]
}

// orderedLeaves collects the leaves of a value that is known to be valid in
// their final order, until there is no room: then the scanner stands anywhere.
// A byte is read once for each object around it.
func (s *Scanner) orderedLeaves(dst []Piece, echo bool, depth int, parent []byte, see see) []Piece {
	kind := s.Kind()
	switch {
	case kind == '"':
		dst = s.leaf(dst, echo)
	case depth+1 >= MaxLeafDepth:
		s.Skip()
	case kind == '[' && s.EnterArray():
		for s.room > 0 && s.NextElement() {
			dst = s.orderedLeaves(dst, echo, depth+1, nil, nil)
		}
	case kind == '{' && s.EnterObject():
		base := len(s.members)
		s.findMembers(parent, see)
		end := s.pos
		for i := base; i < len(s.members) && s.room > 0; i++ {
			s.pos = s.members[i].from
			dst = s.orderedLeaves(dst, echo, depth+1, nil, nil)
		}
		clear(s.members[base:])
		s.members, s.pos = s.members[:base], end
	default:
		s.Skip()
	}
	return dst
}

// findMembers reads the object that was entered to its end and appends the
// members that count to s.members, in the order of their keys.
func (s *Scanner) findMembers(parent []byte, see see) {
	base, keys := len(s.members), 0
	var last []byte // the highest key that counts, nil while all do
	for {
		free := s.free
		key, ok := s.NextMember()
		if !ok {
			break
		}
		from := s.Mark()
		if see != nil {
			s.show(parent, key, see)
			free = s.free
		} else {
			s.Skip()
		}
		if last != nil && bytes.Compare(key, last) > 0 {
			s.free = free // the key's own memory serves the next one
			continue
		}
		s.members = append(s.members, member{key, from, s.pos})
		// Twice what counts, so that the work to find it is rare.
		if keys += len(key); len(s.members)-base >= 2*maxMembers || keys >= 2*maxKeys {
			last, keys = s.keepLowest(base, last)
		}
	}
	s.keepLowest(base, last)
}

// show reads the next value, a member, and shows it; a member of the value
// itself with its own members.
func (s *Scanner) show(parent, key []byte, see see) {
	switch kind := s.Kind(); {
	case kind == '"':
		text := s.Text()
		if len(text) == 0 {
			text = nil
		}
		see(parent, key, text)
	case kind == '{' && parent == nil:
		see(parent, key, nil)
		if !s.EnterObject() {
			return
		}
		for {
			below, ok := s.NextMember()
			if !ok {
				return
			}
			s.show(key, below, see)
		}
	default:
		see(parent, key, nil)
		s.Skip()
	}
}

// keepLowest sorts the members from base on and drops those that exceed the
// bounds. It returns the highest key left, or last if it dropped nothing, and
// the bytes of the keys left.
func (s *Scanner) keepLowest(base int, last []byte) (_ []byte, keys int) {
	members := byKey(s.members[base:])
	n := 0
	for n < len(members) && n < maxMembers && keys+len(members[n].key) <= maxKeys {
		keys += len(members[n].key)
		n++
	}
	if n < len(members) {
		last = members[n-1].key
		clear(members[n:])
	}
	s.members = s.members[:base+n]
	return last, keys
}
