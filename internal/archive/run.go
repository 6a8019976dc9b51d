package archive

import "context"

// A Run is the log row of one pass.
type Run struct {
	StartedAt, FinishedAt string
	DurationMS            int64
	FilesSeen             int64
	FilesCommitted        int64
	FilesFailed           int64
	BytesRead             int64
	TurnsAdded            int64
	Error, Notes          string // lines; "" is stored as null
}

// SaveRun appends a row to the log.
func SaveRun(ctx context.Context, w Execer, r Run) error {
	_, err := w.ExecContext(ctx, `INSERT INTO runs(started_at, finished_at, duration_ms, files_seen, bytes_read, turns_added,
		files_committed, files_failed, error, notes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.StartedAt, r.FinishedAt, r.DurationMS, r.FilesSeen, r.BytesRead, r.TurnsAdded, r.FilesCommitted, r.FilesFailed,
		null(r.Error), null(r.Notes))
	return err
}
