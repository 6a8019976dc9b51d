package store

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
)

// A column that a later build added to a table. Added columns stand last in
// their table in schema.sql, so that a fresh and an upgraded store are alike.
type addedColumn struct{ table, column, decl string }

// addedColumns is what catchUp adds to a store that lacks it.
var addedColumns = []addedColumn{{"session_meta", "told_cwd", "TEXT"}}

var createTable = regexp.MustCompile(`(?i)CREATE (?:VIRTUAL )?TABLE IF NOT EXISTS (\w+)`)

// catchUp adds what an older build's store lacks, in one transaction, and
// writes nothing when nothing is missing. It looks at tables and columns, not
// at version numbers: a store may have been touched by several builds.
func catchUp(ctx context.Context, db *sql.DB) error {
	missingTable, missingColumns, err := missing(ctx, db)
	if err != nil || !missingTable && len(missingColumns) == 0 {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, c := range missingColumns {
		stmt := fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", c.table, c.column, c.decl)
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return err
		}
	}
	if missingTable {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func missing(ctx context.Context, db *sql.DB) (table bool, columns []addedColumn, err error) {
	have := map[string]bool{}
	rows, err := db.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table'`)
	if err != nil {
		return false, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return false, nil, err
		}
		have[name] = true
	}
	if err := rows.Err(); err != nil {
		return false, nil, err
	}
	for _, m := range createTable.FindAllStringSubmatch(schema, -1) {
		table = table || !have[m[1]]
	}
	for _, c := range addedColumns {
		if !have[c.table] {
			continue // the whole table comes with the schema
		}
		var n int
		err := db.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_info(?) WHERE name = ?`,
			c.table, strings.Trim(c.column, `"`)).Scan(&n)
		if err != nil {
			return false, nil, err
		}
		if n == 0 {
			columns = append(columns, c)
		}
	}
	return table, columns, nil
}
