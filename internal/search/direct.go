package search

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/store"
)

// The parameters of FTS5's BM25.
const (
	bm25K1       = 1.2
	bm25B        = 0.75
	bm25LeastIDF = 1e-6
)

// direct ranks by what FTS5 knows of the rows that match, without asking it for
// their scores. It is store.ErrNoCollect where that cannot be done.
func (s *Snapshot) direct(ctx context.Context, v View, q Query, match string) ([]candidate, error) {
	c, err := store.NewCollector(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r, err := s.reach(ctx, v, q)
	if err != nil {
		return nil, err
	}
	c.Keep, c.All = r.keep, true
	if err := s.collect(ctx, c, r.spans, match); err != nil {
		return nil, err
	}
	if len(c.Rows) == 0 {
		return nil, nil
	}
	rows, err := s.score(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := s.prove(ctx, c, match, rows); err != nil {
		return nil, err
	}
	return s.settle(ctx, q, rows)
}

// collect runs the expression, over the spans where the collector goes row by
// row; nil are all rows.
func (s *Snapshot) collect(ctx context.Context, c *store.Collector, spans []span, match string) error {
	const statement = `SELECT 1 FROM turns_fts WHERE turns_fts MATCH ? AND rowid BETWEEN ? AND ?
		AND ` + store.CollectFunction + `(turns_fts, ?) LIMIT 1`
	c.Whole = c.All || spans == nil
	if c.Whole {
		spans = []span{{math.MinInt64, math.MaxInt64}}
	}
	for _, p := range spans {
		err := s.each(ctx, func(*sql.Rows) error { return nil }, statement, match, p.first, p.last, c.Handle())
		if err := store.CollectError(err); err != nil {
			return err
		}
	}
	return nil
}

// A span is a range of search rows, both ends included.
type span struct{ first, last int64 }

// A reach is the part of the search table that a view shows: the rows in the
// spans of whose slots keep holds.
type reach struct {
	spans []span                // nil: all rows
	keep  func(slot int64) bool // nil: all slots
}

// maxSpans is how many ranges are searched one by one. Each costs a descent for
// every word; a view of more is taken from a pass over the whole table.
const maxSpans = 8

// reach turns a view, and the sessions that a query names, into slots.
func (s *Snapshot) reach(ctx context.Context, v View, q Query) (reach, error) {
	cond, args := v.where()
	listed := len(q.sessions) > 0 || len(v.harnesses) > 0
	switch {
	case len(q.sessions) > 0:
		v.all = false
		cond += ` AND s.session_no IN (` + marks(len(q.sessions)) + `)`
		for _, no := range q.sessions {
			args = append(args, no)
		}
	case args == nil:
		return reach{}, nil
	case listed:
		v.all = false
	case v.all:
		// Everything but a little: what is left out is the shorter list. It has
		// metadata, like whatever lies in a project.
		cond = `NOT (` + cond + `)`
	}
	from := `session_meta m CROSS JOIN sessions s ON s.session_key = m.session_key`
	if listed {
		from = `sessions s LEFT JOIN session_meta m ON m.session_key = s.session_key` // it may lack metadata
	}
	var slots slotSet
	err := s.each(ctx, func(rows *sql.Rows) error {
		var slot int64
		if err := rows.Scan(&slot); err != nil {
			return err
		}
		slots = append(slots, slot)
		return nil
	}, `SELECT s.slot FROM `+from+` WHERE s.slot IS NOT NULL AND `+cond, args...)
	slices.Sort(slots)
	if err != nil {
		return reach{}, err
	}
	if v.all {
		return reach{keep: func(slot int64) bool { return !slots.has(slot) }}, nil
	}
	r := reach{keep: slots.has, spans: slots.spans()}
	if len(r.spans) > maxSpans {
		r.spans = nil
	}
	return r, nil
}

// A slotSet is a set of slots, ascending.
type slotSet []int64

func (b slotSet) has(slot int64) bool {
	_, ok := slices.BinarySearch(b, slot)
	return ok
}

// spans are the ranges of rows that hold the slots of the set and, of other
// slots, only those between two of one block: a project owns the whole block.
// They are never nil.
func (b slotSet) spans() []span {
	out := []span{}
	last := int64(-1)
	for _, slot := range b {
		if n := len(out); n == 0 || slot>>archive.SlotBits != last>>archive.SlotBits && slot != last+1 {
			out = append(out, span{first: slot << turnBits})
		}
		out[len(out)-1].last = slot<<turnBits | seqMask
		last = slot
	}
	return out
}

// A scorer computes what bm25() of FTS5 gives for one query, with its sign
// turned. It works in FTS5's order of operations: another order, or one
// operation fused with the next, changes last bits. Variables stand where
// constants would be folded exactly.
type scorer struct {
	idf                []float64
	average            float64 // tokens of a row
	k1, b, k1Up, lessB float64
}

func newScorer(c *store.Collector) scorer {
	s := scorer{average: float64(c.TotalTokens) / float64(c.TotalRows), k1: bm25K1, b: bm25B}
	one := float64(1)
	s.k1Up, s.lessB = s.k1+one, one-s.b
	for _, n := range c.RowsWith() {
		idf := store.Log((float64(c.TotalRows-n) + 0.5) / (float64(n) + 0.5))
		if idf <= 0 {
			idf = bm25LeastIDF
		}
		s.idf = append(s.idf, idf)
	}
	return s
}

// score is the relevance of a row of that many tokens.
func (s *scorer) score(freq []uint32, tokens int64) float64 {
	norm := float64(s.k1 * (s.lessB + float64(s.b*float64(tokens))/s.average))
	var sum float64
	for i, idf := range s.idf {
		f := float64(freq[i])
		sum += float64(idf * (float64(f*s.k1Up) / (f + norm)))
	}
	return sum
}

// score scores all rows that were collected.
func (s *Snapshot) score(ctx context.Context, c *store.Collector) ([]scoredRow, error) {
	w := scoring{scorer: newScorer(c), c: c, out: make([]scoredRow, 0, len(c.Rows))}
	sessions := bySlot(c.Rows)
	from, args, err := lengthsOf(sessions)
	if err != nil {
		return nil, err
	}
	err = s.each(ctx, func(rows *sql.Rows) error {
		var slot int64
		var counts sql.RawBytes
		if err := rows.Scan(&slot, &counts); err != nil {
			return err
		}
		for len(sessions) > 0 && sessions[0].slot < slot { // it has no lengths
			w.session(sessions[0], nil)
			sessions = sessions[1:]
		}
		if len(sessions) > 0 && sessions[0].slot == slot {
			w.session(sessions[0], counts)
			sessions = sessions[1:]
		}
		return nil
	}, `SELECT l.slot, l.counts FROM `+from+` ORDER BY l.slot`, args...)
	if err != nil {
		return nil, err
	}
	for _, r := range sessions {
		w.session(r, nil)
	}
	return w.out, s.askLengths(ctx, &w)
}

// denseShare: where one session in so many of a range holds a match, the
// lengths of the whole range are read in one go.
const denseShare = 4

// lengthsOf renders where the lengths of sessions are read, as l.
func lengthsOf(sessions []slotRows) (from string, args []any, err error) {
	low, high := sessions[0].slot, sessions[len(sessions)-1].slot
	if int64(len(sessions))*denseShare > high-low {
		return `lengths l WHERE l.slot BETWEEN ? AND ?`, []any{low, high}, nil
	}
	slots := make([]int64, len(sessions))
	for i, r := range sessions {
		slots[i] = r.slot
	}
	list, err := json.Marshal(slots)
	return `json_each(?) j CROSS JOIN lengths l ON l.slot = j.value`, []any{string(list)}, err
}

// slotRows are the rows of one session among those collected: from first to
// before end.
type slotRows struct {
	slot       int64
	first, end int
}

func bySlot(rows []int64) []slotRows {
	var out []slotRows
	for i, row := range rows {
		if slot := row >> turnBits; len(out) == 0 || out[len(out)-1].slot != slot {
			out = append(out, slotRows{slot: slot, first: i})
		}
		out[len(out)-1].end = i + 1
	}
	return out
}

type scoring struct {
	scorer
	c     *store.Collector
	out   []scoredRow
	asked []int // rows whose length only FTS5 knows
}

// session scores the rows of one session.
func (w *scoring) session(r slotRows, counts []byte) {
	for i := r.first; i < r.end; i++ {
		tokens := int64(0)
		if at := (w.c.Rows[i] & seqMask) * index.LengthBytes; at+index.LengthBytes <= int64(len(counts)) {
			tokens = int64(binary.LittleEndian.Uint16(counts[at:]))
		}
		if tokens == 0 || tokens == index.LongLength {
			w.asked = append(w.asked, i)
			continue
		}
		w.row(i, tokens)
	}
}

func (w *scoring) row(i int, tokens int64) {
	n := w.c.Phrases
	w.out = append(w.out, scoredRow{w.c.Rows[i], w.score(w.c.Freq[i*n:(i+1)*n], tokens)})
}

// askLengths scores the rows whose length is not in lengths.
func (s *Snapshot) askLengths(ctx context.Context, w *scoring) error {
	if len(w.asked) == 0 {
		return nil
	}
	ids := make([]int64, len(w.asked))
	for i, at := range w.asked {
		ids[i] = w.c.Rows[at]
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return s.each(ctx, func(rows *sql.Rows) error {
		var i int
		var size sql.RawBytes
		if err := rows.Scan(&i, &size); err != nil {
			return err
		}
		tokens, err := index.DecodeLength(size)
		if err != nil {
			return fmt.Errorf("search row %d: %w", ids[i], err)
		}
		w.row(w.asked[i], tokens)
		return nil
	}, `SELECT j.key, d.sz FROM json_each(?) j CROSS JOIN turns_fts_docsize d ON d.id = j.value`, string(list))
}

// provenWithin bounds the proof: FTS5 reads every row that holds a word of the
// query to score one of them.
const provenWithin = 2000

// prove compares one score with FTS5's own, once a Reader, at a query for which
// FTS5 does not take long; at another the store proves it on a table of its
// own. It is store.ErrNoCollect where they differ.
func (s *Snapshot) prove(ctx context.Context, c *store.Collector, match string, rows []scoredRow) error {
	var cost int64
	for _, n := range c.RowsWith() {
		cost += n
	}
	switch {
	case s.r.proven.Load() || len(rows) == 0:
		return nil
	case cost > provenWithin:
		if !store.Collects() {
			return store.ErrNoCollect
		}
		return nil
	}
	var score float64
	err := s.tx.QueryRowContext(ctx, `SELECT bm25(turns_fts) FROM turns_fts WHERE turns_fts MATCH ? AND rowid = ?`,
		match, rows[0].row).Scan(&score)
	if err != nil {
		return s.r.wrap(err)
	}
	if -score != rows[0].relevance {
		return fmt.Errorf("%w: row %d scores %v in place of %v", store.ErrNoCollect, rows[0].row, rows[0].relevance, -score)
	}
	s.r.proven.Store(true)
	return nil
}
