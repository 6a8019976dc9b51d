package store

import (
	"context"
	"database/sql"
)

// searchSettings are those of the search index. Merging is done in short
// slices after a pass, never inside a commit: an automatic merge stalls one
// commit in some for tens of milliseconds. The crisis level keeps a level far
// below FTS5's limit of 2,000 segments, and is not met by a first pass over
// less than some gigabytes.
var searchSettings = map[string]int{"automerge": 0, "usermerge": 16, "crisismerge": 256}

// configureSearch gives the search index its settings; they are kept in it.
func configureSearch(ctx context.Context, tx *sql.Tx) error {
	for key, value := range searchSettings {
		if _, err := tx.ExecContext(ctx, `INSERT INTO turns_fts(turns_fts, rank) VALUES (?, ?)`, key, value); err != nil {
			return err
		}
	}
	return nil
}

// RestoreSchema makes whatever tables and indexes are missing, and gives the
// search index its settings: what a store lost by other hands comes back. Only
// before Writer.
func (db *DB) RestoreSchema(ctx context.Context) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return asStoreError("write", db.Path, err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return asStoreError("write", db.Path, err)
	}
	if err := configureSearch(ctx, tx); err != nil {
		return asStoreError("write", db.Path, err)
	}
	return asStoreError("write", db.Path, tx.Commit())
}

// RenewSearch replaces the search index by an empty one, and notes that the store
// is to be derived again. Only before Writer.
func (db *DB) RenewSearch(ctx context.Context) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return asStoreError("write", db.Path, err)
	}
	defer func() { _ = tx.Rollback() }()
	for _, stmt := range []string{`DROP TABLE turns_fts`, schema, `UPDATE meta SET value = '0' WHERE key = 'derived_schema'`} {
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return asStoreError("write", db.Path, err)
		}
	}
	if err := configureSearch(ctx, tx); err != nil {
		return asStoreError("write", db.Path, err)
	}
	return asStoreError("write", db.Path, tx.Commit())
}
