package retention

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/observe"
	"github.com/terminus-archive/terminus/internal/store"
)

// Preview evaluates what a pass at the instant now would do, in one read
// transaction and without the lock. older tells that another build derived what the
// store holds. The error is store.ErrNoStore, or that of the store.
func Preview(ctx context.Context, c *config.Config, now time.Time, lookup Lookup) (p Plan, older bool, err error) {
	db, err := store.OpenReader(ctx, store.Path(c.DataDir))
	if err != nil {
		return p, false, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return p, db.Older, store.Wrap("read", db.Path, err)
	}
	defer func() { _ = tx.Rollback() }()
	if !c.Retention.Acts() {
		return Plan{Off: true}, db.Older, nil
	}
	closing, err := archive.Idle(ctx, tx, now.Add(-archive.IdleAfter))
	var noted map[string]bool
	if err == nil {
		noted, err = nextNoted(ctx, tx, c, closing)
	}
	if err == nil {
		p, err = evaluate(ctx, tx, c, now, lookup, noted, closing)
	}
	return p, db.Older, store.Wrap("read", db.Path, err)
}

// nextNoted are the sessions whose facts the next pass notes before it evicts, among them
// some of those that it closes first.
func nextNoted(ctx context.Context, q archive.Querier, c *config.Config, closing []archive.Closing) (map[string]bool, error) {
	var queue []archive.Unobserved
	for _, s := range closing {
		if !s.Evicted && !c.Exclude.Hidden(s.Project, s.PreWorktree) {
			queue = append(queue, archive.Unobserved{Key: s.Key, Place: s.No})
		}
	}
	stored := 0
	err := archive.EachUnobserved(ctx, q, func(u archive.Unobserved) bool {
		if !c.Exclude.Hidden(u.Project, u.PreWorktree) {
			queue = append(queue, u)
			stored++
		}
		return stored < observe.PerPass
	})
	slices.SortFunc(queue, func(a, b archive.Unobserved) int { return cmp.Compare(a.Place, b.Place) })
	keys := map[string]bool{}
	for _, u := range queue[:min(len(queue), observe.PerPass)] {
		keys[u.Key] = true
	}
	return keys, err
}
