package search

import (
	"context"
	"database/sql"
	"slices"

	"github.com/terminus-archive/terminus/internal/project"
)

// Each runs a query of the package that owns the table it reads, and calls scan
// for each row. Without a store there are none. What the rows say of a session
// is to be shown only where Hides allows it.
func (s *Snapshot) Each(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	if s.tx == nil {
		return nil
	}
	return s.each(ctx, scan, query, args...)
}

// HasTable reports whether the store has a table: one that another build made may lack it.
// Without a store there is none.
func (s *Snapshot) HasTable(ctx context.Context, name string) (bool, error) {
	n := 0
	err := s.Each(ctx, func(rows *sql.Rows) error { return rows.Scan(&n) },
		`SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?`, name)
	return n > 0, err
}

// NoStore is the reason of a request that needs a store where there is none; ""
// where there is one.
func (s *Snapshot) NoStore() string {
	if s.tx != nil {
		return ""
	}
	return NoStore(s.r.path)
}

// Hides reports whether the configuration excludes what was done in dir: by its
// name, by where its links lead, by its project on the disk or in the archive.
func (s *Snapshot) Hides(ctx context.Context, dir string) (bool, error) {
	if dir == "" || len(s.r.exclude.List()) == 0 {
		return false, nil
	}
	if slices.ContainsFunc(project.Places(dir), s.r.exclude.Covers) {
		return true, nil
	}
	if s.tx == nil {
		return false, nil
	}
	keys, err := s.keys(ctx)
	return slices.ContainsFunc(covering(keys, spellings(dir)), s.r.exclude.Covers), err
}
