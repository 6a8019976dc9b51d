package search

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/derive"
)

const (
	// narrowedLimits is how many turns an entity of a narrowed spelling gives, in
	// limits of the query: enough for the results of its tool calls, which are
	// turns as well.
	narrowedLimits = 2
	// narrowedScan bounds the turns that are passed over to find them, and
	// narrowedStep is how many are read at a time.
	narrowedScan, narrowedStep = 2000, 50
	// narrowedWord is the relevance that a narrowed turn has for each word of the
	// spelling, in place of its BM25: about what a frequent word is worth there.
	narrowedWord = 1.0
	// maxTurnID is above every turn id.
	maxTurnID = 1 << 62
)

// narrow adds the newest turns that name a narrowed spelling.
func (p *prompting) narrow(ctx context.Context) error {
	have := map[int64]bool{}
	for _, h := range p.hits {
		have[h.ID] = true
	}
	for _, spelling := range p.narrowed {
		values, err := p.valuesOf(ctx, spelling)
		if err != nil {
			return err
		}
		words, _ := derive.Terms(spelling)
		for _, value := range values {
			if err := p.carriers(ctx, value, narrowedWord*float64(len(words)), have); err != nil {
				return err
			}
		}
	}
	return nil
}

// valuesOf are the ids of the entities that are spelled like this, punctuation
// around it aside. An error's text is never spelled in a prompt.
func (p *prompting) valuesOf(ctx context.Context, spelling string) ([]int64, error) {
	bare := strings.TrimRight(strings.TrimLeft(spelling, "([{<\"'`"), ".,;:!?)]}>\"'`")
	var out []int64
	err := p.s.each(ctx, func(rows *sql.Rows) error {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		out = append(out, id)
		return nil
	}, `SELECT id FROM entity_values WHERE kind IN (?, ?, ?, ?) AND value IN (?, ?)`,
		derive.KindPath, derive.KindSymbol, derive.KindTool, derive.KindCommand, spelling, bare)
	return out, err
}

// carriers adds the newest turns in view that carry an entity.
func (p *prompting) carriers(ctx context.Context, value int64, relevance float64, have map[int64]bool) error {
	before, left := int64(maxTurnID), narrowedLimits*p.q.Limit
	if p.q.Before != 0 {
		before = p.q.Before
	}
	for scanned := 0; scanned < narrowedScan && left > 0 && len(p.hits) < 2*candidates; {
		turns, sessions := []int64{}, []int64{}
		n := 0
		err := p.s.each(ctx, func(rows *sql.Rows) error {
			n++
			if err := rows.Scan(&before); err != nil {
				return err
			}
			if have[before] || p.q.Pass != nil && p.q.Pass(before) {
				return nil
			}
			turns = append(turns, before)
			if no := before >> turnBits; len(sessions) == 0 || sessions[len(sessions)-1] != no {
				sessions = append(sessions, no)
			}
			return nil
		}, `SELECT turn FROM entities WHERE value = ? AND turn < ? ORDER BY turn DESC LIMIT ?`, value, before, narrowedStep)
		if err != nil {
			return err
		}
		if err := p.resolve(ctx, sessions); err != nil {
			return err
		}
		for _, id := range turns {
			if m := p.sessions[id>>turnBits]; m != nil && left > 0 {
				have[id] = true
				p.add(id, relevance, m.sidechain)
				left--
			}
		}
		if scanned += n; n < narrowedStep {
			break
		}
	}
	return nil
}

// resolve looks up those of the sessions that were not met yet.
func (p *prompting) resolve(ctx context.Context, sessions []int64) error {
	sessions = slices.DeleteFunc(sessions, func(no int64) bool {
		_, met := p.sessions[no]
		return met
	})
	if len(sessions) == 0 {
		return nil
	}
	members, err := p.members(ctx, "s.session_no", sessions)
	if err != nil {
		return err
	}
	for _, no := range sessions {
		p.sessions[no] = nil
		if m, ok := members[no]; ok {
			p.sessions[no] = &m
		}
	}
	return nil
}
