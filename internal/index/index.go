// Package index owns the derived tables: turns, turns_fts, lengths, entities with
// their values, line_index and compaction_boundaries. Whatever stands in them
// can be made again from the archive, and comes out the same, turn ids included.
package index

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// MaxTurns is how many turns a session can have: turn_seq has 24 bits. Records
// past it are archived and are no turns.
const MaxTurns = 1 << archive.TurnBits

// A Row is one turn as the tables hold it.
type Row struct {
	NativeID     string
	UUID         string
	Type         string
	ToolName     string
	TS           string
	Off, Len     int64 // in the stream
	Nature       transcript.Nature
	ToolResult   bool
	Boundary     bool
	BoundaryMeta []byte // its own copy
	Body         []byte // text of the search row; nil for a turn that is not searched
	Entities     []derive.Entity
}

// Size is about how many bytes the row takes in memory.
func (r *Row) Size() int64 {
	n := len(r.Body) + len(r.BoundaryMeta) + len(r.UUID) + len(r.ToolName) + 128
	for _, e := range r.Entities {
		n += len(e.Value) + 32
	}
	return int64(n)
}

// A Target says where a session's rows go.
type Target struct {
	No   int64 // session number: turn ids
	Slot int64 // search rows
	Next int64 // turn_seq of the next new turn
	// Values are the entity values known so far; nil asks for each anew.
	Values *Values

	stale *staleRows // search rows that go as the new ones come; nil for none
}

// ID is the id of the turn with that turn_seq.
func (t Target) ID(seq int64) int64 { return t.No<<archive.TurnBits | seq }

func (t Target) rowid(seq int64) int64 { return t.Slot<<archive.TurnBits | seq }

// Write adds a session's turns, in order, and returns how many new ones there
// are. A row with a native id that the session already holds takes over that
// turn. Rows past MaxTurns are left out and counted in skipped.
func Write(ctx context.Context, w archive.Execer, t Target, rows []Row) (added, skipped int64, err error) {
	var taken []int64
	if t.Values == nil {
		t.Values = new(Values)
	}
	for i := range rows {
		r := &rows[i]
		seq, fresh := t.Next+added, true
		if r.NativeID != "" {
			old, ok, err := seqOf(ctx, w, t.No, r.NativeID)
			if err != nil {
				return added, skipped, err
			}
			if ok {
				seq, fresh = old, false
			}
		}
		if fresh {
			if seq >= MaxTurns {
				skipped++
				continue
			}
			added++
		} else if err := remove(ctx, w, t, seq); err != nil {
			return added, skipped, err
		} else {
			taken = append(taken, seq)
		}
		if err := insert(ctx, w, t, seq, r); err != nil {
			return added, skipped, fmt.Errorf("write turn %d: %w", t.ID(seq), err)
		}
		if err := writeEntities(ctx, w, t.Values, t.ID(seq), r.Entities); err != nil {
			return added, skipped, fmt.Errorf("write what turn %d names: %w", t.ID(seq), err)
		}
	}
	if added > 0 {
		if err := archive.SetTurns(ctx, w, t.No, t.Next+added); err != nil {
			return added, skipped, err
		}
	}
	return added, skipped, noteLengths(ctx, w, t, t.Next+added, taken)
}

func seqOf(ctx context.Context, w archive.Execer, no int64, nativeID string) (int64, bool, error) {
	var id int64
	err := w.QueryRowContext(ctx, `SELECT id FROM turns WHERE id >= ? AND id < ? AND native_id = ?`,
		no<<archive.TurnBits, (no+1)<<archive.TurnBits, nativeID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return id & (MaxTurns - 1), err == nil, err
}

func insert(ctx context.Context, w archive.Execer, t Target, seq int64, r *Row) error {
	var typed, toolResult any
	switch r.Nature {
	case transcript.Typed:
		typed = 1
	case transcript.Machine:
		typed = 0
	}
	if r.ToolResult {
		toolResult = 1
	}
	_, err := w.ExecContext(ctx, `INSERT INTO turns(id, uuid, record_type, tool_name, ts, stream_offset, byte_len, is_typed,
		is_tool_result, in_current, native_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)`,
		t.ID(seq), UUIDValue(r.UUID), r.Type, nullable(r.ToolName), nullable(r.TS), r.Off, r.Len, typed, toolResult,
		nullable(r.NativeID))
	if err != nil {
		return err
	}
	if r.Boundary {
		_, err := w.ExecContext(ctx, `INSERT INTO compaction_boundaries(turn_id, metadata) VALUES (?, ?)`, t.ID(seq), r.BoundaryMeta)
		if err != nil {
			return err
		}
	}
	if err := t.stale.dropTo(ctx, w, t.rowid(seq)); err != nil {
		return err
	}
	if len(r.Body) == 0 {
		return nil // nothing to find; a row would only lengthen the average
	}
	_, err = w.ExecContext(ctx, `INSERT INTO turns_fts(rowid, body) VALUES (?, ?)`, t.rowid(seq), string(r.Body))
	return err
}

func remove(ctx context.Context, w archive.Execer, t Target, seq int64) error {
	if _, err := w.ExecContext(ctx, `DELETE FROM turns_fts WHERE rowid = ?`, t.rowid(seq)); err != nil {
		return err
	}
	if _, err := w.ExecContext(ctx, `DELETE FROM compaction_boundaries WHERE turn_id = ?`, t.ID(seq)); err != nil {
		return err
	}
	if _, err := w.ExecContext(ctx, `DELETE FROM entities WHERE turn = ?`, t.ID(seq)); err != nil {
		return err
	}
	_, err := w.ExecContext(ctx, `DELETE FROM turns WHERE id = ?`, t.ID(seq))
	return err
}

// UUIDValue is how a uuid stands in turns.uuid: 16 bytes where it has the
// canonical lower-case form, else its text; nil for none.
func UUIDValue(s string) any {
	if s == "" {
		return nil
	}
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' && strings.ToLower(s) == s {
		if b, err := hex.DecodeString(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]); err == nil {
			return b
		}
	}
	return s
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// CountTurns is the number of turns that a session has: the turn_seq of the
// next one.
func CountTurns(ctx context.Context, q archive.Querier, no int64) (int64, error) {
	var n int64
	err := q.QueryRowContext(ctx, `SELECT 1 + coalesce(max(id), ?) - ? FROM turns WHERE id >= ? AND id < ?`,
		no<<archive.TurnBits-1, no<<archive.TurnBits, no<<archive.TurnBits, (no+1)<<archive.TurnBits).Scan(&n)
	return n, err
}

// CountBoundaries is the number of compactions that a session records.
func CountBoundaries(ctx context.Context, q archive.Querier, no int64) (int64, error) {
	var n int64
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM compaction_boundaries WHERE turn_id >= ? AND turn_id < ?`,
		no<<archive.TurnBits, (no+1)<<archive.TurnBits).Scan(&n)
	return n, err
}

// MarkCurrent notes of each of a session's turns whether it lies in the newest
// state of its transcripts. It writes only what changes.
func MarkCurrent(ctx context.Context, w archive.Execer, no int64, newest archive.Cover) error {
	rows, err := w.QueryContext(ctx, `SELECT id, stream_offset, byte_len, in_current FROM turns WHERE id >= ? AND id < ?`,
		no<<archive.TurnBits, (no+1)<<archive.TurnBits)
	if err != nil {
		return err
	}
	var flip []int64
	for rows.Next() {
		var id, off, n, current int64
		if err := rows.Scan(&id, &off, &n, &current); err != nil {
			_ = rows.Close()
			return err
		}
		if newest.Has(off, n) != (current == 1) {
			flip = append(flip, id)
		}
	}
	_ = rows.Close()
	if err := rows.Err(); err != nil {
		return err
	}
	for _, id := range flip {
		if _, err := w.ExecContext(ctx, `UPDATE turns SET in_current = 1 - in_current WHERE id = ?`, id); err != nil {
			return err
		}
	}
	return nil
}

// A Held is the newest line that a session holds for one native id.
type Held struct {
	Hash     []byte
	Off, Len int64
}

// HeldLines reads what a session of a row harness holds, by native id.
func HeldLines(ctx context.Context, q archive.Querier, no int64) (map[string]Held, error) {
	rows, err := q.QueryContext(ctx, `SELECT native_id, hash, stream_offset, byte_len FROM line_index WHERE session_no = ?`, no)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]Held{}
	for rows.Next() {
		var id string
		var h Held
		if err := rows.Scan(&id, &h.Hash, &h.Off, &h.Len); err != nil {
			return nil, err
		}
		out[id] = h
	}
	return out, rows.Err()
}

// HoldsAt reports whether the newest line of a native id stands at that offset of
// the stream.
func HoldsAt(ctx context.Context, q archive.Querier, no int64, id string, off int64) (bool, error) {
	var newest bool
	err := q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM line_index WHERE session_no = ? AND native_id = ? AND stream_offset = ?)`,
		no, id, off).Scan(&newest)
	return newest, err
}

// HoldLine notes the newest line of a native id.
func HoldLine(ctx context.Context, w archive.Execer, no int64, id string, h Held) error {
	_, err := w.ExecContext(ctx, `INSERT INTO line_index(session_no, native_id, hash, stream_offset, byte_len)
		VALUES (?, ?, ?, ?, ?) ON CONFLICT(session_no, native_id) DO UPDATE SET hash = excluded.hash,
		stream_offset = excluded.stream_offset, byte_len = excluded.byte_len`, no, id, h.Hash, h.Off, h.Len)
	return err
}

// SessionHolding returns the harness's id of the first session that holds a turn
// of that uuid, in the form of UUIDValue. The session of the key key, and one
// that has the id sessionID as well, do not count.
func SessionHolding(ctx context.Context, q archive.Querier, uuid any, key, sessionID string) (id string, ok bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT m.session_id FROM turns t JOIN sessions s ON s.session_no = t.id >> 24
		JOIN session_meta m USING (session_key)
		WHERE t.uuid = ? AND m.session_key <> ? AND m.session_id IS NOT NULL AND m.session_id <> ?
		ORDER BY t.id LIMIT 1`, uuid, key, sessionID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return id, err == nil, err
}
