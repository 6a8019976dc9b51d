package archive

import "context"

// A Holding is how much of one session is archived.
type Holding struct {
	Key        string
	Transcript string // the file that was written last
	StreamLen  int64
	Turns      int64
}

// Holdings lists what is archived of each session. Sessions without their metadata
// are left out.
func Holdings(ctx context.Context, q Querier) ([]Holding, error) {
	rows, err := q.QueryContext(ctx, `SELECT session_key, transcript_path, stream_len, turns FROM session_meta`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Holding
	for rows.Next() {
		var h Holding
		if err := rows.Scan(&h.Key, &h.Transcript, &h.StreamLen, &h.Turns); err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, rows.Err()
}

// Totals counts sessions, and turns as they were counted when they were archived.
func Totals(ctx context.Context, q Querier) (sessions, turns int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM sessions), (SELECT coalesce(sum(turns), 0) FROM session_meta)`).
		Scan(&sessions, &turns)
	return sessions, turns, err
}
