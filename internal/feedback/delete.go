package feedback

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/recall"
)

// DeleteDecisions removes what was logged of the prompts of an agent's session, and
// returns how many decisions there were.
func DeleteDecisions(ctx context.Context, w archive.Execer, sessionID string) (int64, error) {
	if _, err := w.ExecContext(ctx, `DELETE FROM labels WHERE decision_id IN (SELECT id FROM decisions WHERE session_id = ?)`, sessionID); err != nil {
		return 0, err
	}
	res, err := w.ExecContext(ctx, `DELETE FROM decisions WHERE session_id = ?`, sessionID)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// DeleteWaiting removes the decisions of an agent's session that are not in the
// table yet, and returns how many there were: those of a later build, which Drain
// leaves alone.
func DeleteWaiting(dataDir, sessionID string) int64 {
	if !recall.ValidSessionID(sessionID) {
		return 0
	}
	names, err := waiting(dataDir)
	if err != nil {
		return 0 // the pass has said so
	}
	var n int64
	for _, name := range names {
		// <session>-<process>-<time>-<n>.json: another session's id may begin so.
		rest, found := strings.CutPrefix(strings.TrimSuffix(name, extension), sessionID+"-")
		if !found || strings.Count(rest, "-") != 2 {
			continue
		}
		if os.Remove(filepath.Join(dataDir, dirName, name)) == nil {
			n++
		}
	}
	return n
}
