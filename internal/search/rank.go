package search

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/store"
)

// Ranking. A turn's relevance is its BM25 over the whole archive, whatever the
// scope, so that a word weighs the same in every project, and every turn that
// passes scope and filters takes part. There are two ways to the same answer,
// to the last bit of every score: reading FTS5's matches directly (direct.go),
// and where this build of SQLite does not allow that, the plain statement
// (plain.go), which takes up to ten times as long.
//
// Many turns may share the score at which the best are cut off ("ok", a hundred
// times over). Which of them are kept is then decided by the whole order.

// seqMask is the part of a search row's id that is turn_seq; the rest is the
// session's slot.
const seqMask = 1<<turnBits - 1

type candidate struct {
	Turn
	relevance float64
}

// compare is the order of hits.
func compare(a, b candidate) int {
	return cmp.Or(
		cmp.Compare(b.relevance, a.relevance),
		sidechainLast(a, b),
		newestFirst(a.TS, b.TS),
		cmp.Compare(a.ID, b.ID),
	)
}

func sidechainLast(a, b candidate) int {
	switch {
	case a.Session.Sidechain == b.Session.Sidechain:
		return 0
	case b.Session.Sidechain:
		return -1
	}
	return 1
}

func newestFirst(a, b *string) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return strings.Compare(*b, *a)
}

// rank gives the best candidates of q in the order of hits.
func (s *Snapshot) rank(ctx context.Context, v View, q Query, match string) ([]candidate, error) {
	if !s.r.plain.Load() {
		found, err := s.direct(ctx, v, q, match)
		if !errors.Is(err, store.ErrNoCollect) {
			return found, err
		}
		s.r.plain.Store(true)
	}
	return s.plain(ctx, v, q, match)
}

// onTurn renders the query's conditions on turns as t.
func (q Query) onTurn() (string, []any) {
	var terms []string
	var args []any
	for _, f := range []struct{ cond, value string }{
		{"t.record_type = ?", q.Kind},
		{"t.tool_name = ?", q.Tool},
		{"t.ts >= ?", q.Since},
		{"t.ts <= ?", q.Until},
	} {
		if f.value != "" {
			terms = append(terms, f.cond)
			args = append(args, f.value)
		}
	}
	if len(q.Paths) > 0 {
		list, listArgs := among(q.Paths)
		terms = append(terms, `t.id IN (SELECT e.turn`+namesPath+list+`)`)
		args = append(args, listArgs...)
	}
	if len(q.sessions) > 0 {
		terms = append(terms, `t.id >> 24 IN (`+marks(len(q.sessions))+`)`)
		for _, no := range q.sessions {
			args = append(args, no)
		}
	}
	return strings.Join(terms, " AND "), args
}

// A scored row is a search row with its relevance.
type scoredRow struct {
	row       int64
	relevance float64
}

// settle looks up those of the scored rows that pass the query's filters, and
// gives the best candidates in the order of hits. Rows of the best scores are
// looked up first, with all that share the last of these scores, and further
// ones only while there are too few.
func (s *Snapshot) settle(ctx context.Context, q Query, rows []scoredRow) ([]candidate, error) {
	const growth = 4 // a filter that keeps one row in a thousand takes five rounds
	rows, err := s.naming(ctx, q.Paths, rows)
	if err != nil {
		return nil, err
	}
	var found []candidate
	for n := candidates; len(rows) > 0 && len(found) < candidates; n *= growth {
		k := selectBest(rows, n)
		more, err := s.lookUp(ctx, q, rows[:k])
		if err != nil {
			return nil, err
		}
		found, rows = append(found, more...), rows[k:]
	}
	slices.SortFunc(found, compare)
	return found[:min(len(found), candidates)], nil
}

// lookUp gives those of the rows that pass the query's filters.
func (s *Snapshot) lookUp(ctx context.Context, q Query, rows []scoredRow) ([]candidate, error) {
	slices.SortFunc(rows, func(a, b scoredRow) int { return cmp.Compare(a.row, b.row) })
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.row
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	query := `SELECT hit.key, ` + turnColumns + ` FROM json_each(?) hit
		CROSS JOIN sessions s ON s.slot = hit.value >> 24
		CROSS JOIN turns t ON t.id = (s.session_no << 24 | (hit.value & 0xffffff))
		LEFT JOIN session_meta m ON m.session_key = s.session_key`
	args := []any{string(list)}
	if cond, condArgs := q.onTurn(); condArgs != nil {
		query += ` WHERE ` + cond
		args = append(args, condArgs...)
	}
	var out []candidate
	err = s.each(ctx, func(r *sql.Rows) error {
		var c candidate
		var i int
		if err := r.Scan(append([]any{&i}, c.targets()...)...); err != nil {
			return err
		}
		c.relevance = rows[i].relevance
		out = append(out, c)
		return nil
	}, query, args...)
	return out, err
}

// selectBest moves the n rows of the highest relevance to the front, in no
// order, and with them all others that share the lowest relevance among them.
// It returns how many these are. Its time grows with the number of rows alone.
func selectBest(rows []scoredRow, n int) int {
	low, high := 0, len(rows)
	if n >= high {
		return high
	}
	for {
		// Rows before low are better than those from it on, those from high on
		// worse; the n-th lies between.
		a, b, c := rows[low].relevance, rows[(low+high)/2].relevance, rows[high-1].relevance
		pivot := max(min(a, b), min(max(a, b), c))
		better, i, worse := low, low, high
		for i < worse {
			switch r := rows[i].relevance; {
			case r > pivot:
				rows[i], rows[better] = rows[better], rows[i]
				better++
				i++
			case r < pivot:
				worse--
				rows[i], rows[worse] = rows[worse], rows[i]
			default:
				i++
			}
		}
		switch {
		case n <= better:
			high = better
		case n <= worse:
			return worse
		default:
			low = worse
		}
	}
}
