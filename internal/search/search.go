// Package search owns the reading side of the store: which part of the archive
// a request may see, the one Query type with all its filters, the ranking of
// hits, the list of sessions, the numbers of the store, and the look-up of
// turns and of their archived text.
//
// It promises that exclusion, scope and the egress filter are applied here and
// nowhere else, for every surface at once: what a View does not show, no
// function of this package returns. It writes nothing, reads no environment and
// no clock, and is the only package that joins the archive's tables with those
// of the index.
package search

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/redact"
	"github.com/terminus-archive/terminus/internal/store"
)

// A Reader answers requests from one store. It is safe for concurrent use.
//
// A machine without a store has a Reader as well: every request is then an
// empty answer with a reason, and nothing is created.
type Reader struct {
	db      *store.DB // nil: there is no store
	path    string
	exclude *config.Exclusions
	filter  redact.Filter
	plain   atomic.Bool // the search index is not read directly
	proven  atomic.Bool // reading it directly gave what FTS5 gives
}

// Open opens the store of cfg's data directory for reading. A store that is
// there and cannot be used is an error (a *store.Error).
func Open(ctx context.Context, cfg *config.Config) (*Reader, error) {
	return open(cfg, func(path string) (*store.DB, error) { return store.OpenReader(ctx, path) })
}

// OpenStill is Open that makes no file; unread and its price are those of
// store.OpenStill.
func OpenStill(ctx context.Context, cfg *config.Config) (r *Reader, unread bool, err error) {
	r, err = open(cfg, func(path string) (db *store.DB, err error) {
		db, unread, err = store.OpenStill(ctx, path)
		return db, err
	})
	return r, unread, err
}

func open(cfg *config.Config, openStore func(path string) (*store.DB, error)) (*Reader, error) {
	r := &Reader{path: store.Path(cfg.DataDir), exclude: cfg.Exclude, filter: redact.New(cfg.Privacy.RedactRecall)}
	db, err := openStore(r.path)
	if errors.Is(err, store.ErrNoStore) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.db = db
	return r, nil
}

// Filter is the egress filter of the configuration. What a surface hands out
// that does not come from a Snapshot goes through it, before it is cut.
func (r *Reader) Filter() redact.Filter { return r.filter }

// Close releases the store.
func (r *Reader) Close() error {
	if r.db == nil {
		return nil
	}
	return r.db.Close()
}

// Older reports that another build derived what the store holds. Answers are
// still given; the next pass derives everything again.
func (r *Reader) Older() bool { return r.db != nil && r.db.Older }

// A Snapshot is one state of the store, in which a request does all of its
// reading. It holds a read transaction: it is closed before its results are
// handed to anybody who may take long over them. It is for one goroutine.
type Snapshot struct {
	r  *Reader
	tx *tx // nil: there is no store, and every View of it has a reason
	// filter is what text goes through: the configuration's, unless Raw lifted it.
	filter redact.Filter
	proj   derive.Projector
	read   map[int64][]byte // by turn id: what Prefetch read
}

// Snapshot opens a Snapshot.
func (r *Reader) Snapshot(ctx context.Context) (*Snapshot, error) {
	s := &Snapshot{r: r, filter: r.filter}
	if r.db == nil {
		return s, nil
	}
	tx, err := begin(ctx, r.db.DB)
	if err != nil {
		return nil, r.wrap(err)
	}
	s.tx = tx
	return s, nil
}

// Stored reports whether there is a store.
func (s *Snapshot) Stored() bool { return s.tx != nil }

// Raw lifts the egress filter for s if raw: the request asked for text as it is.
func (s *Snapshot) Raw(raw bool) {
	if raw {
		s.filter = redact.None
	}
}

// Close ends the read transaction.
func (s *Snapshot) Close() {
	if s.tx != nil {
		_ = s.tx.Rollback() // nothing was written: there is nothing to lose
	}
}

func (r *Reader) wrap(err error) error { return store.Wrap("read", r.path, err) }

// each runs a statement and calls scan for each of its rows.
func (s *Snapshot) each(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := s.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return s.r.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return s.r.wrap(err)
		}
	}
	return s.r.wrap(rows.Err())
}
