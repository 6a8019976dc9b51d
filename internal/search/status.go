package search

import (
	"context"
	"database/sql"
	"errors"

	"github.com/terminus-archive/terminus/internal/store"
)

// A Run is the log row of one pass.
type Run struct {
	StartedAt      string  `json:"started_at"`
	DurationMS     *int64  `json:"duration_ms"` // nil while the pass runs, or where it died
	FilesSeen      int64   `json:"files_seen"`
	FilesCommitted int64   `json:"files_committed"`
	FilesFailed    int64   `json:"files_failed"`
	BytesRead      int64   `json:"bytes_read"`
	TurnsAdded     int64   `json:"turns_added"`
	Error          *string `json:"error"` // what went wrong, a line each
	Notes          *string `json:"notes"` // what a healthy pass has to say, a line each
}

// A Status holds the numbers of the store. Sessions, turns and watermarks of
// excluded projects are not counted.
type Status struct {
	Store          *string   `json:"store"`      // the database, nil without one
	SizeBytes      int64     `json:"size_bytes"` // with its WAL and shared memory file
	Sessions       int64     `json:"sessions"`
	Turns          int64     `json:"turns"`
	Watermarks     int64     `json:"watermarks"`      // one a transcript file
	WatermarkBytes int64     `json:"watermark_bytes"` // how much of them was read
	Excluded       *[]string `json:"excluded"`        // nil without a store
	LastRun        *Run      `json:"last_run"`        // nil before the first pass
	Reason         string    `json:"-"`               // why there is nothing to tell
}

// Status counts what is in the store, and reads how the last pass went. It takes no
// lock.
func (r *Reader) Status(ctx context.Context) (Status, error) {
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return Status{}, err
	}
	defer snap.Close()
	st, err := snap.Totals(ctx)
	if err == nil && snap.tx != nil {
		st.LastRun, err = snap.LastRun(ctx)
	}
	if err != nil {
		return Status{}, err
	}
	return st, nil
}

// Totals is a Status without the last run.
func (s *Snapshot) Totals(ctx context.Context) (Status, error) {
	var st Status
	if s.tx == nil {
		st.Reason = NoStore(s.r.path)
		return st, nil
	}
	hidden, err := s.hidden(ctx)
	if err != nil {
		return st, err
	}
	// Everything that is not hidden one by one: the root as an exclusion hides
	// each project, and a session of no project is still counted.
	cond, args := View{all: true, hidden: hidden}.where()
	err = s.tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(`+turnCount+`), 0)`+sessionFrom+` WHERE `+cond, args...).
		Scan(&st.Sessions, &st.Turns)
	if err != nil {
		return Status{}, s.r.wrap(err)
	}
	err = s.tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(w.byte_offset), 0)`+sessionFrom+`
		JOIN watermarks w ON w.session_no = s.session_no WHERE `+cond, args...).Scan(&st.Watermarks, &st.WatermarkBytes)
	if err != nil {
		return Status{}, s.r.wrap(err)
	}
	excluded := append([]string{}, s.r.exclude.List()...)
	st.Store, st.Excluded, st.SizeBytes = &s.r.path, &excluded, store.Size(s.r.path)
	return st, nil
}

// LastRun is the newest row of the log of passes, nil where there is none.
func (s *Snapshot) LastRun(ctx context.Context) (*Run, error) {
	if s.tx == nil {
		return nil, nil
	}
	var run Run
	err := s.tx.QueryRowContext(ctx, `SELECT started_at, duration_ms, files_seen, files_committed, files_failed,
		bytes_read, turns_added, error, notes FROM runs ORDER BY id DESC LIMIT 1`).
		Scan(&run.StartedAt, &run.DurationMS, &run.FilesSeen, &run.FilesCommitted, &run.FilesFailed,
			&run.BytesRead, &run.TurnsAdded, &run.Error, &run.Notes)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &run, s.r.wrap(err)
}
