// Package claude reads the sessions of Claude Code.
//
// Claude Code keeps one file of JSON records a session, below the `projects`
// directory of its configuration directory (`~/.claude`, or where
// CLAUDE_CONFIG_DIR points):
//
//	projects/<folder>/<uuid>.jsonl                          a session
//	projects/<folder>/<uuid>/subagents/agent-<id>.jsonl     a subagent of it
//	projects/<folder>/<uuid>/subagents/workflows/wf_<id>/agent-<id>.jsonl
//	projects/<folder>/<uuid>/subagents/agent-<id>.meta.json what started it
//	projects/<folder>/<uuid>/tool-results/...               outputs too long for a record
//	projects/<folder>/<uuid>/custom-title.json
//
// <folder> is the working directory with every character outside [A-Za-z0-9]
// replaced by '-', cut at 200. Different directories share a folder, so it is
// never decoded: the project of a session comes from the `cwd` in its records.
//
// Records are appended, one a line; a session that is resumed goes on in its
// file, a fork begins a new file with copies of the old records. The form is
// not documented by its maker and moves: versions 1.0.117 to 2.1.332 were seen.
//
// Discovery opens no transcript: it reads directories, names and stats.
package claude

import (
	"context"
	"iter"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is Claude Code. The zero value is ready; it holds no state and may
// be used by several goroutines.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Rooter   = Harness{}
	_ harness.Modifier = Harness{}
	_ harness.Bulky    = Harness{}
)

// ID is "claude".
func (Harness) ID() string { return "claude" }

// Name is "Claude Code".
func (Harness) Name() string { return "Claude Code" }

// Seen is what `make test-claude` runs, and the versions that others wrote.
func (Harness) Seen() string { return "1.0.117 to 2.1.332" }

// Roots is the directory that CLAUDE_CONFIG_DIR names, else ~/.claude.
func (Harness) Roots(m harness.Machine) []string {
	return harness.Places(m.Variable("CLAUDE_CONFIG_DIR", m.Below(".claude")))
}

// Resume is `claude --resume` with the id.
func (Harness) Resume(sessionID string) []string { return []string{"claude", "--resume", sessionID} }

// Modifies is true of the tools that edit or write a file.
func (Harness) Modifies(tool string) bool {
	switch tool {
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		return true
	}
	return false
}

// Tail yields one error: a transcript of Claude Code is a file of lines, which
// the caller reads itself.
func (Harness) Tail(_ context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return harness.NoTail(t)
}
