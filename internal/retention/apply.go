package retention

import (
	"context"
	"fmt"
	"strings"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/feedback"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/observe"
	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/store"
)

// An Applied is what came of a Plan.
type Applied struct {
	Evicted, Deleted int
	// Observations and Decisions went with the sessions that were deleted.
	Observations int
	Decisions    int64
	// Failures say what could not be done, a line for each session. It stays as
	// it was, and the next pass tries again.
	Failures []string
}

// Apply does what a plan says, each session in a transaction of its own. w must be
// in none. A session that cannot be evicted or deleted costs itself; the error is
// that of a ctx that ended. What is deleted is gone from every table, not yet from
// the search index's segments and the free pages: see index.Purge.
func Apply(ctx context.Context, w *store.Writer, p Plan, dataDir string) (Applied, error) {
	var a Applied
	for _, s := range p.Evict {
		err := once(ctx, w, func() error { return archive.Evict(ctx, w, s.No) })
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		if err != nil {
			a.Failures = append(a.Failures, fmt.Sprintf("%s could not be evicted: %v", s.Key, err))
			continue
		}
		a.Evicted++
	}
	for _, s := range p.Delete {
		var d dropped
		err := once(ctx, w, func() (err error) {
			d, err = drop(ctx, w, s)
			return err
		})
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		if err != nil {
			a.Failures = append(a.Failures, fmt.Sprintf("%s could not be deleted: %v", s.Key, err))
			continue
		}
		for _, id := range d.ids {
			if err := feedback.DeleteWaiting(dataDir, id); err != nil {
				a.Failures = append(a.Failures, fmt.Sprintf("%s is deleted, and what waits of its logged prompts is not: %v", s.Key, err))
			}
			recall.DropState(dataDir, id)
		}
		a.Deleted++
		a.Decisions += d.decisions
		if d.observed {
			a.Observations++
		}
	}
	return a, nil
}

// once runs do in a transaction and keeps the WAL short.
func once(ctx context.Context, w *store.Writer, do func() error) error {
	if err := w.Begin(ctx); err != nil {
		return err
	}
	err := do()
	if err == nil {
		err = w.Commit(ctx)
	}
	if err != nil {
		w.Rollback()
		return err
	}
	return w.TrimWAL(ctx)
}

// A dropped is what a deleted session took with it.
type dropped struct {
	observed  bool
	decisions int64
	ids       []string // of the agent's sessions of which nothing is left
}

// drop removes a session from every table. What was logged of its prompts goes as
// well, unless another session that is no subagent's goes by the same id.
func drop(ctx context.Context, w *store.Writer, s archive.Aged) (d dropped, err error) {
	if d.observed, err = observe.Delete(ctx, w, s.Key); err != nil {
		return d, err
	}
	for _, id := range agentIDs(s) {
		others, err := archive.TopLevelOf(ctx, w, id, id+lineSuffix, s.Key)
		if err != nil {
			return d, err
		}
		if others {
			continue
		}
		n, err := feedback.DeleteDecisions(ctx, w, id)
		if err != nil {
			return d, err
		}
		d.decisions += n
		d.ids = append(d.ids, id)
	}
	if err := index.Erase(ctx, w, s.No, s.Slot); err != nil {
		return d, err
	}
	return d, archive.Delete(ctx, w, s.No)
}

// lineSuffix ends the session key of an agent that names its transcripts by id.
const lineSuffix = ".jsonl"

// agentIDs are the ids by which an agent's hooks may have named the session: the
// one in its records, which is that of the session it was forked from, and the one
// that its transcript is named by. A subagent's prompts are its parent's.
func agentIDs(s archive.Aged) []string {
	if s.Sidecar {
		return nil
	}
	var ids []string
	if s.SessionID != "" {
		ids = append(ids, s.SessionID)
	}
	if id, ok := strings.CutSuffix(s.Key, lineSuffix); ok && id != s.SessionID && recall.ValidSessionID(id) {
		ids = append(ids, id)
	}
	return ids
}
