package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/store"
)

// returned takes in a transcript of an evicted session. The bytes of its stream
// are gone, and the hashes of the states that its transcripts had are not: a
// transcript that begins with one of them, and has more, gives the bytes back.
// Where it does not give all of them, what is not known to be in the stream is
// appended, and the session stays evicted.
func (w *worker) returned(ctx context.Context, j *job, run *sessionRun, s archive.Session, f *os.File, stat fsx.Stat) error {
	var mark archive.Watermark
	var err error
	if j.known {
		if mark, err = archive.LoadWatermark(ctx, w.p.reader, j.t.Source); err != nil {
			return store.Wrap("read", w.p.db.Path, err)
		}
	}
	at, err := w.recognize(ctx, s, mark.Revision, f, stat)
	if err != nil {
		return err
	}
	more, err := newlineAhead(f, at.state.Len, stat.Size)
	if err != nil {
		return err
	}
	same := j.known && at.state.ID == mark.Revision && at.state.Len == mark.Offset
	switch {
	case !more && same:
		return w.send(&batch{job: j, sess: run, touch: true, mark: &archive.Watermark{
			Source: j.t.Source, Stat: stat, CheckedAt: w.p.started.Unix(),
		}, companions: j.companions, last: true})
	case more && at.holds(s.EvictedLen):
		if err := w.restore(ctx, run, at, f); err != nil {
			return err
		}
		if s, _, err = archive.Load(ctx, w.p.reader, run.key); err != nil {
			return err
		}
		j.companions = j.t.Companions // their bytes come back as well
		return w.file(ctx, j, run, s, f, stat)
	}
	c, err := w.comparison(ctx, j, run, s, []archive.Extent{{Off: s.EvictedLen, Len: s.Tail.StreamLen - s.EvictedLen}})
	if err != nil {
		return err
	}
	defer c.app.Release()
	c.f, c.size, c.at, c.extents, c.sum = f, stat.Size, at.state.Len, at.state.Extents, at.sum
	b, next, rev, err := c.run(ctx, stat)
	if err != nil {
		return err
	}
	switch {
	case same:
		next.Revision, rev.ID, b.setExtents = mark.Revision, mark.Revision, true
	case j.known:
		rev.Cause = archive.CauseChanged
	default:
		rev.Cause = archive.CauseCopy
	}
	return c.finish(b)
}

// diverged keeps the mark of a session whose transcript could not be archived as
// it became: set for an evicted one whose rows do not stand an append, cleared by
// the first pass that takes the transcript in. err is what taking it in came to.
func (w *worker) diverged(run *sessionRun, s archive.Session, err error) error {
	var damage *archive.DamageError
	set := s.Evicted && errors.As(err, &damage)
	if !run.exists || set == s.Diverged || !set && err != nil {
		return err
	}
	if e := w.send(&batch{sess: run, diverged: &set}); e != nil {
		return e
	}
	return err
}

// A recognized is the longest state of a session that a transcript begins with;
// its length is 0 for none.
type recognized struct {
	state archive.Revision
	sum   hash.Hash // of the state
}

// recognize reads as much of a transcript as the session's longest state has. Of
// equal states that of own counts, the revision of the transcript's watermark.
func (w *worker) recognize(ctx context.Context, s archive.Session, own int64, f *os.File, stat fsx.Stat) (recognized, error) {
	at := recognized{sum: sha256.New()}
	states, err := archive.Revisions(ctx, w.p.reader, s.No)
	if err != nil {
		return at, store.Wrap("read", w.p.db.Path, err)
	}
	slices.SortStableFunc(states, func(a, b archive.Revision) int { return cmp.Compare(a.Len, b.Len) })
	sum, read := sha256.New(), int64(0)
	for _, state := range states {
		if state.Len > stat.Size {
			break
		}
		if err := ctx.Err(); err != nil {
			return at, err
		}
		n, err := io.Copy(sum, io.NewSectionReader(f, read, state.Len-read))
		if err != nil {
			return at, err
		}
		if read += n; read < state.Len {
			return at, errRacing
		}
		if !bytes.Equal(sum.Sum(nil), state.Hash) || at.state.Len == state.Len && at.state.ID == own {
			continue
		}
		at.state = state
		if at.sum, err = archive.RestoreHash(archive.SaveHash(sum)); err != nil {
			return at, err
		}
	}
	return at, nil
}

// holds reports whether the state has the first n bytes of the stream.
func (r recognized) holds(n int64) bool {
	return n == 0 || archive.NewCover(r.state.Extents).Has(0, n)
}

// stream reads the first n bytes of the session's stream, which the state holds,
// out of the transcript.
func (r recognized) stream(f io.ReaderAt, n int64) io.Reader {
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

// A restoration is what the writer does to give an evicted session its bytes
// back, in a transaction of its own: a pass that dies meanwhile, or a transcript
// that turns out to have changed, leaves the session as it was.
type restoration struct {
	key  string
	from recognized
	f    io.ReaderAt
	done chan error
}

// restore has the writer give the session its bytes back and waits for it.
func (w *worker) restore(ctx context.Context, run *sessionRun, from recognized, f io.ReaderAt) error {
	r := &restoration{key: run.key, from: from, f: f, done: make(chan error, 1)}
	if err := w.send(&batch{restore: r}); err != nil {
		return err
	}
	err := <-r.done
	clear(w.inFlight) // the writer has committed everything
	if err != nil {
		return err
	}
	return ctx.Err()
}

// restore runs on the writer. Its own error is one of the store, which ends the
// pass; whatever else went wrong is the transcript's.
func (w *writer) restore(ctx context.Context, r *restoration) error {
	if err := w.commit(ctx); err != nil {
		r.done <- errAbandoned
		return err
	}
	err := w.restored(ctx, r)
	if err != nil {
		w.w.Rollback()
	}
	r.done <- err
	var se *store.Error
	if errors.As(err, &se) {
		return err
	}
	return nil
}

func (w *writer) restored(ctx context.Context, r *restoration) error {
	if err := w.w.Begin(ctx); err != nil {
		return err
	}
	s, ok, err := archive.Load(ctx, w.w, r.key)
	if err != nil || !ok {
		return err
	}
	if err := archive.Restore(ctx, w.w, r.key, r.from.stream(r.f, s.EvictedLen)); err != nil {
		return fmt.Errorf("restore session %s: %w", r.key, err)
	}
	// What was read was the state only if it still stands there.
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(r.f, 0, r.from.state.Len)); err != nil {
		return err
	}
	if r.from.state.Len > 0 && !bytes.Equal(sum.Sum(nil), r.from.state.Hash) {
		return errRacing
	}
	return w.commit(ctx)
}
