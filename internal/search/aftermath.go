package search

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/derive"
)

// What came after a prompt. Like the answers about a running session these are
// ids and names to compare with and not to show: no View narrows them.

// A Naming says that a turn names an entity in its structured fields. Its texts
// are gone with the next one.
type Naming struct {
	Entity int64 // the same number is the same kind and value
	TS     sql.RawBytes
	Tool   sql.RawBytes // the name of the turn's first tool call, nil for none
}

// Namings calls see for whatever the turns of the sessions with a harness's own
// id name, subagents' sessions among them; turns without a time are left out.
func (s *Snapshot) Namings(ctx context.Context, sessionID string, see func(Naming)) error {
	all, _, err := s.SessionsOf(ctx, sessionID)
	if err != nil {
		return err
	}
	for _, no := range all {
		err := s.each(ctx, func(rows *sql.Rows) error {
			var n Naming
			if err := rows.Scan(&n.Entity, &n.TS, &n.Tool); err != nil {
				return err
			}
			see(n)
			return nil
		}, `SELECT e.value, t.ts, t.tool_name FROM turns t CROSS JOIN entities e ON e.turn = t.id
			WHERE t.id BETWEEN ? AND ? AND t.ts IS NOT NULL`, no<<turnBits, no<<turnBits|seqMask)
		if err != nil {
			return err
		}
	}
	return nil
}

// SessionsOf are the numbers of the sessions with a harness's own id: all of
// them, and those that are no subagents'.
func (s *Snapshot) SessionsOf(ctx context.Context, sessionID string) (all, own []int64, err error) {
	err = s.each(ctx, func(rows *sql.Rows) error {
		var no int64
		var sidechain bool
		if err := rows.Scan(&no, &sidechain); err != nil {
			return err
		}
		all = append(all, no)
		if !sidechain {
			own = append(own, no)
		}
		return nil
	}, `SELECT s.session_no, m.parent_session_key IS NOT NULL FROM session_meta m
		CROSS JOIN sessions s ON s.session_key = m.session_key WHERE m.session_id = ? ORDER BY s.session_no`, sessionID)
	return all, own, err
}

// EntitiesOf are the entities that a turn names, each with its kind.
func (s *Snapshot) EntitiesOf(ctx context.Context, turn int64) (map[int64]string, error) {
	out := map[int64]string{}
	err := s.each(ctx, func(rows *sql.Rows) error {
		var id int64
		var kind string
		if err := rows.Scan(&id, &kind); err != nil {
			return err
		}
		out[id] = kind
		return nil
	}, `SELECT v.id, v.kind FROM entities e CROSS JOIN entity_values v ON v.id = e.value WHERE e.turn = ?`, turn)
	return out, err
}

// EntitiesSpelled are the entities with a value, of any kind.
func (s *Snapshot) EntitiesSpelled(ctx context.Context, value string) ([]int64, error) {
	var out []int64
	err := s.each(ctx, func(rows *sql.Rows) error {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		out = append(out, id)
		return nil
	}, `SELECT id FROM entity_values WHERE kind IN (?, ?, ?, ?, ?) AND value = ?`,
		derive.KindPath, derive.KindSymbol, derive.KindTool, derive.KindCommand, derive.KindError, value)
	return out, err
}

// ClosedIDs is archive.ClosedIDs.
func (s *Snapshot) ClosedIDs(ctx context.Context, ids []string) ([]string, error) {
	if s.tx == nil {
		return nil, nil
	}
	out, err := archive.ClosedIDs(ctx, s.tx, ids)
	return out, s.r.wrap(err)
}

// Listed looks up turns that a lookup once found, by id, as hits without a score;
// one that is gone is missing.
func (s *Snapshot) Listed(ctx context.Context, ids []int64) (map[int64]PromptHit, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]PromptHit, len(ids))
	err = s.each(ctx, func(rows *sql.Rows) error {
		var h PromptHit
		if err := rows.Scan(&h.ID, &h.TS, &h.ToolResult); err != nil {
			return err
		}
		out[h.ID] = h
		return nil
	}, `SELECT t.id, t.ts, coalesce(t.is_tool_result, 0) FROM json_each(?) j CROSS JOIN turns t ON t.id = j.value`, string(list))
	return out, err
}
