// Package codex reads the sessions of Codex CLI.
//
// Codex keeps one file of JSON records a session, a rollout, below its home (`~/.codex`, or
// where CODEX_HOME points):
//
//	sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl      a session or a subagent of one
//	sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl.zst  an old one, compressed
//	archived_sessions/rollout-<time>-<uuid>.jsonl        one that a person archived
//	sessions/rollout-<date>-<uuid>.json                  a document of the first versions
//	history.jsonl                                        what was typed in all sessions
//
// A rollout is only appended to. Its records are `{timestamp, type, payload}`; the first
// versions wrote the payload alone. The same text stands there in up to three forms (see
// heard.go). history.jsonl serves for the sessions whose rollout is gone (see history.go).
package codex

import (
	"context"
	"iter"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is Codex CLI. The zero value is ready; it holds no state and may be used by several
// goroutines.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Keyer    = Harness{}
	_ harness.Rooter   = Harness{}
	_ harness.Modifier = Harness{}
	_ harness.Bulky    = Harness{}
)

// ID is "codex".
func (Harness) ID() string { return "codex" }

// Name is "Codex CLI".
func (Harness) Name() string { return "Codex CLI" }

// Seen is the version whose store was read; older forms are read by their documents.
func (Harness) Seen() string { return "0.171.0" }

// Roots is the directory that CODEX_HOME names, else ~/.codex.
func (Harness) Roots(m harness.Machine) []string {
	return harness.Places(m.Variable("CODEX_HOME", m.Below(".codex")))
}

// Resume is `codex resume` with the id.
func (Harness) Resume(sessionID string) []string { return []string{"codex", "resume", sessionID} }

// Modifies is true of apply_patch.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }

// tools are those that Codex has had under any of their names.
var tools = turn.Tools{
	"apply_patch":    {Patch: "*", Changes: true},
	"exec_command":   {Commands: []string{"cmd"}, Patch: "cmd"},
	"shell":          {Commands: []string{"command"}, Patch: "command"},
	"shell_command":  {Commands: []string{"command"}, Patch: "command"},
	"container.exec": {Commands: []string{"command"}, Patch: "command"},
	"local_shell":    {Commands: []string{"command"}, Patch: "command"},
	"view_image":     {Paths: []string{"path"}},
	"read_file":      {Paths: []string{"file_path"}},
	"list_dir":       {Paths: []string{"dir_path"}},
	"grep_files":     {Paths: []string{"path"}, Code: []string{"pattern"}},
}

// Bulk names the events in which a rollout repeats what a tool returned. What the model read of
// it stays: it stands in a record of its own.
func (Harness) Bulk() harness.Bulk {
	return harness.Bulk{Members: []string{"payload"}, Kept: func(_ string, value []byte) bool {
		payload := transcript.Value(value)
		switch payload.Get("type").String() {
		case "item_completed":
			return !toolItems[payload.Get("item", "type").String()]
		case "exec_command_end", "mcp_tool_call_end", "patch_apply_end":
			return false
		}
		return true
	}}
}

// Tail yields the records of a document of the first versions, or the prompts of a session that
// stand in history.jsonl.
func (Harness) Tail(ctx context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	switch {
	case t.Kind != harness.Rows:
		return harness.NoTail(t)
	case isPrompts(t):
		return prompts(ctx, t)
	}
	return rows.Records(rows.Document{Path: t.Path, List: "items", ID: "id"})
}
