package archive

import "context"

// Evict drops the bytes of a session: those of its stream, and those of the files
// beside it. Everything else stays as it is, the checksum and the length of the
// stream, watermarks, revisions and turns among it. A pass leaves such a session
// alone for as long as its transcript does not change; its companions are known
// by their hashes, and are not taken in again while it is evicted.
//
// It runs inside the caller's transaction. An evicted session that has taken in
// bytes since loses those as well.
func Evict(ctx context.Context, w Execer, no int64) error {
	for _, stmt := range []string{
		`UPDATE session_meta SET is_evicted = 1, unsettled = 0, evicted_len = stream_len,
			evicted_blocks = max(evicted_blocks, coalesce((SELECT max(n) + 1 FROM blocks WHERE session_no = ?1), 0)),
			settled_blocks = max(evicted_blocks, coalesce((SELECT max(n) + 1 FROM blocks WHERE session_no = ?1), 0)),
			settled_hash = checksum, evicted_hash = checksum
		WHERE session_key = (SELECT session_key FROM sessions WHERE session_no = ?1)`,
		`DELETE FROM blocks WHERE session_no = ?1`,
		`DELETE FROM companion_parts WHERE companion IN (SELECT id FROM companions WHERE session_no = ?1)`,
		`UPDATE companions SET is_evicted = 1 WHERE session_no = ?1`,
	} {
		if _, err := w.ExecContext(ctx, stmt, no); err != nil {
			return err
		}
	}
	return nil
}
