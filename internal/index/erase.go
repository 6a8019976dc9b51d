package index

import (
	"context"

	"github.com/terminus-archive/terminus/internal/archive"
)

// pendingKey is the row of meta that stands there while words of deleted sessions
// may be in the files of the store.
const pendingKey = "erase_pending"

// erasing are the rows of a session by its range of turn ids.
var erasing = []string{
	`DELETE FROM entities WHERE turn >= ? AND turn < ?`,
	`DELETE FROM compaction_boundaries WHERE turn_id >= ? AND turn_id < ?`,
	`DELETE FROM turns WHERE id >= ? AND id < ?`,
}

// Erase removes every derived row of a session, and the entity values that no
// other session carries. slot is that of the session, -1 for none. It runs inside
// the caller's transaction, in which it notes that a Purge is owed: a search finds
// nothing of the session any more, but the index still holds its words. A Values
// from before must not be used after it.
func Erase(ctx context.Context, w archive.Execer, no, slot int64) error {
	first, end := no<<archive.TurnBits, (no+1)<<archive.TurnBits
	values, err := carriedValues(ctx, w, first, end)
	if err != nil {
		return err
	}
	for _, stmt := range erasing {
		if _, err := w.ExecContext(ctx, stmt, first, end); err != nil {
			return err
		}
	}
	for _, id := range values {
		_, err := w.ExecContext(ctx, `DELETE FROM entity_values WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM entities WHERE value = ?1)`, id)
		if err != nil {
			return err
		}
	}
	if _, err := w.ExecContext(ctx, `DELETE FROM line_index WHERE session_no = ?`, no); err != nil {
		return err
	}
	if slot >= 0 {
		if _, err := w.ExecContext(ctx, `DELETE FROM lengths WHERE slot = ?`, slot); err != nil {
			return err
		}
		var rows staleRows
		if err := rows.load(ctx, w, slot); err != nil {
			return err
		}
		if err := rows.dropAll(ctx, w); err != nil {
			return err
		}
	}
	return archive.SetMetaValue(ctx, w, pendingKey, "1")
}

// carriedValues are the ids of the entity values that turns in a range carry.
func carriedValues(ctx context.Context, q archive.Querier, first, end int64) ([]int64, error) {
	rows, err := q.QueryContext(ctx, `SELECT DISTINCT value FROM entities WHERE turn >= ? AND turn < ?`, first, end)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}

// PurgePending reports whether a Purge is owed. It is one look-up.
func PurgePending(ctx context.Context, q archive.Querier) (bool, error) {
	value, err := archive.MetaValue(ctx, q, pendingKey)
	return value != "", err
}
