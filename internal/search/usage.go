package search

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/store"
)

// A Usage says what takes the space, in two tables that have nothing to do with each
// other. The bytes of ByProject, and those of ByMonth, add up to ArchiveBytes; those
// of Footprint add up to FileBytes.
type Usage struct {
	Sessions int64 `json:"sessions"`
	// ArchiveBytes is what the blocks of the sessions take, compressed as they are.
	// Sessions of excluded projects are in none of the numbers above Footprint.
	ArchiveBytes int64          `json:"archive_bytes"`
	ByProject    []ProjectUsage `json:"by_project"`
	ByMonth      []MonthUsage   `json:"by_month"`
	// FileBytes is the size of the database, everything derived included, and
	// Footprint its parts (store.Footprint). No exclusion narrows them.
	FileBytes int64        `json:"file_bytes"`
	Footprint []store.Part `json:"footprint"`
	Reason    string       `json:"-"` // why there is nothing to tell
}

// A ProjectUsage is the share of one project, nil being sessions without one.
type ProjectUsage struct {
	Project  *string `json:"project"`
	Sessions int64   `json:"sessions"`
	Bytes    int64   `json:"bytes"`
}

// A MonthUsage is the share of the sessions whose first turn is of one month, nil being
// sessions without a turn. A session counts in one month as a whole.
type MonthUsage struct {
	Month    *string `json:"month"`
	Sessions int64   `json:"sessions"`
	Bytes    int64   `json:"bytes"`
}

// Usage adds up what the archive and the database take, in one state of the store. It
// takes no lock.
func (r *Reader) Usage(ctx context.Context) (Usage, error) {
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return Usage{}, err
	}
	defer snap.Close()
	if snap.tx == nil {
		return Usage{Reason: NoStore(r.path)}, nil
	}
	u := Usage{ByProject: []ProjectUsage{}, ByMonth: []MonthUsage{}}
	if err := snap.addUp(ctx, &u); err != nil {
		return Usage{}, err
	}
	if u.FileBytes, u.Footprint, err = store.Footprint(ctx, snap.tx); err != nil {
		return Usage{}, r.wrap(err)
	}
	return u, nil
}

// A share is what the sessions of one bucket take.
type share struct {
	name            *string // nil where they have none
	sessions, bytes int64
}

// addUp reads the sessions that may be seen, and puts each into its buckets.
func (s *Snapshot) addUp(ctx context.Context, u *Usage) error {
	hidden, err := s.hidden(ctx)
	if err != nil {
		return err
	}
	projects, months := map[sql.NullString]share{}, map[sql.NullString]share{}
	add := func(m map[sql.NullString]share, name sql.NullString, sessions, bytes int64) {
		sum := m[name]
		m[name] = share{sessions: sum.sessions + sessions, bytes: sum.bytes + bytes}
	}
	cond, args := View{all: true, hidden: hidden}.where()
	err = s.each(ctx, func(rows *sql.Rows) error {
		var project, month sql.NullString
		var sessions, bytes int64
		if err := rows.Scan(&project, &month, &sessions, &bytes); err != nil {
			return err
		}
		u.Sessions += sessions
		u.ArchiveBytes += bytes
		add(projects, project, sessions, bytes)
		add(months, month, sessions, bytes)
		return nil
	}, `WITH held(session_no, bytes) AS MATERIALIZED (SELECT session_no, sum(length(bytes)) FROM blocks GROUP BY session_no)
		SELECT m.project, substr(m.first_turn_at, 1, 7), count(*), coalesce(sum(h.bytes), 0)`+sessionFrom+`
		LEFT JOIN held h ON h.session_no = s.session_no WHERE `+cond+` GROUP BY 1, 2`, args...)
	for _, b := range ordered(projects) {
		u.ByProject = append(u.ByProject, ProjectUsage{b.name, b.sessions, b.bytes})
	}
	for _, b := range ordered(months) {
		u.ByMonth = append(u.ByMonth, MonthUsage{b.name, b.sessions, b.bytes})
	}
	return err
}

// ordered lists buckets: the biggest first, then by name, the one without a name last.
func ordered(buckets map[sql.NullString]share) []share {
	out := make([]share, 0, len(buckets))
	for name, b := range buckets {
		if name.Valid {
			b.name = &name.String
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b share) int {
		switch {
		case a.name == nil:
			return 1 // there is one at most
		case b.name == nil:
			return -1
		}
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), strings.Compare(*a.name, *b.name))
	})
	return out
}
