package rows

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// A DB is an agent's database, open for reading.
type DB struct {
	f      *store.Foreign
	path   string
	tables map[string][]string // the columns of each, read when asked
}

// Open opens a database. It is nil, and no error, where there is none.
func Open(ctx context.Context, path string) (*DB, error) {
	f, err := store.OpenForeign(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &harness.Problem{Path: path, Err: short(err, path)}
	}
	return &DB{f: f, path: path, tables: map[string][]string{}}, nil
}

// short says of err only what stands behind the path, which the problem names anyway.
func short(err error, path string) error {
	if rest, ok := strings.CutPrefix(err.Error(), path+": "); ok {
		return shortened{rest, err}
	}
	return err
}

type shortened struct {
	text string
	err  error
}

func (s shortened) Error() string { return s.text }
func (s shortened) Unwrap() error { return s.err }

// Close closes it. Its error means that what was read may be no state that the database ever
// had: what it served for is to be given up.
func (db *DB) Close() error {
	if err := db.f.Close(); err != nil {
		return &harness.Problem{Path: db.path, Err: short(err, db.path)}
	}
	return nil
}

// Columns are the columns of a table, nil where there is no such table. What has its name and
// is a view, or is made by a module, is none: it could give rows without end.
func (db *DB) Columns(ctx context.Context, table string) ([]string, error) {
	if all, ok := db.tables[table]; ok {
		return all, nil
	}
	var all []string
	err := db.Each(ctx, func(r Row) bool {
		all = append(all, r.Text("name"))
		return true
	}, `SELECT name FROM pragma_table_info(?1)
		WHERE EXISTS (SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name = ?1 COLLATE NOCASE AND type = 'table')`, table)
	if err == nil {
		db.tables[table] = all
	}
	return all, err
}

// Has reports whether a table has all the columns.
func (db *DB) Has(ctx context.Context, table string, columns ...string) (bool, error) {
	all, err := db.Columns(ctx, table)
	for _, c := range columns {
		if !slices.Contains(all, c) {
			return false, err
		}
	}
	return err == nil, err
}

// Changed is the problem of a database whose tables are not those that are known. It is no
// empty store.
func (db *DB) Changed(what string) error {
	return &harness.Problem{Path: db.path, Err: fmt.Errorf("its form is not known: there is no %s; another version of the agent may have changed it", what)}
}

// Each calls visit for every row of a query until it returns false. A row is valid until
// visit returns.
func (db *DB) Each(ctx context.Context, visit func(Row) bool, query string, args ...any) error {
	rows, err := db.f.QueryContext(ctx, query, args...)
	if err != nil {
		return &harness.Problem{Path: db.path, Err: err}
	}
	defer rows.Close()
	r, err := newRow(rows)
	if err != nil {
		return &harness.Problem{Path: db.path, Err: err}
	}
	for rows.Next() {
		if err := rows.Scan(r.into...); err != nil {
			return &harness.Problem{Path: db.path, Err: err}
		}
		if !visit(r) {
			return nil
		}
	}
	if err := rows.Err(); err != nil {
		return &harness.Problem{Path: db.path, Err: err}
	}
	return nil
}

// names are the columns of a query.
func (db *DB) names(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := db.f.QueryContext(ctx, `SELECT * FROM (`+query+`) LIMIT 0`, args...)
	if err != nil {
		return nil, &harness.Problem{Path: db.path, Err: err}
	}
	defer rows.Close()
	names, err := rows.Columns()
	return names, errors.Join(err, rows.Err())
}

// A Row is one row of a query.
type Row struct {
	columns []string
	values  []any
	into    []any
}

func newRow(rows *sql.Rows) (Row, error) {
	columns, err := rows.Columns()
	r := Row{columns: columns, values: make([]any, len(columns)), into: make([]any, len(columns))}
	for i := range r.values {
		r.into[i] = &r.values[i]
	}
	return r, err
}

// Value is the value of a column: nil, int64, float64, string or []byte.
func (r Row) Value(column string) any {
	if i := slices.Index(r.columns, column); i >= 0 {
		return r.values[i]
	}
	return nil
}

// Text is the value of a column as text, "" where it is NULL.
func (r Row) Text(column string) string {
	switch v := r.Value(column).(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	default:
		return fmt.Sprint(v)
	}
}

// Bytes is the value of a column as bytes, nil where it is NULL.
func (r Row) Bytes(column string) []byte {
	if v, ok := r.Value(column).([]byte); ok {
		return v
	}
	if r.Value(column) == nil {
		return nil
	}
	return []byte(r.Text(column))
}

// JSON is the row as an object with its columns in their order. A text of a column that is
// named stands in it as the JSON value that it is, if it is one; bytes, and texts that are
// not UTF-8, stand in it as {"base64":"…"}.
func (r Row) JSON(parsed ...string) []byte {
	out := []byte{'{'}
	for i, c := range r.columns {
		if i > 0 {
			out = append(out, ',')
		}
		out = AppendText(out, c)
		out = append(out, ':')
		out = appendValue(out, r.values[i], slices.Contains(parsed, c))
	}
	return append(out, '}')
}

func appendValue(out []byte, v any, parsed bool) []byte {
	switch v := v.(type) {
	case int64:
		return fmt.Appendf(out, "%d", v)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Appendf(out, `"%v"`, v)
		}
		text, err := json.Marshal(v)
		if err != nil {
			return append(out, "null"...)
		}
		return append(out, text...)
	case string:
		return appendString(out, v, parsed)
	case []byte:
		if parsed && utf8.Valid(v) {
			return appendString(out, string(v), true)
		}
		return appendBase64(out, v)
	case bool:
		return fmt.Appendf(out, "%t", v)
	case nil:
		return append(out, "null"...)
	case time.Time: // which the driver makes of a text in a column declared as one
		return AppendText(out, v.Format(time.RFC3339Nano))
	default:
		return AppendText(out, fmt.Sprint(v))
	}
}

func appendString(out []byte, text string, parsed bool) []byte {
	if parsed {
		if v, ok := transcript.ParseValue([]byte(text)); ok {
			return append(out, v...)
		}
	}
	if !utf8.ValidString(text) {
		return appendBase64(out, []byte(text))
	}
	return AppendText(out, text)
}

func appendBase64(out, data []byte) []byte {
	out = append(out, `{"base64":"`...)
	out = base64.StdEncoding.AppendEncode(out, data)
	return append(out, `"}`...)
}

// AppendText appends a text as JSON that says it as it is: nothing is escaped that need not be.
func AppendText(out []byte, text string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, '\\', 'n')
		case c == '\t':
			out = append(out, '\\', 't')
		case c == '\r':
			out = append(out, '\\', 'r')
		case c < 0x20:
			out = append(out, `\u00`...)
			out = append(out, hex[c>>4], hex[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
