package archive

import "context"

// Evict drops a session's bytes.
func Evict(ctx context.Context, w Execer, no int64) error {
	for _, stmt := range []string{
		`UPDATE session_meta SET is_evicted = 1, unsettled = 0, evicted_len = stream_len,
			evicted_blocks = max(evicted_blocks, coalesce((SELECT max(n) + 1 FROM blocks WHERE session_no = ?1), 0)),
			settled_blocks = max(evicted_blocks, coalesce((SELECT max(n) + 1 FROM blocks WHERE session_no = ?1), 0)),
			settled_hash = checksum, evicted_hash = checksum
		WHERE session_key = (SELECT session_key FROM sessions WHERE session_no = ?1)`,
		`DELETE FROM blocks WHERE session_no = ?1`,
	} {
		if _, err := w.ExecContext(ctx, stmt, no); err != nil {
			return err
		}
	}
	return nil
}
