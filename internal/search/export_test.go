package search

import (
	"context"

	"github.com/terminus-archive/terminus/internal/derive"
)

// Candidates is how many turns are weighed further.
const Candidates = candidates

// A Ranked turn is one that ranking gave.
type Ranked struct {
	ID        int64
	Relevance float64
}

// Rank ranks q by the plain statement, or by reading the index directly.
func (r *Reader) Rank(ctx context.Context, q Query, plain bool) ([]Ranked, error) {
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	v, err := snap.View(ctx, q.Scope)
	if err != nil {
		return nil, err
	}
	terms, _ := derive.Terms(q.Words)
	way := snap.direct
	if plain {
		way = snap.plain
	}
	found, err := way(ctx, v, q, derive.Match(terms))
	out := make([]Ranked, 0, len(found))
	for _, c := range found {
		out = append(out, Ranked{c.ID, c.relevance})
	}
	return out, err
}

// MakePlain has the Reader never read the index directly.
func (r *Reader) MakePlain() { r.plain.Store(true) }

// Plain reports that the Reader gave up reading the index directly.
func (r *Reader) Plain() bool { return r.plain.Load() }

// SetPlain makes the Reader rank by the plain statement alone.
func (r *Reader) SetPlain(plain bool) { r.plain.Store(plain) }

// SearchRows is the number of rows that the search table says it has.
func (r *Reader) SearchRows(ctx context.Context) (int64, error) {
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	defer snap.Close()
	return snap.searchRows(ctx)
}
