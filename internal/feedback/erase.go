package feedback

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/archive"
)

// DeleteDecisions removes the logged prompts of a session of that id, and their
// labels, inside the caller's transaction, and returns how many prompts there
// were. Decisions that no pass has moved yet are not among them: DeleteWaiting.
func DeleteDecisions(ctx context.Context, w archive.Execer, sessionID string) (int64, error) {
	_, err := w.ExecContext(ctx, `DELETE FROM labels WHERE decision_id IN (SELECT id FROM decisions WHERE session_id = ?)`, sessionID)
	if err != nil {
		return 0, err
	}
	res, err := w.ExecContext(ctx, `DELETE FROM decisions WHERE session_id = ?`, sessionID)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// DeleteWaiting removes the files of a session's decisions that no pass has moved
// into the table yet. It is for after the transaction in which the rows went: a
// file that comes later belongs to a session that goes on.
func DeleteWaiting(dataDir, sessionID string) error {
	names, err := waiting(dataDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, sessionID+"-") {
			continue
		}
		path := filepath.Join(dataDir, dirName, name)
		d, _, err := read(path)
		if err != nil || d.SessionID != sessionID {
			continue // one id may begin with another
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
