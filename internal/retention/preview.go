package retention

import (
	"context"
	"database/sql"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/store"
	"time"
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
	p, err = Evaluate(ctx, tx, c, now, lookup)
	return p, db.Older, store.Wrap("read", db.Path, err)
}
