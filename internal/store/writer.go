package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// A Writer is the one connection that changes the store. Statements are
// prepared once for the connection's life; transactions are opened and closed
// by hand, because one may span many sessions. It is used by one goroutine.
type Writer struct {
	db    *DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	open  bool
}

// Writer takes the store's connection. Until Close, db itself must not be used.
func (db *DB) Writer(ctx context.Context) (*Writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, asStoreError("open", db.Path, err)
	}
	return &Writer{db: db, conn: conn, stmts: map[string]*sql.Stmt{}}, nil
}

// Close gives the connection back, rolling back what was not committed.
func (w *Writer) Close() error {
	w.Rollback()
	for _, s := range w.stmts {
		_ = s.Close()
	}
	return w.conn.Close()
}

// Begin opens a transaction for writing; a second Begin before Commit does
// nothing.
func (w *Writer) Begin(ctx context.Context) error {
	if w.open {
		return nil
	}
	if _, err := w.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return asStoreError("write", w.db.Path, err)
	}
	w.open = true
	return nil
}

// Commit ends the open transaction, if there is one.
func (w *Writer) Commit(ctx context.Context) error {
	if !w.open {
		return nil
	}
	if _, err := w.ExecContext(ctx, "COMMIT"); err != nil {
		return asStoreError("write", w.db.Path, err)
	}
	w.open = false
	return nil
}

// Rollback undoes the open transaction, if there is one. It works after the
// caller's context has ended.
func (w *Writer) Rollback() {
	if w.open {
		_, _ = w.conn.ExecContext(context.Background(), "ROLLBACK")
		w.open = false
	}
}

// InTx reports whether a transaction is open.
func (w *Writer) InTx() bool { return w.open }

// Checkpoint moves the WAL into the database and truncates it; between
// transactions only. It never waits: with a reader in the way the WAL stays
// for the next checkpoint.
func (w *Writer) Checkpoint(ctx context.Context) error {
	_, err := w.Truncate(ctx, 0)
	return err
}

// Truncate is Checkpoint that waits for the readers of earlier states, at most as
// long as wait. It reports whether the whole WAL was moved and the file is empty:
// no page of an earlier state is then left in it, or in the database.
func (w *Writer) Truncate(ctx context.Context, wait time.Duration) (bool, error) {
	setBusy := func(d time.Duration) error {
		_, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
		return err
	}
	var busy, frames, moved int64
	err := setBusy(wait)
	if err == nil {
		err = w.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
		if e := setBusy(busyTimeout); err == nil {
			err = e
		}
	}
	err = asStoreError("checkpoint", w.db.Path, err)
	if IsKind(err, Locked) {
		return false, nil
	}
	return err == nil && busy == 0 && w.db.WALBytes() == 0, err
}

// TrimWAL truncates the WAL where it has grown past WALLimit; between
// transactions only.
func (w *Writer) TrimWAL(ctx context.Context) error {
	if w.db.WALBytes() <= WALLimit {
		return nil
	}
	return w.Checkpoint(ctx)
}

func (w *Writer) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := w.stmts[query]; ok {
		return s, nil
	}
	s, err := w.conn.PrepareContext(ctx, query)
	if err == nil {
		w.stmts[query] = s
	}
	return s, err
}

// ExecContext runs a statement. The query text must come from a bounded set:
// each is kept prepared.
func (w *Writer) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := w.prepared(ctx, query)
	if err != nil {
		return nil, asStoreError("write", w.db.Path, err)
	}
	res, err := s.ExecContext(ctx, args...)
	return res, asStoreError("write", w.db.Path, err)
}

// QueryContext runs a query. Its rows must be closed before the next call.
func (w *Writer) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := w.prepared(ctx, query)
	if err != nil {
		return nil, asStoreError("read", w.db.Path, err)
	}
	rows, err := s.QueryContext(ctx, args...)
	return rows, asStoreError("read", w.db.Path, err)
}

// QueryRowContext runs a query of at most one row.
func (w *Writer) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := w.prepared(ctx, query)
	if err != nil {
		return w.conn.QueryRowContext(ctx, query, args...) // reports the same error
	}
	return s.QueryRowContext(ctx, args...)
}
