package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"sort"
)

// An Extent is a range of a session's stream.
type Extent struct{ Off, Len int64 }

// Extents are the ranges of a stream whose bytes, joined, are one state of a
// transcript.
type Extents []Extent

// Add puts a range at the end, joined with the last one where they touch.
func (e Extents) Add(off, n int64) Extents {
	if n == 0 {
		return e
	}
	if k := len(e); k > 0 && e[k-1].Off+e[k-1].Len == off {
		e[k-1].Len += n
		return e
	}
	return append(e, Extent{off, n})
}

// Total is the length of the state.
func (e Extents) Total() int64 {
	var n int64
	for _, x := range e {
		n += x.Len
	}
	return n
}

// End is the stream offset just past the last extent, 0 for none.
func (e Extents) End() int64 {
	if len(e) == 0 {
		return 0
	}
	return e[len(e)-1].Off + e[len(e)-1].Len
}

// Extends reports whether e is old with nothing but bytes added at the end.
func (e Extents) Extends(old Extents) bool {
	if len(old) == 0 {
		return true
	}
	k := len(old) - 1
	return len(e) > k && slices.Equal(e[:k], old[:k]) && e[k].Off == old[k].Off && e[k].Len >= old[k].Len
}

// A Cover answers whether ranges of a stream belong to any of several states.
type Cover []Extent

// NewCover merges states into one set of ranges.
func NewCover(states ...Extents) Cover {
	var all []Extent
	for _, s := range states {
		all = append(all, s...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Off < all[j].Off })
	var out Cover
	for _, x := range all {
		if k := len(out); k > 0 && x.Off <= out[k-1].Off+out[k-1].Len {
			out[k-1].Len = max(out[k-1].Len, x.Off+x.Len-out[k-1].Off)
			continue
		}
		out = append(out, x)
	}
	return out
}

// Has reports whether the whole range lies inside.
func (c Cover) Has(off, n int64) bool {
	i := sort.Search(len(c), func(i int) bool { return c[i].Off+c[i].Len > off })
	return i < len(c) && c[i].Off <= off && off+n <= c[i].Off+c[i].Len
}

// Gaps are the ranges of a stream of n bytes that lie outside.
func (c Cover) Gaps(n int64) []Extent {
	var out []Extent
	at := int64(0)
	for _, x := range c {
		if x.Off > at {
			out = append(out, Extent{at, x.Off - at})
		}
		at = max(at, x.Off+x.Len)
	}
	if at < n {
		out = append(out, Extent{at, n - at})
	}
	return out
}

// LineHash identifies a line's bytes: half of a SHA-256, which nobody can make
// collide and which halves the memory of the index of a large session.
type LineHash [16]byte

func hashLine(p []byte) LineHash {
	sum := sha256.Sum256(p)
	return LineHash(sum[:16])
}

type linePlace struct {
	hash LineHash
	off  int64
	len  int64
}

// A LineIndex knows every line that a session's stream holds. It is made by
// reading the stream once, and lives as long as one changed transcript is
// compared: 32 bytes a line.
type LineIndex struct {
	places []linePlace // sorted by hash, then offset
	added  map[LineHash][]linePlace
}

// IndexLines reads the lines in some ranges of a session's stream; ranges begin
// and end where lines do.
func IndexLines(ctx context.Context, q Querier, no int64, ranges []Extent) (*LineIndex, error) {
	x := &LineIndex{added: map[LineHash][]linePlace{}}
	for _, e := range ranges {
		r := NewLineReader(&rangeReader{ctx: ctx, q: q, no: no, at: e.Off, end: e.Off + e.Len}, e.Off)
		err := eachWholeLine(r, func(off, n int64, hash LineHash) {
			x.places = append(x.places, linePlace{hash, off, n})
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(x.places, comparePlaces)
	return x, nil
}

func comparePlaces(a, b linePlace) int {
	return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.off, b.off))
}

// eachWholeLine calls f for each line that ends with a newline; pieces of long
// lines are put together for their hash.
func eachWholeLine(r *LineReader, f func(off, n int64, hash LineHash)) error {
	var lh LineHasher
	for {
		l, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if off, n, hash, ok := lh.Add(l); ok {
			f(off, n, hash)
		}
	}
}

// A LineHasher puts the pieces of lines together.
type LineHasher struct {
	off, n int64
	sum    interface {
		io.Writer
		Sum([]byte) []byte
	}
}

// Add takes the next piece; ok is true where it ended a line.
func (h *LineHasher) Add(l Line) (off, n int64, hash LineHash, ok bool) {
	if l.Whole() {
		return l.Off, int64(len(l.Bytes)), hashLine(l.Bytes), true
	}
	if l.Start || h.sum == nil {
		h.off, h.n, h.sum = l.Off, 0, sha256.New()
	}
	h.n += int64(len(l.Bytes))
	_, _ = h.sum.Write(l.Bytes)
	if !l.End {
		return 0, 0, hash, false
	}
	return h.off, h.n, LineHash(h.sum.Sum(nil)[:16]), true
}

// Find returns the place of a line in the stream: the one at next if it is
// there (so that long runs stay one extent), else the nearest to next.
func (x *LineIndex) Find(hash LineHash, n, next int64) (off int64, ok bool) {
	best := int64(-1)
	consider := func(p linePlace) {
		if p.len != n {
			return
		}
		if best < 0 || distance(p.off, next) < distance(best, next) {
			best = p.off
		}
	}
	// The places of one hash are sorted by offset: the two around next suffice,
	// however many there are.
	k, _ := slices.BinarySearchFunc(x.places, linePlace{hash: hash, off: next}, comparePlaces)
	for _, i := range []int{k - 1, k} {
		if i >= 0 && i < len(x.places) && x.places[i].hash == hash {
			consider(x.places[i])
		}
	}
	for _, p := range x.added[hash] {
		consider(p)
	}
	return best, best >= 0
}

func distance(a, b int64) int64 {
	if a > b {
		return a - b
	}
	return b - a
}

// Put notes a line that was just appended.
func (x *LineIndex) Put(hash LineHash, off, n int64) {
	// A second copy of one line cannot be asked for: Find returned the first.
	x.added[hash] = append(x.added[hash], linePlace{hash, off, n})
}
