package derive

// A table is a set of 64-bit hashes, each with the number of those entered
// before it. Two different texts share a hash once in 2^64 pairs, so a text of
// 256 KiB meets one by chance in 10^10 turns; what it would lose is a repeated
// line or a part of an identifier. It is emptied in constant time.
type table struct {
	slots []slot // a power of two, or none
	round uint32 // slots of another round are empty
	n     int32
}

type slot struct {
	hash  uint64
	round uint32
	k     int32
}

// firstSlots is the size of a table that holds anything: enough for the lines
// or parts of a usual turn.
const firstSlots = 256

func (t *table) reset() {
	t.n = 0
	if t.round++; t.round == 0 { // 2^32 turns later
		clear(t.slots)
		t.round = 1
	}
}

// add enters h and reports whether it is new.
func (t *table) add(h uint64) bool {
	if int(t.n)*2 >= len(t.slots) {
		t.grow()
	}
	s := t.slot(h)
	if s.round == t.round {
		return false
	}
	*s = slot{h, t.round, t.n}
	t.n++
	return true
}

// find returns the number of h, -1 if it was not entered.
func (t *table) find(h uint64) int {
	if t.n == 0 {
		return -1
	}
	if s := t.slot(h); s.round == t.round {
		return int(s.k)
	}
	return -1
}

// slot returns the slot of h, or the empty one where it belongs.
func (t *table) slot(h uint64) *slot {
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.round != t.round || s.hash == h {
			return s
		}
	}
}

func (t *table) grow() {
	old, round := t.slots, t.round
	t.slots = make([]slot, max(firstSlots, 2*len(old)))
	t.round = max(round, 1)
	for _, s := range old {
		if s.round == round {
			s.round = t.round
			*t.slot(s.hash) = s
		}
	}
}
