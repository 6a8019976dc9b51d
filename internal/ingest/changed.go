package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/store"
)

// changed takes in a file that is not what its watermark says: cut, rewound,
// replaced or rewritten, or a second file of a session (mark is nil). Lines
// that the stream holds are pointed at, the others appended, and the whole is
// recorded as a revision.
func (w *worker) changed(ctx context.Context, j *job, run *sessionRun, s archive.Session, f io.ReaderAt, stat fsx.Stat, mark *archive.Watermark) error {
	all := []archive.Extent{{Off: 0, Len: s.Tail.StreamLen}}
	c, err := w.comparison(ctx, j, run, s, all)
	if err != nil {
		return err
	}
	c.f, c.size = f, stat.Size
	b, next, rev, err := c.run(ctx, stat)
	if err != nil {
		return err
	}
	rev.Cause = archive.CauseCopy
	if mark != nil {
		rev.Cause = archive.CauseChanged
		old, err := archive.LoadRevision(ctx, w.p.reader, mark.Revision)
		if err != nil {
			return store.Wrap("read", w.p.db.Path, err)
		}
		if bytes.Equal(old.Hash, rev.Hash) && slices.Equal(old.Extents, rev.Extents) {
			next.Revision, b.revision = mark.Revision, nil
		}
	}
	return c.finish(b)
}

// regrown takes in what was appended to a file of a session that holds lines
// which the file's newest state lacks: a rewound part, another copy. A line
// that comes back is pointed at, not archived again.
func (w *worker) regrown(ctx context.Context, j *job, run *sessionRun, s archive.Session, f io.ReaderAt, stat fsx.Stat, mark archive.Watermark, old archive.Revision) error {
	c, err := w.comparison(ctx, j, run, s, archive.NewCover(old.Extents).Gaps(s.Tail.StreamLen))
	if err != nil {
		return err
	}
	if c.sums, err = newSums(mark, old); err != nil {
		return err
	}
	c.f, c.size, c.at, c.extents = f, stat.Size, mark.Offset, old.Extents
	b, next, rev, err := c.run(ctx, stat)
	if err != nil {
		return err
	}
	next.Revision, next.CheckedAt = mark.Revision, mark.CheckedAt
	rev.ID, b.setExtents = mark.Revision, true
	return c.finish(b)
}

func (w *worker) comparison(ctx context.Context, j *job, run *sessionRun, s archive.Session, ranges []archive.Extent) (*comparison, error) {
	in, err := w.intake(ctx, j, run, s)
	if err != nil {
		return nil, err
	}
	lines, err := archive.IndexLines(ctx, w.p.reader, s.No, ranges)
	if err != nil {
		return nil, err
	}
	return &comparison{intake: in, index: lines}, nil
}

// A comparison walks a changed file and finds its lines in the stream.
type comparison struct {
	*intake
	index   *archive.LineIndex
	extents archive.Extents
	f       io.ReaderAt
	size    int64
	at      int64 // bytes of the file that were walked
}

// run walks the file to its last newline and returns the batch that is to
// carry its new state.
func (c *comparison) run(ctx context.Context, stat fsx.Stat) (*batch, *archive.Watermark, *archive.Revision, error) {
	w := c.w
	lines := w.wholeLines(ctx, c.f, c.at, c.size)
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.line(w, lines, l)
		}
		if err != nil {
			return nil, nil, nil, err
		}
	}
	c.remark(c.at < c.size)
	b := c.batch(c.app.Finish(w.quiet(stat)))
	b.mark = &archive.Watermark{
		Source: c.j.t.Source, Offset: c.at, Stat: c.j.recorded(stat), CheckedAt: w.p.started.Unix(),
	}
	c.sums.save(b.mark)
	var err error
	if b.mark.TailHash, err = tailHash(c.f, c.at); err != nil {
		return nil, nil, nil, err
	}
	b.revision = &archive.Revision{Source: c.j.t.Source, Len: c.sums.n, Hash: c.sums.stateSum(), Extents: c.extents}
	return b, b.mark, b.revision, nil
}

// line takes one line, all its pieces included.
func (c *comparison) line(w *worker, lines *wholeLines, l archive.Line) error {
	if l.Whole() {
		return c.whole(w, l)
	}
	return c.pieces(w, lines, l)
}

// whole takes a line that came in one piece, in the first of its forms that the
// stream holds; in none, it is archived as the capture mode makes it.
func (c *comparison) whole(w *worker, l archive.Line) error {
	var form []byte
	var hash archive.LineHash
	off, held := int64(0), false
	for _, form = range c.cut.Forms(l.Bytes) {
		var h archive.LineHasher
		_, _, hash, _ = h.Add(archive.Line{Bytes: form, Start: true, End: true})
		if off, held = c.index.Find(hash, int64(len(form)), c.extents.End()); held {
			break
		}
	}
	if !held {
		var err error
		if off, err = c.fresh(w, hash, int64(len(form)), len(form)); err != nil {
			return err
		}
		if err := c.add(archive.Line{Bytes: form, Off: l.Off, Start: true, End: true}); err != nil {
			return err
		}
	}
	c.extents = c.extents.Add(off, int64(len(form)))
	return c.walked(l.Bytes, form)
}

// fresh makes room for a line that the stream does not hold, and says where it
// is going to stand. first is the length of its first piece.
func (c *comparison) fresh(w *worker, hash archive.LineHash, n int64, first int) (int64, error) {
	if c.due(first) {
		if err := w.send(c.batch(c.app.Cut())); err != nil {
			return 0, err
		}
	}
	off := c.app.StreamLen()
	c.index.Put(hash, off, n)
	return off, nil
}

// walked counts what was taken of the file, and what stands for it.
func (c *comparison) walked(file, state []byte) error {
	c.read += int64(len(file))
	c.at += int64(len(file))
	return c.sums.add(file, state)
}

// pieces takes a line that is too long to be held whole.
func (c *comparison) pieces(w *worker, lines *wholeLines, l archive.Line) error {
	n, hash, err := c.identify(l)
	if err != nil {
		return err
	}
	off, held := c.index.Find(hash, n, c.extents.End())
	if !held {
		if off, err = c.fresh(w, hash, n, len(l.Bytes)); err != nil {
			return err
		}
	}
	c.extents = c.extents.Add(off, n)
	var taken archive.LineHasher
	for {
		if _, _, got, ended := taken.Add(l); ended && got != hash {
			return errRacing
		}
		if !held {
			if err := c.add(l); err != nil {
				return err
			}
		}
		if err := c.walked(l.Bytes, l.Bytes); err != nil {
			return err
		}
		if l.End {
			return nil
		}
		if l, err = lines.next(); err != nil {
			return unexpected(err)
		}
	}
}

// identify hashes a long line. It is read twice: it must be known before its
// first piece is taken or left.
func (c *comparison) identify(l archive.Line) (int64, archive.LineHash, error) {
	ahead := archive.NewLineReader(io.NewSectionReader(c.f, l.Off, c.size-l.Off), l.Off)
	var h archive.LineHasher
	for {
		piece, err := ahead.Next()
		if err != nil {
			return 0, archive.LineHash{}, unexpected(err)
		}
		if _, n, hash, ok := h.Add(piece); ok {
			return n, hash, nil
		}
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return errRacing
	}
	return err
}

// rows takes in the present state of a transcript whose records have ids: a
// document or database rows.
func (w *worker) rows(ctx context.Context, j *job, run *sessionRun, s archive.Session) error {
	in, err := w.intake(ctx, j, run, s)
	if err != nil {
		return err
	}
	r := rowIntake{intake: in, held: map[string]index.Held{}}
	var mark archive.Watermark
	var old archive.Revision
	if run.exists {
		if r.held, err = index.HeldLines(ctx, w.p.reader, s.No); err != nil {
			return store.Wrap("read", w.p.db.Path, err)
		}
	}
	if j.known {
		if mark, err = archive.LoadWatermark(ctx, w.p.reader, j.t.Source); err == nil {
			old, err = archive.LoadRevision(ctx, w.p.reader, mark.Revision)
		}
		if err != nil {
			return store.Wrap("read", w.p.db.Path, err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a query without an end ends when nobody waits for it any more
	for rec, err := range patiently(w.p.patience(), j.h.Tail(ctx, j.t)) {
		if err != nil {
			return err
		}
		if err := r.take(w, rec.ID, rec.Bytes); err != nil {
			return err
		}
	}
	if len(r.extents) == 0 && !run.exists {
		return w.companionsOnly(j, run) // nothing yet: no row anywhere
	}
	return r.done(w, j, mark, old)
}

type rowIntake struct {
	*intake
	held    map[string]index.Held
	news    []heldLine
	extents archive.Extents
	at      int64
}

func (r *rowIntake) take(w *worker, id string, line []byte) error {
	h, ok := r.held[id]
	var form, hash []byte
	for _, form = range r.cut.Forms(line) {
		hash = rowHash(form)
		if ok && bytes.Equal(h.Hash, hash) {
			return r.walked(h, line, form)
		}
	}
	if r.due(len(form)) {
		if err := r.flush(w); err != nil {
			return err
		}
	}
	h = index.Held{Hash: hash, Off: r.app.StreamLen(), Len: int64(len(form))}
	// What is too long to be a record is none here either: deriving it again reads lines.
	if err := r.add(archive.Line{Bytes: form, Start: true, End: len(form) <= archive.MaxLine}); err != nil {
		return err
	}
	r.held[id] = h
	r.news = append(r.news, heldLine{id, h})
	return r.walked(h, line, form)
}

// rowHash tells a row from its other states. As for lines of files, half of the sum suffices.
func rowHash(form []byte) []byte {
	sum := sha256.Sum256(form)
	return sum[:len(sum)/2]
}

// walked counts one record, and the line that stands for it.
func (r *rowIntake) walked(h index.Held, line, form []byte) error {
	r.extents = r.extents.Add(h.Off, h.Len)
	r.read += int64(len(line))
	r.at += int64(len(line))
	return r.sums.add(line, form)
}

func (r *rowIntake) flush(w *worker) error {
	b := r.batch(r.app.Cut())
	b.held, r.news = r.news, nil
	return w.send(b)
}

func (r *rowIntake) done(w *worker, j *job, mark archive.Watermark, old archive.Revision) error {
	b := r.batch(r.app.Finish(true))
	b.held = r.news
	next := archive.Watermark{
		Source: j.t.Source, Offset: r.at, Stat: j.t.Stat, Stamp: j.t.Stamp, CheckedAt: w.p.started.Unix(),
		TailHash: []byte{}, SHAState: []byte{}, Revision: mark.Revision,
	}
	b.mark = &next
	rev := archive.Revision{Source: j.t.Source, Len: r.sums.n, Hash: r.sums.stateSum(), Extents: r.extents}
	switch {
	case !j.known && !r.run.exists:
		rev.Cause = archive.CauseFirst
		b.revision = &rev
	case !j.known:
		rev.Cause = archive.CauseCopy
		b.revision = &rev
	case bytes.Equal(old.Hash, rev.Hash) && slices.Equal(old.Extents, rev.Extents):
	case r.extents.Extends(old.Extents):
		rev.ID = mark.Revision
		b.revision, b.setExtents = &rev, true
	default:
		rev.Cause = archive.CauseChanged
		b.revision = &rev
	}
	return r.finish(b)
}
