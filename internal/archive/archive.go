// Package archive owns the bytes: sessions and their metadata, blocks,
// watermarks, revisions with their extents, companions, slots and the log of
// passes. It promises that a session's stream only grows, that what was
// committed comes back byte for byte, and that damage is found and named.
//
// It knows nothing of harnesses, records or turns: a stream is a sequence of
// lines.
package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// TurnBits is how many bits of a turn id hold turn_seq; the rest holds
// session_no.
const TurnBits = 24

// TimeForm is the form of every time that Terminus writes: UTC, three
// decimals, so that text order is time order.
const TimeForm = "2006-01-02T15:04:05.000Z"

// Stamp writes t in TimeForm.
func Stamp(t time.Time) string { return t.UTC().Format(TimeForm) }

// A Querier reads the store: *sql.DB, *sql.Conn, *sql.Tx or *store.Writer.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// An Execer also changes it. A Querier given to one of this package's writing
// functions must be inside a transaction.
type Execer interface {
	Querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// ErrEvicted means that retention dropped the session's bytes.
var ErrEvicted = errors.New("the session's bytes were evicted")

// A DamageError is archived data that is not what was written.
type DamageError struct {
	SessionKey string // "" where only the number is known
	SessionNo  int64
	Block      *int64 // the failing block, nil for the session as a whole
	Detail     string
}

func (e *DamageError) Error() string {
	name := e.SessionKey
	if name == "" {
		name = fmt.Sprintf("session %d", e.SessionNo)
	}
	if e.Block != nil {
		return fmt.Sprintf("%s: block %d: %s", name, *e.Block, e.Detail)
	}
	return name + ": " + e.Detail
}

func damaged(no int64, block *int64, format string, args ...any) error {
	return &DamageError{SessionNo: no, Block: block, Detail: fmt.Sprintf(format, args...)}
}

// Meta is what the records of a session told of it, as session_meta keeps it.
// Empty strings are stored as null.
type Meta struct {
	SessionID      string
	TranscriptPath string
	ContinuesFrom  string
	FirstTurnAt    string
	LastTurnAt     string
	Project        string
	PreWorktree    string
	CWD            string
	ToldCWD        string // the working directory that was told beside the records
	Branch         string
	Parent         string
	State          string // the harness's state, JSON
	DerivedVersion int
	CaptureMode    string // "" before anything was archived, and for full in older stores
	PendingParent  any    // stored form of the first turn's parent while ContinuesFrom is unknown; nil for none
}

// A Session is one session as the store holds it, with what an append needs to
// know of its last blocks.
type Session struct {
	Key     string
	No      int64
	Slot    int64 // -1 while it has none
	Harness string
	Evicted bool
	// EvictedLen is how many bytes at the start of the stream retention dropped:
	// of an evicted session only what follows them can be read.
	EvictedLen int64
	// Diverged is the mark of SetDiverged.
	Diverged bool
	Meta     Meta
	Tail     Tail

	evictedBlocks int64  // the number of the first block that is there
	evictedHash   []byte // chained hash of the blocks before it
}

// Load reads a session by key. ok is false when there is none. A session that
// lacks its metadata is damage, never a new session.
func Load(ctx context.Context, q Querier, key string) (s Session, ok bool, err error) {
	s.Key = key
	var slot, evicted sql.NullInt64
	var metaKey, id, path, continues, first, last, project, pre, cwd, told, branch, parent, state, mode sql.NullString
	var streamLen, settled, derived, diverged, goneLen, goneBlocks sql.NullInt64
	var pending any
	err = q.QueryRowContext(ctx, `
		SELECT s.session_no, s.slot, s.harness, m.session_key, m.session_id, m.transcript_path, m.continues_from,
		       m.first_turn_at, m.last_turn_at, m.project, m.project_pre_worktree, m.cwd, m.told_cwd, m.branch,
		       m.parent_session_key, m.derive_state, m.derived_version, m.is_evicted, m.pending_parent, m.capture_mode,
		       m.stream_len, m.settled_blocks, m.settled_hash, m.checksum,
		       m.transcript_diverged, m.evicted_len, m.evicted_blocks, m.evicted_hash
		FROM sessions s LEFT JOIN session_meta m USING (session_key) WHERE s.session_key = ?`, key).
		Scan(&s.No, &slot, &s.Harness, &metaKey, &id, &path, &continues, &first, &last, &project, &pre, &cwd, &told, &branch,
			&parent, &state, &derived, &evicted, &pending, &mode, &streamLen, &settled, &s.Tail.SettledHash, &s.Tail.Sum,
			&diverged, &goneLen, &goneBlocks, &s.evictedHash)
	if errors.Is(err, sql.ErrNoRows) {
		return s, false, nil
	}
	if err != nil {
		return s, false, fmt.Errorf("read session %s: %w", key, err)
	}
	if !metaKey.Valid {
		return s, true, &DamageError{SessionKey: key, SessionNo: s.No, Detail: "its metadata is missing"}
	}
	s.Slot = -1
	if slot.Valid {
		s.Slot = slot.Int64
	}
	s.Evicted, s.Diverged = evicted.Int64 == 1, diverged.Int64 == 1
	s.EvictedLen, s.evictedBlocks = goneLen.Int64, goneBlocks.Int64
	s.Meta = Meta{
		SessionID: id.String, TranscriptPath: path.String, ContinuesFrom: continues.String,
		FirstTurnAt: first.String, LastTurnAt: last.String, Project: project.String, PreWorktree: pre.String,
		CWD: cwd.String, ToldCWD: told.String, Branch: branch.String, Parent: parent.String, State: state.String,
		DerivedVersion: int(derived.Int64), PendingParent: pending, CaptureMode: mode.String,
	}
	s.Tail.No = s.No
	s.Tail.StreamLen, s.Tail.Settled = streamLen.Int64, settled.Int64
	s.Tail.Rows, err = blockInfos(ctx, q, s.No, s.Tail.Settled)
	return s, true, err
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// texts reads a query of one column of texts.
func texts(ctx context.Context, q Querier, query string, args ...any) ([]string, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, rows.Err()
}
