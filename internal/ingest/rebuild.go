package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/store"
)

const (
	// wholeSession is the length of stream up to which a session is replaced in
	// one transaction, derived whole before the first of its rows is touched.
	// A longer one is read twice: its rows must not be gone when damage is met.
	wholeSession = 32 << 20
	// rebuildPiece is how much of a longer one is held at a time.
	rebuildPiece = 8 << 20
	// rebuildTx is how much stream shares a transaction.
	rebuildTx = 32 << 20
	// rebuildMerge is how much stream is derived again between two merges of the
	// search index: some fifty segments, far below what the index stands.
	rebuildMerge = 256 << 20
)

// A rebuilder derives sessions again. One goroutine reads and derives, the
// other writes.
type rebuilder struct {
	db       *store.DB
	reader   *store.DB
	w        *store.Writer
	lookup   func(id string) (harness.Harness, bool)
	progress func(done, total int64)
	// resumable keeps a cursor in the store, so that the run goes on when the
	// versions of the sessions do not tell which are done.
	resumable bool

	values index.Values
	cursor *cursor // nil before the first session
	done   Reindexed
	read   int64 // bytes of stream that are done
	inTx   int64
	merged int64 // read at the last merge
}

// A part is what passes from the reader to the writer.
type part struct {
	d     archive.Derivable
	s     archive.Session
	inOne bool
	piece index.Piece
	// Nothing else: why the session is left as it is.
	evicted bool
	skip    string
}

func (p *part) weigh() int64 { return p.piece.Size() }

func (p *part) drop() {}

// run derives the sessions of list again, in order.
func (r *rebuilder) run(ctx context.Context, list []archive.Derivable) error {
	var total int64
	for _, d := range list {
		total += d.Len
	}
	q := newQueue[*part]()
	worked := make(chan error, 1)
	go func() {
		defer close(q.ch)
		worked <- r.derive(ctx, q, list)
	}()
	var current *index.Rebuild
	for l := range q.ch {
		err := r.apply(ctx, l.load, &current)
		q.took(l)
		if err != nil {
			r.w.Rollback()
			q.abandon()
			if e := <-worked; e != nil && !errors.Is(e, errAbandoned) {
				err = errors.Join(err, e)
			}
			return err
		}
		if r.progress != nil {
			r.progress(r.read, total)
		}
	}
	if err := <-worked; err != nil {
		r.w.Rollback()
		return err
	}
	return r.commit(ctx)
}

// derive is the reading side.
func (r *rebuilder) derive(ctx context.Context, q *queue[*part], list []archive.Derivable) error {
	for _, d := range list {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		last := &part{d: d}
		err := r.session(ctx, q, d)
		switch {
		case err == nil:
			continue
		case errors.Is(err, archive.ErrEvicted):
			last.evicted = true
		default:
			if last.skip = skip(ctx, err); last.skip == "" {
				return err
			}
		}
		if !q.put(last) {
			return errAbandoned
		}
	}
	return nil
}

func (r *rebuilder) session(ctx context.Context, q *queue[*part], d archive.Derivable) error {
	s, ok, err := archive.Load(ctx, r.reader, d.Key)
	switch {
	case err != nil:
		return err
	case !ok:
		return errors.New("it is gone")
	case s.Evicted:
		return archive.ErrEvicted
	}
	h, ok := r.lookup(s.Harness)
	if !ok {
		return fmt.Errorf("its harness %q is not known to this build", s.Harness)
	}
	inOne := s.Tail.StreamLen <= wholeSession
	limit := int64(wholeSession)
	if !inOne {
		limit = rebuildPiece
		if err := index.Derive(ctx, r.reader, s, h, limit, func(index.Piece) error { return ctx.Err() }); err != nil {
			return err
		}
	}
	return index.Derive(ctx, r.reader, s, h, limit, func(p index.Piece) error {
		if !q.put(&part{d: d, s: s, inOne: inOne, piece: p}) {
			return errAbandoned
		}
		return nil
	})
}

// apply is the writing side. current is the session that is being replaced.
func (r *rebuilder) apply(ctx context.Context, p *part, current **index.Rebuild) error {
	if err := r.w.Begin(ctx); err != nil {
		return err
	}
	if p.evicted || p.skip != "" {
		if p.evicted {
			r.done.Preserved++
		} else {
			r.done.Skipped = append(r.done.Skipped, Skipped{p.d.Key, p.skip})
		}
		r.read += p.d.Len
		return r.save(ctx, p.d, "")
	}
	if err := r.write(ctx, p, current); err != nil {
		return fmt.Errorf("derive session %s again: %w", p.d.Key, err)
	}
	r.read += p.piece.Bytes
	r.inTx += p.piece.Bytes
	if r.inTx >= rebuildTx || !p.inOne {
		return r.commit(ctx)
	}
	return nil
}

func (r *rebuilder) write(ctx context.Context, p *part, current **index.Rebuild) (err error) {
	if p.piece.First {
		if *current, err = index.BeginRebuild(ctx, r.w, &r.values, p.s, p.inOne); err != nil {
			return err
		}
	}
	b := *current
	if err := b.Add(ctx, r.w, p.piece); err != nil {
		return err
	}
	if !p.piece.Last {
		return r.save(ctx, p.d, p.d.Key)
	}
	if err := b.End(ctx, r.w, p.piece.State); err != nil {
		return err
	}
	r.done.Sessions++
	r.done.Turns += b.Turns
	return r.save(ctx, p.d, "")
}

// commit ends the transaction, and keeps WAL and segments few.
func (r *rebuilder) commit(ctx context.Context) error {
	if err := r.w.Commit(ctx); err != nil {
		return err
	}
	r.inTx = 0
	if r.read-r.merged >= rebuildMerge {
		r.merged = r.read
		if err := index.MergeAll(ctx, r.w); err != nil {
			return err
		}
	}
	return r.w.TrimWAL(ctx)
}
