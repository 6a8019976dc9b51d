package search

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// plain ranks by the statement that FTS5 offers to everybody. SQLite computes
// the score of the rows that pass the scope and the filters, and keeps the best;
// sorting by rank over a join would compute it for all, look up every turn, and
// take eight times as long. Only what was kept is looked up. Ties at the cut are
// settled by a second statement for the one score.
func (s *Snapshot) plain(ctx context.Context, v View, q Query, match string) ([]candidate, error) {
	inner, args, err := s.matching(ctx, v, q, match)
	if err != nil || inner == "" {
		return nil, err
	}
	best, err := s.scored(ctx, inner+" ORDER BY score LIMIT ?", args, candidates+1, "", nil)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(best, compare)
	if len(best) <= candidates {
		return best, nil
	}
	last := best[candidates-1].relevance
	if best[candidates].relevance == last {
		whole := slices.IndexFunc(best, func(c candidate) bool { return c.relevance == last })
		tied, err := s.scored(ctx, inner, args, candidates, "score = ?", []any{-last})
		if err != nil {
			return nil, err
		}
		best = append(best[:whole], tied...)
	}
	return best[:candidates], nil
}

// matching renders the statement that scores the search rows of q, lower being
// better. It is "" when no session in view can hold one.
func (s *Snapshot) matching(ctx context.Context, v View, q Query, match string) (string, []any, error) {
	b := strings.Builder{}
	b.WriteString(`SELECT rowid AS row, bm25(turns_fts) AS score FROM turns_fts WHERE turns_fts MATCH ?`)
	args := []any{match}
	if cond, condArgs := v.where(); condArgs != nil {
		const from = ` FROM sessions s LEFT JOIN session_meta m ON m.session_key = s.session_key WHERE s.slot IS NOT NULL AND `
		var low, high sql.NullInt64
		err := s.tx.QueryRowContext(ctx, `SELECT min(s.slot), max(s.slot)`+from+cond, condArgs...).Scan(&low, &high)
		if err != nil || !low.Valid {
			return "", nil, s.r.wrap(err)
		}
		b.WriteString(` AND rowid BETWEEN ? AND ? AND rowid >> 24 IN (SELECT s.slot` + from + cond + `)`)
		args = append(args, low.Int64<<turnBits, high.Int64<<turnBits|seqMask)
		args = append(args, condArgs...)
	}
	if cond, condArgs := q.onTurn(); condArgs != nil {
		b.WriteString(` AND EXISTS (SELECT 1 FROM sessions s
			JOIN turns t ON t.id = (s.session_no << 24 | (turns_fts.rowid & 0xffffff))
			WHERE s.slot = turns_fts.rowid >> 24 AND ` + cond + `)`)
		args = append(args, condArgs...)
	}
	return b.String(), args, nil
}

// scored runs a statement of matching and looks up its turns. With a condition
// on the score the best of what meets it are given, in the order of hits.
func (s *Snapshot) scored(ctx context.Context, inner string, args []any, limit int, cond string, condArgs []any) ([]candidate, error) {
	query := `WITH hit AS MATERIALIZED (` + inner + `) SELECT -hit.score, ` + turnColumns + ` FROM hit
		JOIN sessions s ON s.slot = hit.row >> 24
		JOIN turns t ON t.id = (s.session_no << 24 | (hit.row & 0xffffff))
		LEFT JOIN session_meta m ON m.session_key = s.session_key`
	if cond != "" {
		query += ` WHERE hit.` + cond + `
			ORDER BY m.parent_session_key IS NOT NULL, t.ts IS NULL, t.ts DESC, t.id LIMIT ?`
	}
	args = append(slices.Clone(args), condArgs...)
	args = append(args, limit)
	var out []candidate
	err := s.each(ctx, func(rows *sql.Rows) error {
		var c candidate
		if err := rows.Scan(append([]any{&c.relevance}, c.targets()...)...); err != nil {
			return err
		}
		out = append(out, c)
		return nil
	}, query, args...)
	return out, err
}
