package rows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// With opens a database, has read read it, and closes it. It does nothing, and says so, where
// there is none. An error of closing is one of reading: what was read may be no state that
// the database ever had.
func With(ctx context.Context, path string, read func(db *DB) error) (found bool, err error) {
	db, err := Open(ctx, path)
	if db == nil || err != nil {
		return false, err
	}
	err = read(db)
	if e := db.Close(); err == nil {
		err = e
	}
	return true, err
}

// Give takes one record of a transcript. Its error ends the reading and is given on.
type Give func(id string, row []byte) error

// errEnough ends a reading whose records nobody wants any more.
var errEnough = errors.New("enough")

// Tail yields what read gives of a transcript in a database, of the session whose id stands
// behind the path in its source. That the database has gone is an error: what was archived of
// it stays.
func Tail(ctx context.Context, t harness.Transcript, read func(db *DB, id string, give Give) error) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		give := func(id string, row []byte) error {
			if !yield(Record(id, row), nil) {
				return errEnough
			}
			return nil
		}
		found, err := With(ctx, t.Path, func(db *DB) error {
			return read(db, strings.TrimPrefix(t.Source, t.Path+"#"), give)
		})
		switch {
		case errors.Is(err, errEnough):
		case err != nil:
			yield(transcript.Record{}, err)
		case !found:
			yield(transcript.Record{}, &harness.Problem{Path: t.Path, Err: fs.ErrNotExist})
		}
	}
}

// A Kept is a row that was read: its values by their columns, and all of it as JSON.
type Kept struct {
	Row
	Object transcript.Value
}

// All reads all rows of a query, which are to be few or small, so that the agent's database is
// not held while something is done with them. parsed are the columns whose texts are JSON. In
// place of a value that is longer than store.MaxForeignValue stands how long it is.
func (db *DB) All(ctx context.Context, parsed []string, query string, args ...any) ([]Kept, error) {
	all, err := db.all(ctx, parsed, query, args...)
	if !store.TooBig(err) {
		return all, err
	}
	columns, err := db.names(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return db.all(ctx, parsed, bounded(query, columns), args...)
}

const orderBy = " ORDER BY "

// bounded is a query whose values are not longer than they may be. SQLite tells the length of a
// value without reading it.
func bounded(query string, columns []string) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		fmt.Fprintf(&b, `CASE WHEN octet_length(%s) >= %d THEN format('(%%d bytes: too long to be archived)', octet_length(%[1]s)) ELSE %[1]s END AS %[1]s`,
			c, store.MaxForeignValue)
	}
	// The order goes outside: else SQLite would sort the values that it is not to read.
	order := ""
	if i := strings.LastIndex(query, orderBy); i >= 0 {
		query, order = query[:i], query[i:]
	}
	return `SELECT ` + b.String() + ` FROM (` + query + `)` + order
}

func (db *DB) all(ctx context.Context, parsed []string, query string, args ...any) ([]Kept, error) {
	var all []Kept
	err := db.Each(ctx, func(r Row) bool {
		object := r.JSON(parsed...)
		r.values, r.into = slices.Clone(r.values), nil
		all = append(all, Kept{r, object})
		return true
	}, query, args...)
	return all, err
}

// Select is the columns of a table but some, as a query names them: `SELECT ` + it.
func (db *DB) Select(ctx context.Context, alias, table string, but ...string) (string, error) {
	all, err := db.Columns(ctx, table)
	var b strings.Builder
	for _, c := range all {
		if slices.Contains(but, c) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(alias + `."` + strings.ReplaceAll(c, `"`, `""`) + `"`)
	}
	return b.String(), err
}
