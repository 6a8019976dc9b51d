package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/capture"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/store"
)

// returned takes in a transcript of an evicted session. The bytes of its stream
// are gone, and the hashes of the states that its transcripts had are not: a
// transcript that begins with one of them, and has more, gives the bytes back.
// Where it does not give all of them, what is not known to be in the stream is
// appended, and the session stays evicted.
func (w *worker) returned(ctx context.Context, j *job, run *sessionRun, s archive.Session, f io.ReaderAt, stat fsx.Stat) error {
	var mark *archive.Watermark
	if j.known {
		m, err := archive.LoadWatermark(ctx, w.p.reader, j.t.Source)
		if err != nil {
			return store.Wrap("read", w.p.db.Path, err)
		}
		mark = &m
	}
	at, err := w.recognize(ctx, j, s, mark, f, stat)
	if err != nil {
		return err
	}
	more, err := newlineAhead(f, at.len, stat.Size)
	if err != nil {
		return err
	}
	same := j.known && at.state.ID == mark.Revision && at.len == mark.Offset
	switch {
	case !more && same:
		return w.send(&batch{job: j, sess: run, touch: true, mark: &archive.Watermark{
			Source: j.t.Source, Stat: j.recorded(stat), CheckedAt: w.p.started.Unix(),
		}, companions: j.companions, last: true})
	case more && at.holds(s.EvictedLen):
		if err := w.restore(ctx, run, at, f); err != nil {
			return err
		}
		if s, _, err = archive.Load(ctx, w.p.reader, run.key); err != nil {
			return err
		}
		j.companions = w.p.wanted(j.t.Companions) // their bytes come back as well
		return w.file(ctx, j, run, s, f, stat)
	}
	c, err := w.comparison(ctx, j, run, s, []archive.Extent{{Off: s.EvictedLen, Len: s.Tail.StreamLen - s.EvictedLen}})
	if err != nil {
		return err
	}
	defer c.app.Release()
	c.f, c.size, c.at, c.extents, c.sums = f, stat.Size, at.len, at.state.Extents, at.sums
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

// wanted are the companions that the capture mode archives.
func (p *pass) wanted(all []harness.Companion) []harness.Companion {
	return slices.DeleteFunc(slices.Clone(all), func(c harness.Companion) bool { return !capture.Companion(p.o.Config.Capture.Mode, c) })
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
	sum, err := prefixSumOf(r.f, r.from.len)
	if err == nil && !bytes.Equal(sum, r.from.sums.file.Sum(nil)) {
		err = errRacing
	}
	if err != nil {
		return err
	}
	return w.commit(ctx)
}

// prefixSumOf is the SHA-256 of the first n bytes of a file.
func prefixSumOf(f io.ReaderAt, n int64) ([]byte, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, n)); err != nil {
		return nil, err
	}
	return sum.Sum(nil), nil
}
