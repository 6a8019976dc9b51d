package archive

import (
	"context"
	"encoding/json"
)

// ClosedIDs gives those of the harnesses' own session ids whose sessions are
// closed: all of that id that have turns. Subagents' sessions, which go by the id
// of the session that called them, have no say in it unless there is no other: one
// of them is often idle for long while its caller goes on.
func ClosedIDs(ctx context.Context, q Querier, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return texts(ctx, q, `SELECT j.value FROM json_each(?) j WHERE (
		SELECT CASE WHEN sum(parent_session_key IS NULL) > 0
			THEN sum(parent_session_key IS NULL AND is_final IS 1) > 0
				AND sum(parent_session_key IS NULL AND is_final IS NOT 1 AND last_turn_at IS NOT NULL) = 0
			ELSE sum(is_final IS 1) > 0 END
		FROM session_meta WHERE session_id = j.value) ORDER BY j.key`, string(list))
}

// ActiveIDs gives those of the harnesses' own session ids of which a session is
// open, or had a turn at or after since, a time in TimeForm.
func ActiveIDs(ctx context.Context, q Querier, ids []string, since string) ([]string, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return texts(ctx, q, `SELECT j.value FROM json_each(?) j WHERE EXISTS (
		SELECT 1 FROM session_meta WHERE session_id = j.value
		AND (is_final IS NOT 1 AND last_turn_at IS NOT NULL OR last_turn_at >= ?)) ORDER BY j.key`, string(list), since)
}

// UnknownIDs gives those of the harnesses' own session ids that no archived session
// has.
func UnknownIDs(ctx context.Context, q Querier, ids []string) ([]string, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return texts(ctx, q, `SELECT j.value FROM json_each(?) j WHERE NOT EXISTS (
		SELECT 1 FROM session_meta WHERE session_id = j.value) ORDER BY j.key`, string(list))
}
