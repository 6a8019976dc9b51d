// Package opencode reads the sessions of opencode and of Kilo Code's CLI, which grew from it
// and keeps its own in the same tables.
//
// Either keeps one SQLite database in its data directory:
//
//	~/.local/share/opencode/opencode.db   (opencode-<channel>.db of other builds)
//	~/.local/share/kilo/kilo.db
//
// Of 1.x, `session` holds a row a session, `message` one a message, `part` one for each text,
// tool call or reasoning of a message; a row changes while a tool runs, and is then final.
// 2.0 keeps a message with all that belongs to it as one row of `session_message`. A store
// that was upgraded has both: a session that says something in the second is read from there.
//
// A record is one row as it stands there, with what another row says of it beside: the role
// of a part's message. So a part that changes takes the place of itself alone.
package opencode

import (
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/turn"
)

// A Harness is opencode or Kilo Code's CLI. The zero value is opencode; it holds no state and
// may be used by several goroutines.
type Harness struct{ kilo bool }

// Kilo is Kilo Code's CLI.
func Kilo() Harness { return Harness{kilo: true} }

var (
	_ harness.Harness  = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Modifier = Harness{}
)

// ID is "opencode" or "kilocode".
func (h Harness) ID() string {
	if h.kilo {
		return "kilocode"
	}
	return "opencode"
}

// Name is "opencode" or "Kilo Code".
func (h Harness) Name() string {
	if h.kilo {
		return "Kilo Code"
	}
	return "opencode"
}

// Seen is the version whose store was read.
func (h Harness) Seen() string {
	if h.kilo {
		return "7.7.9"
	}
	return "1.18.33"
}

// Roots is the data directory, and where OPENCODE_DB names a database, that database.
func (h Harness) Roots(m harness.Machine) []string {
	if h.kilo {
		return harness.Places(m.XDGData("kilo"))
	}
	return harness.Places(m.XDGData("opencode"), m.Variable("OPENCODE_DB", ""))
}

// Resume is `opencode -s` or `kilo -s` with the id. There is none for an id that neither gives a
// session: Kilo Code has another store, whose tasks its CLI does not know.
func (h Harness) Resume(sessionID string) []string {
	if !strings.HasPrefix(sessionID, "ses") {
		return nil
	}
	if h.kilo {
		return []string{"kilo", "-s", sessionID}
	}
	return []string{"opencode", "-s", sessionID}
}

// isDatabase reports whether a file of a data directory is a database of sessions.
func (h Harness) isDatabase(name string) bool {
	program := "opencode"
	if h.kilo {
		program = "kilo"
	}
	rest, ok := strings.CutPrefix(name, program)
	return ok && strings.HasSuffix(rest, ".db") && (rest == ".db" || rest[0] == '-')
}

// tools are the tools of both, of 1.x and of 2.0.
var tools = turn.Tools{
	"bash":        {Commands: []string{"command"}},
	"shell":       {Commands: []string{"command"}},
	"read":        {Paths: []string{"filePath", "path"}},
	"write":       {Paths: []string{"filePath", "path"}, Code: []string{"content"}, Changes: true},
	"edit":        {Paths: []string{"filePath", "path"}, Code: []string{"oldString", "newString"}, Changes: true},
	"multiedit":   {Paths: []string{"filePath", "edits.filePath"}, Code: []string{"edits.oldString", "edits.newString"}, Changes: true},
	"patch":       {Patch: "patchText", Changes: true},
	"apply_patch": {Patch: "patchText", Changes: true},
	"grep":        {Paths: []string{"path"}, Code: []string{"pattern"}},
	"glob":        {Paths: []string{"path"}, Code: []string{"pattern"}},
	"list":        {Paths: []string{"path"}},
	"lsp":         {Paths: []string{"filePath"}},
}

// Modifies is true of the tools that edit, write or patch a file.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }
