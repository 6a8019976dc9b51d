package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/store"
)

// settlePerPass bounds how many sessions one pass settles: each costs reading
// and compressing up to a block, and the next pass goes on.
const settlePerPass = 64

// after does what a pass owes once everything is taken in. w is nil when there
// was nothing to take in.
func (p *pass) after(ctx context.Context, w *writer) error {
	keys, err := archive.Unsettled(ctx, p.reader, p.started.Add(-quietAfter).UnixNano(), settlePerPass)
	if err != nil {
		return store.Wrap("read", p.db.Path, err)
	}
	if w == nil && len(keys) == 0 {
		return nil
	}
	var sw *store.Writer
	if w != nil {
		sw = w.w
	} else {
		if sw, err = p.db.Writer(ctx); err != nil {
			return err
		}
		defer sw.Close()
	}
	for _, key := range keys {
		if err := p.settle(ctx, sw, key); err != nil {
			return err
		}
	}
	if w == nil || p.res.FilesCommitted == 0 {
		return nil
	}
	if p.o.Path == "" {
		if err := predecessors(ctx, sw, p.db.Path); err != nil {
			return err
		}
	}
	if p.o.Backfill {
		return index.MergeAll(ctx, sw)
	}
	return index.Merge(ctx, sw, w.unmerged)
}

// settle cuts the end of a quiet session anew. A damaged one is a failure of
// its own.
func (p *pass) settle(ctx context.Context, sw *store.Writer, key string) error {
	if err := sw.Begin(ctx); err != nil {
		return err
	}
	err := archive.Settle(ctx, sw, key)
	var damage *archive.DamageError
	if errors.As(err, &damage) {
		sw.Rollback()
		p.res.Failures = append(p.res.Failures, Failure{key, "its archive is damaged (see terminus verify): " + damage.Detail})
		return nil
	}
	if err != nil {
		sw.Rollback()
		return fmt.Errorf("settle session %s: %w", key, err)
	}
	return sw.Commit(ctx)
}

// predecessors fills in what sessions continue, for those whose first turn has
// a parent in a session that was archived later.
func predecessors(ctx context.Context, sw *store.Writer, path string) error {
	pending, err := archive.PendingParents(ctx, sw)
	if err != nil || len(pending) == 0 {
		return err
	}
	if err := sw.Begin(ctx); err != nil {
		return err
	}
	for _, s := range pending {
		id, ok, err := index.SessionHolding(ctx, sw, s.Parent, s.Key, s.SessionID)
		if err == nil && !ok {
			continue
		}
		if err == nil {
			err = archive.SetContinuesFrom(ctx, sw, s.Key, id)
		}
		if err != nil {
			return store.Wrap("write", path, err)
		}
	}
	return sw.Commit(ctx)
}
