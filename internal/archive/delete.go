package archive

import "context"

// Delete removes everything archived of a session. Its number and its slot are
// not given to another.
func Delete(ctx context.Context, w Execer, key string) error {
	for _, stmt := range []string{
		`DELETE FROM companion_marks WHERE companion IN (SELECT c.id FROM companions c JOIN sessions s USING (session_no) WHERE s.session_key = ?)`,
		`DELETE FROM companion_parts WHERE companion IN (SELECT c.id FROM companions c JOIN sessions s USING (session_no) WHERE s.session_key = ?)`,
		`DELETE FROM companions WHERE session_no = (SELECT session_no FROM sessions WHERE session_key = ?)`,
		`DELETE FROM watermarks WHERE session_no = (SELECT session_no FROM sessions WHERE session_key = ?)`,
		`DELETE FROM extents WHERE revision IN (SELECT r.id FROM revisions r JOIN sessions s USING (session_no) WHERE s.session_key = ?)`,
		`DELETE FROM revisions WHERE session_no = (SELECT session_no FROM sessions WHERE session_key = ?)`,
		`DELETE FROM blocks WHERE session_no = (SELECT session_no FROM sessions WHERE session_key = ?)`,
		`DELETE FROM session_meta WHERE session_key = ?`,
		`DELETE FROM sessions WHERE session_key = ?`,
	} {
		if _, err := w.ExecContext(ctx, stmt, key); err != nil {
			return err
		}
	}
	return nil
}
