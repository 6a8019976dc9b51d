// Package searchtest fills real stores for the tests of the reading side, one
// turn at a time, with whatever a test wants to be odd about them.
package searchtest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/store"
)

// A Store is a store in a temporary directory.
type Store struct {
	t   testing.TB
	db  *store.DB
	cfg config.Config
}

// New makes an empty store.
func New(t testing.TB) *Store {
	t.Helper()
	s := &Store{t: t, cfg: config.Config{DataDir: t.TempDir()}}
	db, err := store.OpenWriter(t.Context(), s.cfg.DataDir)
	s.check(err)
	t.Cleanup(func() { _ = db.Close() })
	s.db = db
	return s
}

// Reader opens the store for reading, with exclusions.
func (s *Store) Reader(exclude ...string) *search.Reader {
	s.t.Helper()
	return s.open(false, exclude)
}

// Redacting opens the store as a configuration that asks for the egress filter.
func (s *Store) Redacting() *search.Reader {
	s.t.Helper()
	return s.open(true, nil)
}

func (s *Store) open(redact bool, exclude []string) *search.Reader {
	s.t.Helper()
	cfg := s.cfg
	cfg.Exclude = config.NewExclusions("/home/u", exclude)
	cfg.Privacy.RedactRecall = redact
	r, err := search.Open(s.t.Context(), &cfg)
	s.check(err)
	s.t.Cleanup(func() { _ = r.Close() })
	return r
}

// Path is the database.
func (s *Store) Path() string { return s.db.Path }

// A Session is what a test wants of a session. Empty fields are null.
type Session struct {
	Key, ID, Project, PreWorktree, Branch, Parent, Continues, First, Last string
	NoMeta                                                                bool
}

// A Handle names a session of the store.
type Handle struct {
	No, Slot int64
	Key      string
	turns    int64
	stream   int64
	blocks   int64
}

// Session adds a session without turns.
func (s *Store) Session(o Session) *Handle {
	s.t.Helper()
	ctx := context.Background()
	no, err := archive.CreateSession(ctx, s.db, o.Key, "claude")
	s.check(err)
	slot, err := archive.AssignSlot(ctx, s.db, o.Key, o.Project)
	s.check(err)
	if !o.NoMeta {
		s.check(archive.SaveMeta(ctx, s.db, o.Key, archive.Meta{
			SessionID: o.ID, TranscriptPath: "/h/.claude/projects/-p/" + o.Key, ContinuesFrom: o.Continues,
			FirstTurnAt: o.First, LastTurnAt: o.Last, Project: o.Project, PreWorktree: o.PreWorktree,
			Branch: o.Branch, Parent: o.Parent, State: "{}",
		}, archive.Tail{}, false))
	}
	return &Handle{No: no, Slot: slot, Key: o.Key}
}

// A Turn is what a test wants of a turn.
type Turn struct {
	Type     string // "" is user
	Text     string
	Tool     string
	TS       string // "" is null in the store
	NativeID string
	Rewound  bool
	Machine  bool   // not typed
	Bytes    string // the record, "" for one that says Text
}

// Add appends a turn and gives its id.
func (s *Store) Add(h *Handle, o Turn) int64 {
	s.t.Helper()
	if o.Type == "" {
		o.Type = "user"
	}
	id := h.No<<archive.TurnBits | h.turns
	record := o.Bytes
	if record == "" {
		record = Record(o.Type, id, o.Text)
	}
	off := s.Stream(h, record+"\n")
	s.Exec(`INSERT INTO turns(id, record_type, tool_name, ts, stream_offset, byte_len, is_typed, in_current, native_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, o.Type, null(o.Tool), null(o.TS), off, len(record), o.Type == "user" && !o.Machine, !o.Rewound, null(o.NativeID))
	s.Exec(`INSERT INTO turns_fts(rowid, body) VALUES (?, ?)`, h.Slot<<archive.TurnBits|h.turns, o.Text)
	h.turns++
	s.check(archive.SetTurns(context.Background(), s.db, h.No, h.turns))
	return id
}

// Stream appends bytes to a session's stream, as one raw block, and gives their
// offset.
func (s *Store) Stream(h *Handle, bytes string) int64 {
	s.t.Helper()
	sum := sha256.Sum256([]byte(bytes))
	off := h.stream
	s.Exec(`INSERT INTO blocks(session_no, n, stream_offset, byte_len, hash, codec, bytes) VALUES (?, ?, ?, ?, ?, 0, ?)`,
		h.No, h.blocks, off, len(bytes), sum[:], []byte(bytes))
	h.blocks++
	h.stream += int64(len(bytes))
	s.Exec(`UPDATE session_meta SET stream_len = ? WHERE session_key = ?`, h.stream, h.Key)
	return off
}

// Watermark records how far a source of a session was read. Its newest state is
// made of extents, pairs of offset and length.
func (s *Store) Watermark(h *Handle, source string, offset int64, updated string, extents ...int64) {
	s.t.Helper()
	r := archive.Revision{No: h.No, Source: source, MadeAt: updated, Cause: "first", Hash: []byte{}}
	for i := 0; i < len(extents); i += 2 {
		r.Extents = append(r.Extents, archive.Extent{Off: extents[i], Len: extents[i+1]})
	}
	id, err := archive.AddRevision(context.Background(), s.db, r)
	s.check(err)
	s.check(archive.Watermark{
		Source: source, No: h.No, Offset: offset, UpdatedAt: updated, Revision: id, TailHash: []byte{}, SHAState: []byte{},
	}.Save(context.Background(), s.db))
}

// Exec runs a statement.
func (s *Store) Exec(query string, args ...any) {
	s.t.Helper()
	_, err := s.db.ExecContext(context.Background(), query, args...)
	s.check(err)
}

// Record is a record of Claude Code that says text.
func Record(kind string, id int64, text string) string {
	content, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return fmt.Sprintf(`{"type":%q,"uuid":"00000000-0000-4000-8000-%012x","timestamp":"2026-08-12T21:00:00.000Z",`+
		`"message":{"role":%q,"content":%s}}`, kind, id, kind, content)
}

func (s *Store) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func null(v string) any {
	if v == "" {
		return nil
	}
	return v
}
