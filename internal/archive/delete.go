package archive

import (
	"context"
	"database/sql"
	"errors"
)

// deletes are the archival rows of one session, those that refer to others first.
var deletes = []string{
	`DELETE FROM companion_marks WHERE companion IN (SELECT id FROM companions WHERE session_no = ?)`,
	`DELETE FROM companion_parts WHERE companion IN (SELECT id FROM companions WHERE session_no = ?)`,
	`DELETE FROM companions WHERE session_no = ?`,
	`DELETE FROM watermarks WHERE session_no = ?`,
	`DELETE FROM extents WHERE revision IN (SELECT id FROM revisions WHERE session_no = ?)`,
	`DELETE FROM revisions WHERE session_no = ?`,
	`DELETE FROM blocks WHERE session_no = ?`,
	`DELETE FROM session_meta WHERE session_key = (SELECT session_key FROM sessions WHERE session_no = ?)`,
}

// Delete removes every archival row of a session: its stream, companions,
// revisions and watermarks, and the session itself. It leaves no tombstone: a
// transcript that comes back is a new session, with a new number and a new slot,
// for neither is used twice.
//
// It runs inside the caller's transaction, after the rows of other packages that
// refer to the session are gone: index.Erase, observe.Delete. Sessions that name
// it as their parent, or as what they continue, keep the name. What was deleted is
// erased from the files of the store by index.Purge, which Erase leaves a note
// for. A session without metadata is deleted like any other; one that is not there
// is nothing to do.
func Delete(ctx context.Context, w Execer, no int64) error {
	for _, stmt := range deletes {
		if _, err := w.ExecContext(ctx, stmt, no); err != nil {
			return err
		}
	}
	var slot sql.NullInt64
	err := w.QueryRowContext(ctx, `SELECT slot FROM sessions WHERE session_no = ?`, no).Scan(&slot)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := w.ExecContext(ctx, `DELETE FROM sessions WHERE session_no = ?`, no); err != nil || !slot.Valid {
		return err
	}
	return forgetProject(ctx, w, slot.Int64>>SlotBits)
}

// forgetProject takes the project from a block of slots in which no session is
// left. The block stays, so that its slots are not given away once more; the ones
// that nobody had go to sessions without a project.
func forgetProject(ctx context.Context, w Execer, block int64) error {
	_, err := w.ExecContext(ctx, `UPDATE slot_blocks SET project = NULL
		WHERE block = ? AND NOT EXISTS (SELECT 1 FROM sessions WHERE slot >= ? AND slot < ?)`,
		block, block<<SlotBits, (block+1)<<SlotBits)
	return err
}
