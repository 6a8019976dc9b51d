package archive

import (
	"context"
	"encoding/json"
)

// ClosedIDs gives those of the harnesses' own session ids whose sessions are all
// closed: the idle rule has closed at least one of that id, and none with a turn
// is open. Subagents' sessions go by the id of the session that called them, and
// are often long still while that goes on.
func ClosedIDs(ctx context.Context, q Querier, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return texts(ctx, q, `SELECT j.value FROM json_each(?) j WHERE
		EXISTS (SELECT 1 FROM session_meta m WHERE m.session_id = j.value AND m.is_final = 1) AND
		NOT EXISTS (SELECT 1 FROM session_meta m WHERE m.session_id = j.value
			AND coalesce(m.is_final, 0) = 0 AND m.last_turn_at IS NOT NULL)
		ORDER BY j.key`, string(list))
}
