package feedback

import (
	"context"
	"database/sql"

	"github.com/terminus-archive/terminus/internal/search"
)

// A shower tells which decisions the configuration lets anybody see. One that was
// logged before its directory was excluded is as good as not there.
type shower struct {
	snap   *search.Snapshot
	hidden map[string]bool // by directory
}

func newShower(snap *search.Snapshot) shower { return shower{snap, map[string]bool{}} }

// shows reports whether a decision taken in dir may be shown.
func (s *shower) shows(ctx context.Context, dir string) (bool, error) {
	hidden, known := s.hidden[dir]
	if !known {
		var err error
		if hidden, err = s.snap.Hides(ctx, dir); err != nil {
			return false, err
		}
		s.hidden[dir] = hidden
	}
	return !hidden, nil
}

// decisionsOf lists the decisions of a session that may be shown and that meet a
// condition, in the order in which they were taken.
func (s *shower) decisionsOf(ctx context.Context, sessionID, condition string) ([]int64, error) {
	type row struct {
		id  int64
		dir string
	}
	var found []row
	err := s.snap.Each(ctx, func(rows *sql.Rows) error {
		var r row
		if err := rows.Scan(&r.id, &r.dir); err != nil {
			return err
		}
		found = append(found, r)
		return nil
	}, `SELECT id, coalesce(cwd, '') FROM decisions WHERE session_id = ? AND `+condition+` ORDER BY ts, id`, sessionID)
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, r := range found {
		shown, err := s.shows(ctx, r.dir)
		if err != nil {
			return nil, err
		}
		if shown {
			out = append(out, r.id)
		}
	}
	return out, nil
}
