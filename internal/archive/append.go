package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"sync"
)

// An Appender cuts new lines of one session into blocks. The cuts are a pure
// function of the stream: whoever appends the same lines, in one go or in many
// transactions, ends with the same full blocks.
//
// A block ends before the line that would carry it past BlockSize; a line
// longer than that fills blocks of its own and shares only the last.
type Appender struct {
	tail     Tail // as stored
	out      []Block
	full     int    // how many leading blocks of out the rule ended
	from     int64  // number of the first row that the next Append replaces
	replaces bool   // there are such rows
	cur      []byte // the open block
	off      int64  // its place in the stream
	n        int64  // its number
	raw      int64  // bytes of cur that are stored as raw rows
	fresh    int64  // bytes added since the last Cut
}

// NewAppender starts at the session's present end. raw are the bytes of the
// raw rows at the end, which Tail.OpenRaw reads and checks.
func NewAppender(t Tail, raw []byte) *Appender {
	i := t.rawFrom()
	a := &Appender{tail: t, off: t.StreamLen - int64(len(raw)), n: t.Settled + int64(i), raw: int64(len(raw))}
	a.from, a.replaces = a.n, i < len(t.Rows)
	a.cur = append((*openBlocks.Get().(*[]byte))[:0], raw...)
	return a
}

// openBlocks lends the buffers of open blocks: without it every small session
// costs the clearing of a buffer that is larger than the session.
var openBlocks = sync.Pool{New: func() any {
	p := make([]byte, 0, BlockSize)
	return &p
}}

// Release gives the Appender's buffer back. It must not be used afterwards.
func (a *Appender) Release() {
	if a.cur != nil {
		p := a.cur[:0]
		openBlocks.Put(&p)
		a.cur = nil
	}
}

// OpenRaw reads the raw rows at the end of a session and checks them, and the
// recorded checksum of the whole, before new bytes are put on top: an append
// must never certify damage.
func (t Tail) OpenRaw(ctx context.Context, q Querier) ([]byte, error) {
	if !bytes.Equal(t.Sum, t.checksum()) {
		return nil, damaged(t.No, nil, "its checksum does not match its blocks")
	}
	end := t.StreamLen
	if n := len(t.Rows); n > 0 && t.Rows[n-1].Off+t.Rows[n-1].Len != end {
		return nil, damaged(t.No, nil, "its blocks end at %d, its stream at %d", t.Rows[n-1].Off+t.Rows[n-1].Len, end)
	}
	i := t.rawFrom()
	if i == len(t.Rows) {
		return nil, nil
	}
	return readRange(ctx, q, t.No, t.Rows[i].Off, end-t.Rows[i].Off)
}

// StreamLen is the stream's length with everything added so far.
func (a *Appender) StreamLen() int64 { return a.off + int64(len(a.cur)) }

// Fresh is how many bytes were added since the last Cut.
func (a *Appender) Fresh() int64 { return a.fresh }

// AtCut reports whether a line of n bytes would start a new block, so that a
// transaction may end before it.
func (a *Appender) AtCut(n int) bool {
	return len(a.cur) == 0 || len(a.cur)+n > BlockSize
}

// Add puts p at the end of the stream. start says that p begins a line; a line
// may come in several pieces.
func (a *Appender) Add(p []byte, start bool) {
	a.fresh += int64(len(p))
	if start && len(a.cur) > 0 && len(a.cur)+len(p) > BlockSize {
		a.closeBlock(true)
	}
	for len(p) > 0 {
		k := min(len(p), BlockSize-len(a.cur))
		a.cur = append(a.cur, p[:k]...)
		p = p[k:]
		if len(a.cur) == BlockSize {
			a.closeBlock(true)
		}
	}
}

// closeBlock ends the open block. full says that the cutting rule ended it, so
// that no later line can change it.
func (a *Appender) closeBlock(full bool) {
	a.emit(a.n, a.off, a.cur, full || len(a.cur) >= SealSize, full)
	a.off += int64(len(a.cur))
	a.n++
	a.cur = a.cur[:0]
	a.raw = 0
}

func (a *Appender) emit(n, off int64, p []byte, sealed, full bool) {
	sum := sha256.Sum256(p)
	b := Block{BlockInfo: BlockInfo{N: n, Off: off, Len: int64(len(p)), Hash: sum[:], Raw: !sealed}}
	if sealed {
		b.Bytes, b.codec = compress(p), codecZstd
	} else {
		b.Bytes, b.codec = bytes.Clone(p), codecRaw
	}
	a.out = append(a.out, b)
	if full && a.full == len(a.out)-1 {
		a.full++
	}
}

// An Append is the change of one session's blocks.
type Append struct {
	From     int64 // rows numbered from here on are replaced
	Replaces bool  // there are such rows
	Blocks   []Block
	Tail     Tail // as it is afterwards
	// Unsettled says that settling would cut the end of the stream anew.
	Unsettled bool
}

// Cut hands over what was added, ending the open block. It may be called only
// where AtCut says so for the line that comes next.
func (a *Appender) Cut() Append {
	if len(a.cur) > 0 {
		a.closeBlock(true)
	}
	return a.flush()
}

// Finish hands over what was added since the last Cut. quiet says that the
// session is not expected to grow soon: its end is then compressed whatever
// its size.
func (a *Appender) Finish(quiet bool) Append {
	switch {
	case len(a.cur) == 0:
	case quiet:
		a.emit(a.n, a.off, a.cur, true, false)
		a.off += int64(len(a.cur))
	case len(a.cur) < SealSize && len(a.out) == 0 && a.raw > 0:
		// A small append to a live session: one more raw row, nothing rewritten.
		a.from, a.replaces = a.tail.next(), false
		if int64(len(a.cur)) > a.raw {
			a.emit(a.from, a.off+a.raw, a.cur[a.raw:], false, false)
		}
		a.off += int64(len(a.cur))
	default:
		a.closeBlock(false)
	}
	return a.flush()
}

func (a *Appender) flush() Append {
	t := a.tail
	keep := int(a.from - t.Settled)
	t.Rows = append([]BlockInfo(nil), t.Rows[:keep]...)
	for i, b := range a.out {
		// A block that the rule ended is final once all before it are.
		if len(t.Rows) == 0 && i < a.full {
			t.SettledHash = chain(t.SettledHash, b.BlockInfo)
			t.Settled++
			continue
		}
		t.Rows = append(t.Rows, b.BlockInfo)
	}
	t.StreamLen = a.off
	t.Sum = t.checksum()
	up := Append{From: a.from, Replaces: a.replaces, Blocks: a.out, Tail: t}
	up.Unsettled = len(t.Rows) > 1 || len(t.Rows) == 1 && t.Rows[0].Raw
	*a = Appender{tail: t, off: t.StreamLen, from: t.next(), n: t.next(), cur: a.cur[:0]}
	return up
}
