-- The store, archive format 1. docs/format.md says of each column what it is.

-- ---- archival: never rebuilt -------------------------------------------------

CREATE TABLE IF NOT EXISTS meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS sessions (
  session_key TEXT PRIMARY KEY,
  session_no  INTEGER NOT NULL UNIQUE,
  slot        INTEGER UNIQUE,
  harness     TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_sessions_slot ON sessions(session_key, slot);

CREATE TABLE IF NOT EXISTS slot_blocks (
  block   INTEGER PRIMARY KEY,
  project TEXT,
  used    INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_slot_blocks_project ON slot_blocks(project, block);

CREATE TABLE IF NOT EXISTS session_meta (
  session_key          TEXT PRIMARY KEY REFERENCES sessions(session_key),
  session_id           TEXT,
  transcript_path      TEXT NOT NULL,
  checksum             BLOB NOT NULL,
  stream_len           INTEGER NOT NULL,
  continues_from       TEXT,
  first_turn_at        TEXT,
  last_turn_at         TEXT,
  turns                INTEGER NOT NULL DEFAULT 0,
  project              TEXT,
  project_pre_worktree TEXT,
  cwd                  TEXT,
  branch               TEXT,
  is_final             INTEGER,
  is_evicted           INTEGER,
  parent_session_key   TEXT,
  transcript_diverged  INTEGER,
  capture_mode         TEXT,
  hidden_by            TEXT,
  -- what retention dropped from the start of the stream: its bytes, the number of
  -- the block behind it, and the chained hash of the blocks that are gone
  evicted_len          INTEGER NOT NULL DEFAULT 0,
  evicted_blocks       INTEGER NOT NULL DEFAULT 0,
  evicted_hash         BLOB NOT NULL DEFAULT x'',
  -- place in the queue of closed sessions whose facts are to be observed
  unobserved           INTEGER,
  -- blocks below this number are final: they are never cut again
  settled_blocks       INTEGER NOT NULL DEFAULT 0,
  settled_hash         BLOB NOT NULL DEFAULT x'',
  unsettled            INTEGER NOT NULL DEFAULT 0,
  derived_version      INTEGER NOT NULL DEFAULT 0,
  derive_state         TEXT NOT NULL DEFAULT '{}',
  -- the first turn's parent, while no archived session is known to hold it
  pending_parent       BLOB,
  -- the working directory that the agent's store told beside the records
  told_cwd             TEXT
);
CREATE INDEX IF NOT EXISTS idx_session_meta_session_id ON session_meta(session_id);
CREATE INDEX IF NOT EXISTS idx_session_meta_project ON session_meta(project, project_pre_worktree, session_key, turns);
CREATE INDEX IF NOT EXISTS idx_session_meta_folded ON session_meta(project_pre_worktree, project)
  WHERE project_pre_worktree IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_session_meta_last ON session_meta(project, last_turn_at, session_key) WHERE parent_session_key IS NULL;
CREATE INDEX IF NOT EXISTS idx_session_meta_pending ON session_meta(pending_parent) WHERE pending_parent IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_session_meta_aged ON session_meta(last_turn_at) WHERE last_turn_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_session_meta_held ON session_meta(last_turn_at)
  WHERE last_turn_at IS NOT NULL AND stream_len > evicted_len;
CREATE INDEX IF NOT EXISTS idx_session_meta_unsettled ON session_meta(unsettled) WHERE unsettled <> 0;
CREATE INDEX IF NOT EXISTS idx_session_meta_open ON session_meta(last_turn_at, session_key)
  WHERE is_final IS NULL AND last_turn_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_session_meta_unobserved ON session_meta(unobserved, project, project_pre_worktree, session_key)
  WHERE unobserved IS NOT NULL AND is_evicted IS NOT 1;

CREATE TABLE IF NOT EXISTS blocks (
  session_no    INTEGER NOT NULL REFERENCES sessions(session_no),
  n             INTEGER NOT NULL,
  stream_offset INTEGER NOT NULL,
  byte_len      INTEGER NOT NULL,
  hash          BLOB NOT NULL,
  codec         INTEGER NOT NULL, -- 0 raw, 1 zstd
  bytes         BLOB NOT NULL,
  PRIMARY KEY (session_no, n)
);

CREATE TABLE IF NOT EXISTS revisions (
  id         INTEGER PRIMARY KEY,
  session_no INTEGER NOT NULL REFERENCES sessions(session_no),
  source     TEXT NOT NULL,
  n          INTEGER NOT NULL,
  made_at    TEXT NOT NULL,
  cause      TEXT NOT NULL, -- first, copy, changed
  file_len   INTEGER NOT NULL,
  file_hash  BLOB NOT NULL,
  UNIQUE (session_no, source, n)
);

CREATE TABLE IF NOT EXISTS extents (
  revision      INTEGER NOT NULL REFERENCES revisions(id),
  seq           INTEGER NOT NULL,
  stream_offset INTEGER NOT NULL,
  length        INTEGER NOT NULL,
  PRIMARY KEY (revision, seq)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS companions (
  id         INTEGER PRIMARY KEY,
  session_no INTEGER NOT NULL REFERENCES sessions(session_no),
  name       TEXT NOT NULL, -- slash-separated, below the session
  version    INTEGER NOT NULL,
  source     TEXT NOT NULL, -- the path of the file that first held it
  seen_at    TEXT NOT NULL,
  byte_len   INTEGER NOT NULL,
  hash       BLOB NOT NULL,
  is_evicted INTEGER,
  UNIQUE (session_no, name, version)
);

CREATE TABLE IF NOT EXISTS companion_marks (
  source    TEXT PRIMARY KEY, -- a file's path
  companion INTEGER NOT NULL REFERENCES companions(id), -- what it held when it was read last
  size      INTEGER NOT NULL,
  mtime     INTEGER NOT NULL,
  ctime     INTEGER NOT NULL,
  inode     INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_companion_marks_companion ON companion_marks(companion);

CREATE TABLE IF NOT EXISTS companion_parts (
  companion INTEGER NOT NULL REFERENCES companions(id),
  n         INTEGER NOT NULL,
  byte_len  INTEGER NOT NULL,
  bytes     BLOB NOT NULL, -- one zstd frame
  PRIMARY KEY (companion, n)
);

CREATE TABLE IF NOT EXISTS watermarks (
  source      TEXT PRIMARY KEY,
  session_no  INTEGER NOT NULL REFERENCES sessions(session_no),
  byte_offset INTEGER NOT NULL,
  size        INTEGER NOT NULL,
  mtime       INTEGER NOT NULL,
  ctime       INTEGER NOT NULL,
  inode       INTEGER NOT NULL,
  stamp       TEXT NOT NULL DEFAULT '',
  checked_at  INTEGER NOT NULL, -- unix seconds of the last whole-prefix check
  updated_at  TEXT NOT NULL,
  revision    INTEGER NOT NULL REFERENCES revisions(id),
  tail_hash   BLOB NOT NULL,
  sha_state   BLOB NOT NULL,
  state_sha   BLOB NOT NULL DEFAULT x'' -- where the newest revision is not the file
);
CREATE INDEX IF NOT EXISTS idx_watermarks_session ON watermarks(session_no);
CREATE INDEX IF NOT EXISTS idx_watermarks_revision ON watermarks(revision); -- a deleted revision looks for them

CREATE TABLE IF NOT EXISTS tombstones (
  session_key TEXT PRIMARY KEY,
  made_at     TEXT NOT NULL,
  cause       TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS runs (
  id              INTEGER PRIMARY KEY,
  started_at      TEXT NOT NULL,
  finished_at     TEXT,
  duration_ms     INTEGER,
  files_seen      INTEGER NOT NULL DEFAULT 0,
  bytes_read      INTEGER NOT NULL DEFAULT 0,
  turns_added     INTEGER NOT NULL DEFAULT 0,
  files_committed INTEGER NOT NULL DEFAULT 0,
  files_failed    INTEGER NOT NULL DEFAULT 0,
  error           TEXT,
  notes           TEXT
);

-- What the lookup of one prompt found, and what became of it: a row for each
-- prompt, fired or not.
CREATE TABLE IF NOT EXISTS decisions (
  id                   INTEGER PRIMARY KEY,
  file                 TEXT NOT NULL UNIQUE, -- the name of the file that it came from
  session_id           TEXT,
  ts                   TEXT,
  cwd                  TEXT,
  prompt               TEXT,
  watermark_session_no INTEGER,
  compacted            INTEGER,
  spellings            TEXT, -- this and the next five: JSON
  candidates           TEXT,
  injected             TEXT,
  suppressed           TEXT,
  dropped              TEXT,
  thresholds           TEXT,
  chars_injected       INTEGER,
  text                 TEXT,
  reason               TEXT,
  looked               INTEGER,
  judged_at            TEXT
);
CREATE INDEX IF NOT EXISTS idx_decisions_session ON decisions(session_id, ts);
-- What a tally needs: the rows themselves are a hundred times as long.
CREATE INDEX IF NOT EXISTS idx_decisions_tally ON decisions(cwd, compacted, chars_injected, injected);
CREATE INDEX IF NOT EXISTS idx_decisions_unjudged ON decisions(session_id, cwd) WHERE judged_at IS NULL;
CREATE INDEX IF NOT EXISTS idx_decisions_ts ON decisions(ts);

-- What became of a decision once its session was closed. A turn that was deleted
-- keeps its label.
CREATE TABLE IF NOT EXISTS labels (
  id          INTEGER PRIMARY KEY,
  decision_id INTEGER NOT NULL REFERENCES decisions(id),
  turn_id     INTEGER,
  label       TEXT NOT NULL, -- hit, false positive, miss, wasted budget
  detail      TEXT,
  labeled_at  TEXT
);
CREATE INDEX IF NOT EXISTS idx_labels_decision ON labels(decision_id);
CREATE INDEX IF NOT EXISTS idx_labels_label ON labels(label, decision_id, turn_id);

-- The mechanical facts of closed sessions.
CREATE TABLE IF NOT EXISTS observations (
  session_key  TEXT PRIMARY KEY REFERENCES sessions(session_key),
  session_id   TEXT,
  generated_at TEXT,
  mechanical   TEXT -- JSON
);

-- ---- derived: rebuilt from the blocks ----------------------------------------

CREATE TABLE IF NOT EXISTS turns (
  id             INTEGER PRIMARY KEY, -- session_no << 24 | turn_seq
  uuid           BLOB,                -- 16 bytes where canonical, else its text
  record_type    TEXT NOT NULL,
  tool_name      TEXT,
  ts             TEXT,
  stream_offset  INTEGER NOT NULL,
  byte_len       INTEGER NOT NULL,
  is_typed       INTEGER,
  is_tool_result INTEGER,
  in_current     INTEGER NOT NULL DEFAULT 1,
  native_id      TEXT
);
CREATE INDEX IF NOT EXISTS idx_turns_uuid ON turns(uuid) WHERE uuid IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_turns_native ON turns(native_id) WHERE native_id IS NOT NULL;

CREATE TABLE IF NOT EXISTS line_index (
  session_no    INTEGER NOT NULL,
  native_id     TEXT NOT NULL,
  hash          BLOB NOT NULL,
  stream_offset INTEGER NOT NULL,
  byte_len      INTEGER NOT NULL,
  PRIMARY KEY (session_no, native_id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS compaction_boundaries (
  turn_id  INTEGER PRIMARY KEY,
  metadata BLOB
);

-- What turns name: each (kind, value) once, and the turns that carry it.
CREATE TABLE IF NOT EXISTS entity_values (
  id    INTEGER PRIMARY KEY,
  kind  TEXT NOT NULL, -- path, command, error, symbol, tool
  value TEXT NOT NULL,
  UNIQUE (kind, value)
);

CREATE TABLE IF NOT EXISTS entities (
  value INTEGER NOT NULL, -- entity_values.id
  turn  INTEGER NOT NULL, -- turns.id
  PRIMARY KEY (value, turn)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_entities_turn ON entities(turn);

CREATE VIEW IF NOT EXISTS paths AS
  SELECT e.turn AS turn_id, v.value AS path
  FROM entities e JOIN entity_values v ON v.id = e.value
  WHERE v.kind = 'path';

-- How many tokens the search row of each turn has, two bytes little endian a
-- turn by turn_seq: 65535 is "ask turns_fts_docsize", 0 is "no search row".
CREATE TABLE IF NOT EXISTS lengths (
  slot   INTEGER PRIMARY KEY,
  counts BLOB NOT NULL
);

CREATE VIRTUAL TABLE IF NOT EXISTS turns_fts USING fts5(
  body, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
);
