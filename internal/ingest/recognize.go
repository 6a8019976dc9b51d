package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/capture"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/store"
)

// A recognized is the longest state of an evicted session that a transcript begins
// with; all its lengths are 0 for none.
type recognized struct {
	state archive.Revision
	len   int64 // of the file's part that was archived as the state
	sums  sums  // at its end
	// cut makes the state's lines of the file's. It is nil where nobody knows how
	// they were made: the file is the one that was read, under modes that changed.
	cut *capture.Cutter
}

// recognize reads as much of a transcript as the session's longest state has. Of
// equal states that of the transcript's own watermark counts, which is nil for one
// that is not known.
func (w *worker) recognize(ctx context.Context, j *job, s archive.Session, own *archive.Watermark, f io.ReaderAt, stat fsx.Stat) (recognized, error) {
	states, err := archive.Revisions(ctx, w.p.reader, s.No)
	if err != nil {
		return recognized{}, store.Wrap("read", w.p.db.Path, err)
	}
	modes := []config.CaptureMode{config.CaptureFull}
	if was := config.CaptureMode(s.Meta.CaptureMode); was == config.CaptureLean || was == config.CaptureMinimal {
		modes = append(modes, config.CaptureLean, config.CaptureMinimal)
	}
	best := recognized{sums: freshSums()}
	for _, mode := range modes {
		r := recognizer{w: w, ctx: ctx, states: byLength(states), cut: capture.New(mode, j.h, j.t.Kind), best: best}
		if own != nil {
			r.own = own.Revision
		}
		if err := r.read(f, stat.Size); err != nil {
			return best, err
		}
		best = r.best
	}
	if own == nil || best.len >= own.Offset || len(own.StateSHA) == 0 {
		return best, nil
	}
	return w.sameFile(states, own, best, f, stat)
}

// sameFile recognizes a file that begins as it was read, and that was archived
// under modes of which no single one makes the state.
func (w *worker) sameFile(states []archive.Revision, own *archive.Watermark, best recognized, f io.ReaderAt, stat fsx.Stat) (recognized, error) {
	i := slices.IndexFunc(states, func(r archive.Revision) bool { return r.ID == own.Revision })
	if i < 0 || own.Offset > stat.Size {
		return best, nil
	}
	whole, err := fileSum(own)
	if err != nil {
		return best, err
	}
	sum, err := prefixSumOf(f, own.Offset)
	if err != nil || !bytes.Equal(sum, whole) {
		return best, err
	}
	both, err := newSums(*own, states[i])
	return recognized{state: states[i], len: own.Offset, sums: both}, err
}

// byLength gives the states of each length, in the order of their ids.
func byLength(states []archive.Revision) map[int64][]archive.Revision {
	out := map[int64][]archive.Revision{}
	for _, s := range states {
		if s.Len > 0 {
			out[s.Len] = append(out[s.Len], s)
		}
	}
	return out
}

// A recognizer reads a transcript under one capture mode.
type recognizer struct {
	w      *worker
	ctx    context.Context
	states map[int64][]archive.Revision
	own    int64
	cut    *capture.Cutter
	best   recognized
}

func (r *recognizer) read(f io.ReaderAt, size int64) error {
	var longest int64
	for n := range r.states {
		longest = max(longest, n)
	}
	lines := r.w.wholeLines(r.ctx, f, 0, size)
	defer lines.r.Release()
	at := freshSums()
	read := int64(0)
	for at.n < longest {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		kept := l.Bytes
		if l.Whole() {
			kept = r.cut.Line(l.Bytes)
		}
		if err := at.add(l.Bytes, kept); err != nil {
			return err
		}
		read += int64(len(l.Bytes))
		if err := r.compare(at, read); err != nil {
			return err
		}
	}
	return nil
}

func (r *recognizer) compare(at sums, read int64) error {
	for _, state := range r.states[at.n] {
		better := read > r.best.len || read == r.best.len && r.best.state.ID != r.own
		if !better || !bytes.Equal(at.stateSum(), state.Hash) {
			continue
		}
		clone, err := at.clone()
		if err != nil {
			return err
		}
		r.best = recognized{state: state, len: read, sums: clone, cut: r.cut}
	}
	return nil
}

// clone is a copy that goes on by itself.
func (s *sums) clone() (sums, error) {
	var m archive.Watermark
	s.save(&m)
	return newSums(m, archive.Revision{Len: s.n})
}

// holds reports whether the state has the first n bytes of the stream, and they
// can be made of the file.
func (r recognized) holds(n int64) bool {
	switch {
	case n == 0:
		return true
	case r.cut == nil:
		return false
	case r.sums.state != nil: // the file's lines are not the state's: they are read in order
		return r.state.Extents[0].Off == 0 && r.state.Extents[0].Len >= n
	}
	return archive.NewCover(r.state.Extents).Has(0, n)
}

// stream reads the first n bytes of the session's stream, which the state holds,
// out of the transcript.
func (r recognized) stream(f io.ReaderAt, n int64) io.Reader {
	if r.sums.state != nil {
		return &cutReader{lines: archive.NewLineReader(io.NewSectionReader(f, 0, r.len), 0), cut: r.cut}
	}
	type piece struct{ off, end, at int64 } // of stream, and where it stands in the file
	var pieces []piece
	at := int64(0)
	for _, e := range r.state.Extents {
		pieces = append(pieces, piece{e.Off, e.Off + e.Len, at})
		at += e.Len
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.off, b.off) })
	var parts []io.Reader
	done := int64(0)
	for _, p := range pieces {
		if end := min(p.end, n); end > done && p.off <= done {
			parts = append(parts, io.NewSectionReader(f, p.at+done-p.off, end-done))
			done = end
		}
	}
	return io.MultiReader(parts...)
}

// A cutReader reads the lines of a transcript as a capture mode makes them.
type cutReader struct {
	lines *archive.LineReader
	cut   *capture.Cutter
	rest  []byte
}

func (c *cutReader) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		l, err := c.lines.Next()
		if err != nil {
			return 0, err
		}
		if c.rest = l.Bytes; l.Whole() {
			c.rest = c.cut.Line(l.Bytes)
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
