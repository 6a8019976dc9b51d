package search

import (
	"context"

	"github.com/terminus-archive/terminus/internal/derive"
)

// A WordCount says in how many turns one word of a query stands.
type WordCount struct {
	Word  string
	Turns int64
}

// maxCounted bounds the words that are counted for one query: each is a query
// of its own, and a longer list tells a person nothing more.
const maxCounted = 8

// wordCounts counts the turns that each of the first terms finds alone, under
// the scope and the filters of q.
func (s *Snapshot) wordCounts(ctx context.Context, v View, q Query, terms []string) ([]WordCount, error) {
	cond, args := v.where()
	if more, moreArgs := q.onTurn(); moreArgs != nil {
		cond += ` AND ` + more
		args = append(args, moreArgs...)
	}
	query := `SELECT count(*) FROM turns_fts`
	if args != nil {
		query += ` JOIN sessions s ON s.slot = turns_fts.rowid >> 24
			JOIN turns t ON t.id = (s.session_no << 24 | (turns_fts.rowid & 0xffffff))
			LEFT JOIN session_meta m ON m.session_key = s.session_key`
	}
	query += ` WHERE turns_fts MATCH ? AND ` + cond
	var out []WordCount
	for _, term := range terms[:min(len(terms), maxCounted)] {
		count := WordCount{Word: term}
		err := s.tx.QueryRowContext(ctx, query, append([]any{derive.Match([]string{term})}, args...)...).Scan(&count.Turns)
		if err != nil {
			return nil, s.r.wrap(err)
		}
		out = append(out, count)
	}
	return out, nil
}
