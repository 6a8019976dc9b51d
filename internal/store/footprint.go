package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// The two rows of a footprint that are no tables.
const (
	FreePages = "(free pages)"
	LockPage  = "(lock page)"
)

// pendingByte is where SQLite locks a database file. The page at that offset is
// never used, so that no lock is ever taken on data.
const pendingByte = 0x40000000

// A Part is one share of the database file.
type Part struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// A Reading is one read transaction, or a single connection.
type Reading interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Footprint says what the pages of the database are used for. fileBytes is the size
// of the database (page_count times page_size: what stands in the log counts as if it
// were home), and the parts add up to it exactly.
//
// A table's part holds its indexes. The tables come first, the biggest first, then
// FreePages, always, and LockPage, where the database is large enough to have one.
// Every page is looked at, in one state of the store only if q is a transaction.
func Footprint(ctx context.Context, q Reading) (fileBytes int64, parts []Part, err error) {
	var pages, pageSize, free int64
	for pragma, n := range map[string]*int64{"page_count": &pages, "page_size": &pageSize, "freelist_count": &free} {
		if err := q.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(n); err != nil {
			return 0, nil, err
		}
	}
	fileBytes = pages * pageSize
	parts, err = tableParts(ctx, q)
	if err != nil {
		return 0, nil, err
	}
	parts = append(parts, Part{FreePages, free * pageSize})
	if pages > pendingByte/pageSize {
		parts = append(parts, Part{LockPage, pageSize})
	}
	left := fileBytes
	for _, p := range parts {
		left -= p.Bytes
	}
	if left != 0 {
		return 0, nil, &Error{
			Op: "measure", Kind: Damaged,
			Err: fmt.Errorf("%d bytes of it belong to no table and are not free", left), Hint: "see terminus verify",
		}
	}
	return fileBytes, parts, nil
}

// tableParts sums the pages of each table and of its indexes.
func tableParts(ctx context.Context, q Reading) ([]Part, error) {
	rows, err := q.QueryContext(ctx, `SELECT coalesce(s.tbl_name, d.name), sum(d.pgsize)
		FROM (SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE) d
		LEFT JOIN sqlite_schema s ON s.name = d.name AND s.rootpage > 0 GROUP BY 1`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var parts []Part
	for rows.Next() {
		var p Part
		if err := rows.Scan(&p.Name, &p.Bytes); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Name, b.Name))
	})
	return parts, rows.Err()
}
