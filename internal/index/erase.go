package index

import (
	"context"

	"github.com/terminus-archive/terminus/internal/archive"
)

// Erase removes the derived rows of a session.
func Erase(ctx context.Context, w archive.Execer, no, slot int64) error {
	first, end := no<<archive.TurnBits, (no+1)<<archive.TurnBits
	for _, stmt := range []string{
		`DELETE FROM turns WHERE id >= ? AND id < ?`,
		`DELETE FROM compaction_boundaries WHERE turn_id >= ? AND turn_id < ?`,
		`DELETE FROM entities WHERE turn >= ? AND turn < ?`,
	} {
		if _, err := w.ExecContext(ctx, stmt, first, end); err != nil {
			return err
		}
	}
	if _, err := w.ExecContext(ctx, `DELETE FROM line_index WHERE session_no = ?`, no); err != nil || slot < 0 {
		return err
	}
	if _, err := w.ExecContext(ctx, `DELETE FROM lengths WHERE slot = ?`, slot); err != nil {
		return err
	}
	var stale staleRows
	if err := stale.load(ctx, w, slot); err != nil {
		return err
	}
	if err := stale.dropAll(ctx, w); err != nil {
		return err
	}
	return DropUnusedValues(ctx, w)
}
