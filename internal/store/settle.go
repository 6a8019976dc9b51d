package store

import (
	"context"
	"database/sql"
	"errors"
)

// Settle brings the log of the store at path home, whatever format it has, so that
// the database file alone is the whole store. It is for the process that holds the
// ingest lock. It waits for readers for a while: an error of the kind Locked is that
// they did not come to an end. Of a store that cannot be used it is of another kind.
func Settle(ctx context.Context, path string) error {
	if err := absolute(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(path, "mode=rw", "secure_delete(1)", "synchronous(1)"))
	if err != nil {
		return wrap("open", path, err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := hasNoTables(ctx, db); err != nil { // reading is what plays a journal back, and tells damage
		return asStoreError("read", path, err)
	}
	var busy, frames, moved int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
		return asStoreError("checkpoint", path, err)
	}
	if busy != 0 {
		return &Error{Op: "checkpoint", Path: path, Kind: Locked, Err: errors.New("another process is reading it")}
	}
	return nil
}
