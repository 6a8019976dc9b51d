package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/capture"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/observe"
	"github.com/terminus-archive/terminus/internal/store"
)

// A writer applies batches. Whatever one batch holds is committed together;
// small batches share a transaction.
type writer struct {
	p      *pass
	w      *store.Writer
	limit  int64
	open   tally             // what the open transaction holds
	opened map[string]*place // by session key: what this pass has assigned
	values index.Values      // a failed transaction ends the pass, and these with it
	now    string
	// unmerged is how much was taken in since the search index was merged.
	unmerged int64
}

// mergeEvery is after how much of a pass the search index is merged, in bytes
// of transcripts: they leave about 130 segments, and at 256 of them FTS5 would
// merge inside a commit.
var mergeEvery int64 = 384 << 20

// A tally is what a transaction adds to the result once it is committed.
type tally struct{ files, bytes, turns int64 }

// A place is where the rows of a session go. Several transcripts of one pass
// may belong to one session.
type place struct {
	no, slot, next int64
	meta           archive.Meta
}

func (p *pass) pipeline(ctx context.Context) error {
	if len(p.jobs) == 0 {
		return p.after(ctx, nil)
	}
	sw, err := p.db.Writer(ctx)
	if err != nil {
		return err
	}
	defer sw.Close()
	limit := int64(txBytes)
	if p.o.Backfill {
		limit = txBytesBackfill
	}
	p.prog.begin(p.started, p.o.Backfill)
	wr := &writer{p: p, w: sw, limit: limit, opened: map[string]*place{}, now: archive.Stamp(p.started)}

	q := newQueue[*batch]()
	worked := make(chan error, 1)
	wk := &worker{p: p, q: q, inFlight: map[string]bool{}, limit: limit, strange: map[string]int64{}}
	go func() {
		defer close(q.ch)
		worked <- wk.run(ctx)
	}()
	err = wr.drain(ctx, q)
	if err != nil {
		q.abandon()
		if e := <-worked; e != nil && !errors.Is(e, errAbandoned) {
			err = errors.Join(err, e)
		}
		return err
	}
	err = <-worked
	p.res.Remarks = append(p.res.Remarks, wk.remarks...)
	if note := wk.strangers(); note != "" {
		p.res.Notes = append(p.res.Notes, note)
	}
	if err != nil {
		return err
	}
	return p.after(ctx, wr)
}

// drain applies batches until the worker is done.
func (w *writer) drain(ctx context.Context, q *queue[*batch]) error {
	for l := range q.ch {
		b := l.load
		err := w.one(ctx, b)
		q.took(l)
		if err != nil {
			w.w.Rollback()
			b.drop()
			return err
		}
	}
	if ctx.Err() != nil {
		w.w.Rollback()
		return ctx.Err()
	}
	return w.commit(ctx)
}

func (w *writer) one(ctx context.Context, b *batch) error {
	if b.barrier != nil {
		if err := w.commit(ctx); err != nil {
			return err
		}
		close(b.barrier)
		b.barrier = nil
		return nil
	}
	if r := b.restore; r != nil {
		b.restore = nil // it is answered whatever becomes of it
		return w.restore(ctx, r)
	}
	if b.failure != nil {
		w.p.res.Failures = append(w.p.res.Failures, *b.failure)
	}
	if b.renameTo != "" {
		if err := w.w.Begin(ctx); err != nil {
			return err
		}
		if err := archive.Rename(ctx, w.w, b.sess.key, b.renameTo); err != nil {
			return err
		}
		return observe.Rename(ctx, w.w, b.sess.key, b.renameTo)
	}
	if b.sess != nil {
		if err := w.w.Begin(ctx); err != nil {
			return err
		}
		if err := w.apply(ctx, b); err != nil {
			return fmt.Errorf("write session %s: %w", b.sess.key, err)
		}
		if err := w.companions(ctx, b); err != nil {
			return err
		}
	}
	w.account(b)
	if w.open.bytes >= w.limit {
		return w.commit(ctx)
	}
	return nil
}

func (w *writer) account(b *batch) {
	w.p.prog.BytesDone += b.bytesRead
	w.open.bytes += b.bytesRead
	if b.last {
		w.p.prog.FilesDone++
		if b.job.committed {
			w.open.files++
		}
	}
	w.p.report()
}

func (w *writer) commit(ctx context.Context) error {
	if err := w.w.Commit(ctx); err != nil {
		return err
	}
	w.p.res.FilesCommitted += w.open.files
	w.p.res.BytesRead += w.open.bytes
	w.p.res.TurnsAdded += w.open.turns
	w.unmerged += w.open.bytes
	w.open = tally{}
	if err := w.w.TrimWAL(ctx); err != nil || w.unmerged < mergeEvery {
		return err
	}
	due := w.unmerged
	w.unmerged = 0
	return index.Merge(ctx, w.w, due)
}

// apply writes everything of a batch except its companions.
func (w *writer) apply(ctx context.Context, b *batch) error {
	pl, err := w.place(ctx, b)
	if err != nil {
		return err
	}
	if b.hide {
		return archive.SetProject(ctx, w.w, b.sess.key, b.meta.Project, b.meta.PreWorktree)
	}
	if b.diverged != nil {
		return archive.SetDiverged(ctx, w.w, b.sess.key, *b.diverged)
	}
	if b.touch {
		return archive.Touch(ctx, w.w, b.mark.Source, b.mark.Stat, b.mark.CheckedAt)
	}
	if b.up.Blocks == nil && b.mark == nil {
		return nil
	}
	b.job.committed = true
	if err := w.meta(ctx, b, pl); err != nil {
		return err
	}
	if err := archive.SaveBlocks(ctx, w.w, pl.no, b.up); err != nil {
		return err
	}
	if err := w.rows(ctx, b, pl); err != nil {
		return err
	}
	for _, h := range b.held {
		if err := index.HoldLine(ctx, w.w, pl.no, h.id, h.Held); err != nil {
			return err
		}
	}
	return w.mark(ctx, b, pl)
}

// place finds or makes the session's number.
func (w *writer) place(ctx context.Context, b *batch) (*place, error) {
	if pl, ok := w.opened[b.sess.key]; ok {
		return pl, nil
	}
	pl := &place{no: b.sess.no, slot: b.sess.slot, meta: b.meta}
	var err error
	if b.sess.exists {
		pl.next, err = index.CountTurns(ctx, w.w, pl.no)
	} else {
		pl.no, err = archive.CreateSession(ctx, w.w, b.sess.key, b.sess.harness)
	}
	if err != nil {
		return nil, err
	}
	w.opened[b.sess.key] = pl
	return pl, nil
}

func (w *writer) rows(ctx context.Context, b *batch, pl *place) error {
	if len(b.rows) == 0 {
		return nil
	}
	if pl.slot < 0 {
		slot, err := archive.AssignSlot(ctx, w.w, b.sess.key, b.project)
		if err != nil {
			return err
		}
		pl.slot = slot
	}
	added, skipped, err := index.Write(ctx, w.w, index.Target{No: pl.no, Slot: pl.slot, Next: pl.next, Values: &w.values}, b.rows)
	if err != nil {
		return err
	}
	pl.next += added
	w.open.turns += added
	if b.sess.exists && int64(len(b.rows)) > skipped {
		if err := archive.Reopen(ctx, w.w, b.sess.key); err != nil {
			return err
		}
	}
	if skipped > 0 {
		w.p.res.Notes = append(w.p.res.Notes, fmt.Sprintf("%s has more than %d turns: %d further records are archived and are no turns",
			b.sess.key, index.MaxTurns, skipped))
	}
	return nil
}

func (w *writer) meta(ctx context.Context, b *batch, pl *place) error {
	state, err := json.Marshal(b.state)
	if err != nil {
		return err
	}
	m := pl.meta
	m.SessionID, m.CWD, m.Branch = b.state.SessionID, b.state.CWD, b.state.Branch
	m.FirstTurnAt, m.LastTurnAt = b.state.FirstTS, b.state.LastTS
	m.Project, m.PreWorktree = b.project, b.preTree
	m.Parent = b.sess.parent
	if m.Parent == "" {
		m.Parent = b.state.ParentKey
	}
	if b.state.ContinuesFrom != "" {
		m.ContinuesFrom = b.state.ContinuesFrom
	}
	m.PendingParent = nil
	if m.ContinuesFrom == "" {
		m.PendingParent = index.UUIDValue(b.state.FirstParent)
	}
	m.State, m.DerivedVersion = string(state), store.DerivedSchema
	if b.growth > 0 {
		m.CaptureMode = string(capture.Record(config.CaptureMode(m.CaptureMode), w.p.o.Config.Capture.Mode))
	}
	if m.TranscriptPath, err = w.transcriptPath(ctx, b, m.TranscriptPath); err != nil {
		return err
	}
	pl.meta = m
	return archive.SaveMeta(ctx, w.w, b.sess.key, m, b.up.Tail, b.up.Unsettled)
}

// transcriptPath is the file of the session that was written last.
func (w *writer) transcriptPath(ctx context.Context, b *batch, old string) (string, error) {
	if old == "" || old == b.job.t.Path {
		return b.job.t.Path, nil
	}
	var mtime int64
	err := w.w.QueryRowContext(ctx, `SELECT coalesce(max(mtime), 0) FROM watermarks WHERE source = ?`, old).Scan(&mtime)
	if err != nil || b.job.t.Stat.Mtime < mtime {
		return old, err
	}
	return b.job.t.Path, nil
}

// mark writes the revision and the watermark.
func (w *writer) mark(ctx context.Context, b *batch, pl *place) error {
	if b.mark == nil {
		return nil
	}
	m := *b.mark
	m.No, m.UpdatedAt = pl.no, w.now
	var err error
	switch {
	case b.revision != nil && b.setExtents:
		err = archive.SetExtents(ctx, w.w, *b.revision)
	case b.revision != nil:
		r := *b.revision
		r.No, r.MadeAt = pl.no, w.now
		m.Revision, err = archive.AddRevision(ctx, w.w, r)
	case b.grow:
		m.Revision, err = w.grow(ctx, b, pl)
	}
	if err != nil {
		return err
	}
	if err := m.Save(ctx, w.w); err != nil {
		return err
	}
	if b.revision == nil {
		return nil
	}
	newest, err := archive.Newest(ctx, w.w, pl.no)
	if err != nil {
		return err
	}
	return index.MarkCurrent(ctx, w.w, pl.no, newest)
}

// grow lengthens the transcript's newest revision, or makes its first.
func (w *writer) grow(ctx context.Context, b *batch, pl *place) (int64, error) {
	id, err := archive.NewestRevision(ctx, w.w, pl.no, b.mark.Source)
	if err != nil {
		return 0, err
	}
	if id != 0 {
		return id, archive.Grow(ctx, w.w, id, b.growOff, b.growth, b.stateLen, b.stateSum)
	}
	return archive.AddRevision(ctx, w.w, archive.Revision{
		No: pl.no, Source: b.mark.Source, MadeAt: w.now, Cause: archive.CauseFirst, Len: b.stateLen, Hash: b.stateSum,
		Extents: archive.Extents{}.Add(b.growOff, b.growth),
	})
}

// companions archives the files beside a transcript. One that cannot be read
// costs itself.
func (w *writer) companions(ctx context.Context, b *batch) error {
	pl := w.opened[b.sess.key]
	for _, c := range b.companions {
		f, stat, err := fsx.OpenRegular(c.Path)
		if err != nil {
			if !gone(err) {
				w.p.res.Failures = append(w.p.res.Failures, Failure{c.Path, reason(err, c.Path)})
			}
			continue
		}
		n, err := archive.SaveCompanion(ctx, w.w, archive.Companion{
			No: pl.no, Name: c.Name, Source: c.Path, SeenAt: w.now, Stat: stat,
		}, f)
		_ = f.Close()
		var unread *archive.SourceError
		if errors.As(err, &unread) {
			w.p.res.Failures = append(w.p.res.Failures, Failure{c.Path, reason(unread.Err, c.Path)})
			continue
		}
		if err != nil {
			return store.Wrap("write", w.p.db.Path, fmt.Errorf("archive %s: %w", c.Path, err))
		}
		b.bytesRead += n
		b.job.committed = b.job.committed || n > 0
	}
	return nil
}
