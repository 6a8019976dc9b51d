package search

import (
	"context"
	"database/sql"
)

// A tx is a read transaction that compiles a statement once, however often it
// is run: what a prompt needs are dozens of small ones, and compiling takes
// longer than most of them. Rows of a statement are closed before it is run
// again. It is an archive.Querier.
type tx struct {
	*sql.Tx
	stmts map[string]*sql.Stmt // closed with the transaction
}

func begin(ctx context.Context, db *sql.DB) (*tx, error) {
	t, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &tx{t, map[string]*sql.Stmt{}}, nil
}

func (t *tx) compiled(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := t.stmts[query]; ok {
		return s, nil
	}
	s, err := t.PrepareContext(ctx, query)
	if err == nil {
		t.stmts[query] = s
	}
	return s, err
}

// QueryContext runs a statement.
func (t *tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := t.compiled(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// QueryRowContext runs a statement of at most one row.
func (t *tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := t.compiled(ctx, query)
	if err != nil {
		return t.Tx.QueryRowContext(ctx, query, args...) // gives the same error
	}
	return s.QueryRowContext(ctx, args...)
}
