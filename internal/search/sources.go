package search

import (
	"context"
	"database/sql"
)

// A Source is what is archived of one harness. Sessions of excluded projects are not counted.
type Source struct {
	Sessions int64
	Turns    int64
	Bytes    int64 // of the sessions' streams, what retention dropped included
	// LastArchivedAt is when something of it was archived last, nil for never.
	LastArchivedAt *string
}

// Sources counts what is archived of each harness, by its id.
func (s *Snapshot) Sources(ctx context.Context) (map[string]Source, error) {
	all := map[string]Source{}
	if s.tx == nil {
		return all, nil
	}
	hidden, err := s.hidden(ctx)
	if err != nil {
		return nil, err
	}
	cond, args := View{all: true, hidden: hidden}.where()
	err = s.each(ctx, func(rows *sql.Rows) error {
		var id string
		var src Source
		if err := rows.Scan(&id, &src.Sessions, &src.Turns, &src.Bytes, &src.LastArchivedAt); err != nil {
			return err
		}
		all[id] = src
		return nil
	}, `SELECT s.harness, count(*), sum(`+turnCount+`), coalesce(sum(m.stream_len), 0),
		max((SELECT max(w.updated_at) FROM watermarks w WHERE w.session_no = s.session_no))`+sessionFrom+`
		WHERE `+cond+` GROUP BY s.harness`, args...)
	return all, err
}
