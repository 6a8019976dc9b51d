// Package gemini reads the sessions of Gemini CLI, and of Qwen Code, which began as a copy of
// it: their records hold the same parts.
//
// Gemini CLI keeps its sessions below `~/.gemini/tmp`, a directory for each project:
//
//	tmp/<project>/.project_root                      the project's directory
//	tmp/<project>/chats/session-<time>-<id8>.jsonl   a session
//	tmp/<project>/chats/session-<time>-<id8>.json    a session of an older version
//	tmp/<project>/chats/<session>/<id>.jsonl         a subagent of it
//	tmp/<project>/tool-outputs/session-<session>/... outputs too long for a record
//
// A session is a header and messages. A message is written again, under its id, when more of it
// is known; `$set` writes all of them anew as the model is to see them, `$rewindTo` takes the
// last ones back. Whatever the agent drops, replaces or takes back in this way stays a turn.
package gemini

import (
	"context"
	"iter"
	"path/filepath"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is Gemini CLI. The zero value is ready; it holds no state and may be used by several
// goroutines.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Rooter   = Harness{}
	_ harness.Modifier = Harness{}
)

// ID is "gemini".
func (Harness) ID() string { return "gemini" }

// Name is "Gemini CLI".
func (Harness) Name() string { return "Gemini CLI" }

// Seen is the version whose stores were read.
func (Harness) Seen() string { return "0.61" }

// Roots is `.gemini` in the directory that GEMINI_CLI_HOME names, else in the home directory.
func (Harness) Roots(m harness.Machine) []string {
	return harness.Places(m.Variable("GEMINI_CLI_HOME", m.Home, ".gemini"))
}

// Resume is `gemini --resume` with the id.
func (Harness) Resume(sessionID string) []string { return []string{"gemini", "--resume", sessionID} }

// Modifies is true of the tools that write or edit a file.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }

// RootAt is the directory `tmp` above a session's folder `chats`.
func (Harness) RootAt(path string) string {
	for dir := filepath.Dir(path); ; {
		above := filepath.Dir(dir)
		if filepath.Base(dir) == chats {
			return filepath.Dir(above)
		}
		if above == dir {
			return ""
		}
		dir = above
	}
}

// Tail yields the records of a session that is one document.
func (Harness) Tail(_ context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	if t.Kind == harness.Lines {
		return harness.NoTail(t)
	}
	return rows.Records(rows.Document{Path: t.Path, List: "messages", ID: "id"})
}

// tools is what the arguments of the tools of both agents mean.
var tools = turn.Tools{
	shell:                 {Commands: []string{"command"}},
	"read_file":           {Paths: []string{"file_path", "absolute_path"}},
	"read_many_files":     {Paths: []string{"paths", "include"}},
	"write_file":          {Paths: []string{"file_path"}, Code: []string{"content"}, Changes: true},
	"replace":             {Paths: []string{"file_path"}, Code: []string{"old_string", "new_string"}, Changes: true},
	"edit":                {Paths: []string{"file_path"}, Code: []string{"old_string", "new_string"}, Changes: true},
	"notebook_edit":       {Paths: []string{"notebook_path", "file_path"}, Code: []string{"new_source"}, Changes: true},
	"list_directory":      {Paths: []string{"dir_path", "path"}},
	"glob":                {Paths: []string{"dir_path", "path"}, Code: []string{"pattern"}},
	"grep_search":         {Paths: []string{"dir_path", "path"}, Code: []string{"pattern"}},
	"search_file_content": {Paths: []string{"dir_path", "path"}, Code: []string{"pattern"}},
}

// shell is the tool whose output tells an exit status.
const shell = "run_shell_command"
