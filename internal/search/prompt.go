package search

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/store"
)

// The lookup of a prompt has to answer within milliseconds whatever is archived,
// so that what it costs is known before it is done. Spellings whose words stand
// in few rows are searched for and ranked like any query, over the whole archive.
// A spelling of frequent words ("server/index.go" where every session has a
// server) is narrowed: it finds the turns that name it in a structured field,
// byte for byte, of them the newest. Only turns that name something can be handed
// over on a prompt, so what a narrowed spelling gives up is mostly the company
// they are ranked in.

const (
	// rankedRows bounds the rows in which the words of the searched spellings
	// stand, counted once for each time that a word is asked for. To read them and
	// to count them for BM25 takes a third of a microsecond a row; to look up a
	// session for each, should they all lie in different ones, five.
	rankedRows = 2000
	// countedRows bounds the rows that are counted to find that out. When they are
	// used up, a word may still stand in countedLeast rows, so that what is frequent
	// does not take what is rare with it.
	countedRows  = 2 * rankedRows
	countedLeast = 100
	// smallRows is a product of rows and words below which nothing is counted: it
	// would cost more than what it may save.
	smallRows = 2 * rankedRows
	// commonEntity is the number of turns from which on those of an entity are not
	// counted: it then weighs as one that every eighth turn carries, about like
	// the name of a tool.
	commonEntity = 1000
	commonShare  = 8
)

// A PromptQuery asks for the turns that a prompt may be about.
type PromptQuery struct {
	// Spellings are what the prompt names. A turn holds all words of one of them.
	Spellings []string
	// Words are compared with the entities of the turns found.
	Words string
	// Limit is how many hits will be looked at. There may be more, and fewer.
	Limit int
	// Before bounds the turn ids from above; 0 is no bound.
	Before int64
	// Pass says which turns a narrowed spelling passes over, so that the newest
	// ones, which the asking session sees anyway, do not hide the rest. nil passes
	// over none.
	Pass func(id int64) bool
}

// A PromptHit is a turn that a prompt may be about.
type PromptHit struct {
	ID          int64
	TS          *string
	ToolResult  bool // it carries what a tool answered
	Relevance   float64
	EntityScore float64
	MatchedOn   []Match // sorted, never nil

	sidechain bool
}

// PromptHits finds the turns that q is about, at most a few hundred, in the order
// of hits: see Find.
func (s *Snapshot) PromptHits(ctx context.Context, v View, q PromptQuery) ([]PromptHit, error) {
	if v.Reason != "" {
		return nil, nil
	}
	total, err := s.searchRows(ctx)
	if err != nil {
		return nil, err
	}
	p := prompting{s: s, view: v, q: q, total: total, sessions: map[int64]*member{}}
	if err := p.search(ctx); err != nil {
		return nil, err
	}
	if err := p.narrow(ctx); err != nil {
		return nil, err
	}
	if err := p.weigh(ctx); err != nil {
		return nil, err
	}
	if err := p.describe(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(p.hits, func(a, b PromptHit) int { return compare(a.candidate(), b.candidate()) })
	return p.hits, nil
}

// candidate is what compare looks at.
func (h *PromptHit) candidate() candidate {
	return candidate{Turn: Turn{ID: h.ID, TS: h.TS, Session: Owner{Sidechain: h.sidechain}}, relevance: h.Relevance}
}

type prompting struct {
	s        *Snapshot
	view     View
	q        PromptQuery
	total    int64 // rows of the search table
	searched [][]string
	narrowed []string
	sessions map[int64]*member // those met while narrowing, nil for one out of view
	hits     []PromptHit
}

// search ranks what the spellings find that can be searched for in time. What
// they are is decided first.
func (p *prompting) search(ctx context.Context) error {
	if err := p.divide(ctx); err != nil {
		return err
	}
	match := derive.MatchAny(p.searched)
	if match == "" {
		return nil
	}
	if !p.s.r.plain.Load() {
		err := p.direct(ctx, match)
		if !errors.Is(err, store.ErrNoCollect) {
			return err
		}
		p.s.r.plain.Store(true)
		p.hits = nil
	}
	found, err := p.s.plain(ctx, p.view, Query{}, match)
	for _, c := range found {
		p.add(c.ID, c.relevance, c.Session.Sidechain)
	}
	return err
}

// divide settles which spellings are searched and which are narrowed.
func (p *prompting) divide(ctx context.Context) error {
	lists := make([][]string, len(p.q.Spellings))
	words := 0
	for i, spelling := range p.q.Spellings {
		lists[i], _ = derive.Terms(spelling)
		words += len(lists[i])
	}
	if p.total*int64(words) <= smallRows {
		p.searched = lists
		return nil
	}
	b := budget{s: p.s, rows: rankedRows, counts: countedRows, known: map[string]int64{}}
	for i, terms := range lists {
		fits, err := b.takes(ctx, terms)
		if err != nil {
			return err
		}
		if fits {
			p.searched = append(p.searched, terms)
		} else {
			p.narrowed = append(p.narrowed, p.q.Spellings[i])
		}
	}
	return nil
}

// A budget is what may still be read for a prompt, in rows.
type budget struct {
	s            *Snapshot
	rows, counts int64
	known        map[string]int64 // rows of a word, by its spelling
}

// takes reports whether the rows of terms can be read within the budget, and
// takes them from it.
func (b *budget) takes(ctx context.Context, terms []string) (bool, error) {
	var cost int64
	for _, term := range terms {
		n, ok := b.known[term]
		if !ok {
			limit := min(b.rows, max(b.counts, countedLeast)) + 1
			err := b.s.tx.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM turns_fts WHERE turns_fts MATCH ? LIMIT ?)`,
				derive.Match([]string{term}), limit).Scan(&n)
			if err != nil {
				return false, b.s.r.wrap(err)
			}
			b.counts = max(b.counts-n, 0)
			if n == limit {
				n = rankedRows + 1 // too many, however many they are
			}
			b.known[term] = n
		}
		if cost += n; cost > b.rows {
			return false, nil
		}
	}
	b.rows -= cost
	return true, nil
}

// add takes in a turn that passed the view.
func (p *prompting) add(id int64, relevance float64, sidechain bool) {
	if p.q.Before == 0 || id < p.q.Before {
		p.hits = append(p.hits, PromptHit{ID: id, Relevance: relevance, sidechain: sidechain, MatchedOn: []Match{}})
	}
}

// direct ranks as Snapshot.direct does, with all rows collected and those out of
// view dropped afterwards: there are few, and to list the sessions of a project
// first would take longer.
func (p *prompting) direct(ctx context.Context, match string) error {
	c, err := store.NewCollector(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	// Row by row, also for a single spelling: the walks along whole phrases set
	// aside memory for many rows.
	if err := p.s.collect(ctx, c, nil, match); err != nil {
		return err
	}
	sessions := bySlot(c.Rows)
	slots := make([]int64, len(sessions))
	for i, r := range sessions {
		slots[i] = r.slot
	}
	members, err := p.members(ctx, "s.slot", slots)
	if err != nil {
		return err
	}
	p.keep(c, members)
	if len(c.Rows) == 0 {
		return nil
	}
	rows, err := p.s.score(ctx, c)
	if err != nil {
		return err
	}
	if err := p.s.prove(ctx, c, match, rows); err != nil {
		return err
	}
	// Of rows with the score at the cut the newer ones are kept.
	best := rows[:selectBest(rows, candidates)]
	slices.SortFunc(best, func(a, b scoredRow) int {
		return cmp.Or(cmp.Compare(b.relevance, a.relevance), cmp.Compare(b.row, a.row))
	})
	for _, r := range best[:min(len(best), candidates)] {
		m := members[r.row>>turnBits]
		p.add(m.no<<turnBits|r.row&seqMask, r.relevance, m.sidechain)
	}
	return nil
}

// keep drops the rows that are out of view, or out of the bound on ids.
func (p *prompting) keep(c *store.Collector, members map[int64]member) {
	n := 0
	for i, row := range c.Rows {
		m, ok := members[row>>turnBits]
		if !ok || p.q.Before != 0 && m.no<<turnBits|row&seqMask >= p.q.Before {
			continue
		}
		c.Rows[n] = row
		copy(c.Freq[n*c.Phrases:(n+1)*c.Phrases], c.Freq[i*c.Phrases:(i+1)*c.Phrases])
		n++
	}
	c.Rows, c.Freq = c.Rows[:n], c.Freq[:n*c.Phrases]
}

// A member is a session in view.
type member struct {
	no        int64
	sidechain bool
}

// members looks up those of the sessions in view whose column is one of values,
// by that value.
func (p *prompting) members(ctx context.Context, column string, values []int64) (map[int64]member, error) {
	list, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	cond, args := p.view.where()
	out := make(map[int64]member, len(values))
	err = p.s.each(ctx, func(rows *sql.Rows) error {
		var value int64
		var m member
		if err := rows.Scan(&value, &m.no, &m.sidechain); err != nil {
			return err
		}
		out[value] = m
		return nil
	}, `SELECT j.value, s.session_no, m.parent_session_key IS NOT NULL
		FROM json_each(?) j CROSS JOIN sessions s ON `+column+` = j.value
		LEFT JOIN session_meta m ON m.session_key = s.session_key WHERE `+cond, append([]any{string(list)}, args...)...)
	return out, err
}

// weigh adds what the turns gain for the entities that the prompt names.
func (p *prompting) weigh(ctx context.Context) error {
	ids := make([]any, len(p.hits))
	at := make(map[int64]int, len(p.hits))
	for i, h := range p.hits {
		ids[i], at[h.ID] = h.ID, i
	}
	terms, _ := derive.Terms(p.q.Words)
	named, err := p.s.named(ctx, ids, derive.NamesOf(terms))
	if err != nil || len(named) == 0 {
		return err
	}
	total := p.total
	if total <= commonEntity*commonShare { // the table of lengths is small as well
		if total, err = p.s.turnsInAll(ctx); err != nil {
			return err
		}
	}
	for _, n := range named {
		turns, err := p.s.carriers(ctx, n.id, commonEntity)
		if err != nil {
			return err
		}
		if turns == commonEntity {
			turns = max(turns, total/commonShare)
		}
		weight := n.weight(total, turns)
		for _, turn := range n.turns {
			h := &p.hits[at[turn]]
			h.EntityScore += weight
			h.MatchedOn = append(h.MatchedOn, n.Match)
		}
	}
	for i := range p.hits {
		p.hits[i].Relevance += p.hits[i].EntityScore
	}
	return nil
}

// describe looks up what the order of hits and the rules of a prompt ask of a turn.
func (p *prompting) describe(ctx context.Context) error {
	ids := make([]any, len(p.hits))
	at := make(map[int64]int, len(p.hits))
	for i, h := range p.hits {
		ids[i], at[h.ID] = h.ID, i
	}
	return p.s.each(ctx, func(rows *sql.Rows) error {
		var id int64
		var ts *string
		var toolResult bool
		if err := rows.Scan(&id, &ts, &toolResult); err != nil {
			return err
		}
		h := &p.hits[at[id]]
		h.TS, h.ToolResult = ts, toolResult
		return nil
	}, `SELECT id, ts, coalesce(is_tool_result, 0) FROM turns WHERE id IN (`+marks(len(ids))+`)`, ids...)
}

// searchRows is the number of rows of the search table, as it counts them itself.
func (s *Snapshot) searchRows(ctx context.Context) (int64, error) {
	// The record of totals: a number of 7 bits a byte, highest first, and then
	// those of the columns. Of a table that was never written it is empty.
	const totals = 1
	var record []byte
	err := s.tx.QueryRowContext(ctx, `SELECT block FROM turns_fts_data WHERE id = ?`, totals).Scan(&record)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	var n int64
	for _, b := range record {
		if n = n<<7 | int64(b&0x7f); b < 0x80 {
			break
		}
	}
	return n, s.r.wrap(err)
}
