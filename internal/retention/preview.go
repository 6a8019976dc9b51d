package retention

import (
	"context"
	"database/sql"
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
	noted, err := nextNoted(ctx, tx, c)
	if err == nil {
		p, err = evaluate(ctx, tx, c, now, lookup, noted)
	}
	return p, db.Older, store.Wrap("read", db.Path, err)
}

// nextNoted are the sessions whose facts the next pass notes before it evicts.
func nextNoted(ctx context.Context, q archive.Querier, c *config.Config) (map[string]bool, error) {
	keys := map[string]bool{}
	err := archive.EachUnobserved(ctx, q, func(u archive.Unobserved) bool {
		if !c.Exclude.Hidden(u.Project, u.PreWorktree) {
			keys[u.Key] = true
		}
		return len(keys) < observe.PerPass
	})
	return keys, err
}
