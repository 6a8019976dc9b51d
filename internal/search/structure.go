package search

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/index"
)

// The structural weight. Beside its BM25 a turn gains for each entity that the
// query names: the natural logarithm of how rare the entity is among all
// turns, whatever the scope, twice where it is the whole query.
const (
	exactWeight   = 2.0 // the value is the query, word for word
	coveredWeight = 1.0 // the query holds all its words
)

// A weighed candidate knows what it was matched on.
type weighed struct {
	candidate
	entityScore float64
	matched     []Match // sorted, distinct
}

// weigh adds the structural weight to the relevance of candidates and puts
// them in the order of hits.
func (s *Snapshot) weigh(ctx context.Context, candidates []candidate, terms []string) ([]weighed, error) {
	out := make([]weighed, len(candidates))
	at := make(map[int64]int, len(candidates))
	for i, c := range candidates {
		out[i].candidate = c
		at[c.ID] = i
	}
	ids := make([]any, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ID
	}
	named, err := s.named(ctx, ids, derive.NamesOf(terms))
	if err != nil || len(named) == 0 {
		return out, err
	}
	total, err := s.turnsInAll(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range named {
		turns, err := s.carriers(ctx, n.id, noLimit)
		if err != nil {
			return nil, err
		}
		weight := n.weight(total, turns)
		for _, turn := range n.turns {
			w := &out[at[turn]]
			w.entityScore += weight
			w.matched = append(w.matched, n.Match)
		}
	}
	for i := range out {
		out[i].relevance += out[i].entityScore
	}
	slices.SortFunc(out, func(a, b weighed) int { return compare(a.candidate, b.candidate) })
	return out, nil
}

// A namedEntity is an entity that the query names, and which of the turns asked
// about carry it.
type namedEntity struct {
	Match
	id     int64
	factor float64
	turns  []int64
}

// weight is what a turn gains for the entity, of which turns of total carry it.
func (n *namedEntity) weight(total, turns int64) float64 {
	return math.Log(1+float64(total)/float64(max(turns, 1))) * n.factor
}

// noLimit is the LIMIT of SQLite that is none.
const noLimit = -1

// carriers counts the turns that carry an entity, up to limit.
func (s *Snapshot) carriers(ctx context.Context, id, limit int64) (n int64, err error) {
	err = s.tx.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM entities WHERE value = ? LIMIT ?)`, id, limit).Scan(&n)
	return n, s.r.wrap(err)
}

// named finds the entities of turns that a query names, sorted: a sum over them
// is then the same in every run.
func (s *Snapshot) named(ctx context.Context, ids []any, names *derive.Names) ([]*namedEntity, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	// What turns carry, then what that is: many carry the same.
	carried := map[int64][]int64{} // turns by the entity's id
	err := s.each(ctx, func(rows *sql.Rows) error {
		var turn, id int64
		if err := rows.Scan(&turn, &id); err != nil {
			return err
		}
		carried[id] = append(carried[id], turn)
		return nil
	}, `SELECT turn, value FROM entities WHERE turn IN (`+marks(len(ids))+`)`, ids...)
	if err != nil || len(carried) == 0 {
		return nil, err
	}
	list, err := json.Marshal(slices.Collect(maps.Keys(carried)))
	if err != nil {
		return nil, err
	}
	var out []*namedEntity
	err = s.each(ctx, func(rows *sql.Rows) error {
		var id int64
		var kind, value sql.RawBytes
		if err := rows.Scan(&id, &kind, &value); err != nil {
			return err
		}
		named, exact := names.Match(string(value))
		if !named {
			return nil
		}
		e := &namedEntity{Match: Match{string(kind), string(value)}, id: id, factor: coveredWeight, turns: carried[id]}
		if exact {
			e.factor = exactWeight
		}
		out = append(out, e)
		return nil
	}, `SELECT v.id, v.kind, v.value FROM json_each(?) j CROSS JOIN entity_values v ON v.id = j.value`, string(list))
	slices.SortFunc(out, func(a, b *namedEntity) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
	})
	return out, err
}

// namesPath begins the rest of a statement on the entities e that are one of a
// list of paths.
const namesPath = ` FROM entity_values v JOIN entities e ON e.value = v.id WHERE v.kind = 'path' AND v.value IN `

// naming keeps those of the scored rows whose turns name one of paths, all of
// them where none is asked for. A path is named by few turns, so these are
// read once in place of a look-up for each row.
func (s *Snapshot) naming(ctx context.Context, paths []string, rows []scoredRow) ([]scoredRow, error) {
	if len(paths) == 0 || len(rows) == 0 {
		return rows, nil
	}
	named := map[int64]bool{}
	list, args := among(paths)
	err := s.each(ctx, func(r *sql.Rows) error {
		var slot, turn int64
		if err := r.Scan(&slot, &turn); err != nil {
			return err
		}
		named[slot<<turnBits|turn&seqMask] = true
		return nil
	}, `SELECT s.slot, e.turn FROM (SELECT DISTINCT e.turn`+namesPath+list+`) e
	    CROSS JOIN sessions s ON s.session_no = e.turn >> 24 WHERE s.slot IS NOT NULL`, args...)
	return slices.DeleteFunc(rows, func(r scoredRow) bool { return !named[r.row] }), err
}

// turnsInAll counts the turns of the whole archive. The lengths hold one number
// for each turn of a session, so that no turn is read.
func (s *Snapshot) turnsInAll(ctx context.Context) (n int64, err error) {
	err = s.tx.QueryRowContext(ctx, `SELECT coalesce(sum(length(counts)), 0) / ? FROM lengths`, index.LengthBytes).Scan(&n)
	return n, s.r.wrap(err)
}
