package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/index"
)

// What a running session still holds in its context. These answers are ids to
// compare with and not to show: no View narrows them.

// SessionAt finds the session whose transcript is the file at path, at the end of
// its links. ok is false when the file does not exist or is not archived yet.
func (s *Snapshot) SessionAt(ctx context.Context, path string) (no int64, ok bool, err error) {
	if path == "" || s.tx == nil {
		return 0, false, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return 0, false, nil
	}
	err = s.tx.QueryRowContext(ctx, `SELECT session_no FROM watermarks WHERE source = ?`, real).Scan(&no)
	for _, h := range registry.All() {
		if keyer, ok := h.(harness.Keyer); ok && errors.Is(err, sql.ErrNoRows) { // moved since the last pass
			err = s.tx.QueryRowContext(ctx, `SELECT session_no FROM sessions WHERE session_key = ?`, keyer.KeyAt(real)).Scan(&no)
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return no, err == nil, s.r.wrap(err)
}

// A Compaction is what the newest recorded compaction of a session took out of
// its context: all turns before the boundary but those that it kept.
type Compaction struct {
	Boundary int64 // a turn id
	kept     []int64
}

// Dropped reports whether the compaction took out a turn of its session.
func (c *Compaction) Dropped(id int64) bool {
	if c == nil || id>>turnBits != c.Boundary>>turnBits || id >= c.Boundary {
		return false
	}
	_, kept := slices.BinarySearch(c.kept, id)
	return !kept
}

// Compaction looks up the newest compaction of a session, nil where none is
// recorded.
func (s *Snapshot) Compaction(ctx context.Context, session int64) (*Compaction, error) {
	var c Compaction
	var about []byte
	err := s.tx.QueryRowContext(ctx, `SELECT turn_id, metadata FROM compaction_boundaries
		WHERE turn_id BETWEEN ? AND ? ORDER BY turn_id DESC LIMIT 1`,
		session<<turnBits, session<<turnBits|seqMask).Scan(&c.Boundary, &about)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.r.wrap(err)
	}
	for _, uuid := range preserved(about) {
		err := s.each(ctx, func(rows *sql.Rows) error {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			c.kept = append(c.kept, id)
			return nil
		}, `SELECT id FROM turns WHERE uuid = ? AND id >= ? AND id < ?`, index.UUIDValue(uuid), session<<turnBits, c.Boundary)
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(c.kept)
	return &c, nil
}

// preserved are the uuids that a boundary's metadata names as preserved. What
// cannot be read names none: then everything was dropped.
func preserved(metadata []byte) []string {
	var doc struct {
		PreservedMessages struct {
			UUIDs []json.RawMessage `json:"uuids"`
		} `json:"preservedMessages"`
	}
	if json.Unmarshal(metadata, &doc) != nil {
		return nil
	}
	var out []string
	for _, raw := range doc.PreservedMessages.UUIDs {
		var uuid string
		if json.Unmarshal(raw, &uuid) == nil && uuid != "" {
			out = append(out, uuid)
		}
	}
	return out
}

// DroppedTurns are the ids of the turns that a compaction dropped, ascending.
func (s *Snapshot) DroppedTurns(ctx context.Context, c *Compaction) ([]int64, error) {
	var out []int64
	err := s.each(ctx, func(rows *sql.Rows) error {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if c.Dropped(id) {
			out = append(out, id)
		}
		return nil
	}, `SELECT id FROM turns WHERE id >= ? AND id < ? ORDER BY id`,
		c.Boundary>>turnBits<<turnBits, c.Boundary)
	return out, err
}

// Copies are the ids of all turns with the uuid of a turn, itself among them: a
// fork and a resumed copy hold the turns that they began with once more.
func (s *Snapshot) Copies(ctx context.Context, id int64) ([]int64, error) {
	out := []int64{id}
	err := s.each(ctx, func(rows *sql.Rows) error {
		var copied int64
		if err := rows.Scan(&copied); err != nil {
			return err
		}
		out = append(out, copied)
		return nil
	}, `SELECT c.id FROM turns t JOIN turns c ON c.uuid = t.uuid WHERE t.id = ? AND c.id <> t.id ORDER BY c.id`, id)
	return out, err
}

// NewestSession is the highest session number, nil without any.
func (s *Snapshot) NewestSession(ctx context.Context) (*int64, error) {
	if s.tx == nil {
		return nil, nil
	}
	var no sql.NullInt64
	if err := s.tx.QueryRowContext(ctx, `SELECT max(session_no) FROM sessions`).Scan(&no); err != nil || !no.Valid {
		return nil, s.r.wrap(err)
	}
	return &no.Int64, nil
}
