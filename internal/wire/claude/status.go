// Package claude wires Terminus into Claude Code: four hooks in settings.json and
// an MCP server in .claude.json.
package claude

import (
	"errors"

	"github.com/terminus-archive/terminus/internal/wire"
)

// Events are the hook events that are wired, in the order in which they are.
func Events() []string {
	return []string{"SessionStart", "UserPromptSubmit", "SessionEnd", "PostCompact"}
}

// A Wiring is one configuration of Claude Code, and who Terminus is in it.
type Wiring struct {
	// Settings is the path of settings.json, and State that of .claude.json.
	Settings, State string
	// Own says which commands are this install's.
	Own wire.Own
}

// A FileStatus says how one of the two files was found.
type FileStatus struct {
	// Path is the file as it was asked for: a link is not resolved.
	Path string
	// Exists tells whether there is a file, and Blank whether nothing stands in
	// it but white space.
	Exists, Blank bool
	// Err says why a file that is there could not be made use of: it cannot be
	// read, is not JSON, holds a key twice, or a value of a type that Claude Code
	// does not take either. It names the path of the file and that of the key.
	Err error
}

// An Entry is one handler of a hook, or one MCP server.
type Entry struct {
	// Path is where it stands in its file: .hooks.SessionStart[0].hooks[1]
	Path string
	// Type, Command and Args are its fields; zero where they are absent or of
	// another type.
	Type, Command string
	Args          []string
	// Whole tells whether it is what install writes today: the type, the stable
	// path and not a recorded one, and the arguments. Fields beyond those do not count.
	Whole bool
}

// A HookStatus is what stands in settings.json for one event.
type HookStatus struct {
	Event string
	// Ours are the entries of this install (wire.Own), whole or not. More than one
	// is somebody's edit: install makes one.
	Ours []Entry
	// Others are the entries that run the hooks of another install: another
	// command with our arguments, or with ours in one shell command line.
	Others []Entry
}

// An MCPStatus is what stands under the name terminus in .claude.json.
type MCPStatus struct {
	// Entry is nil where there is none.
	Entry *Entry
	// Ours tells whether the entry is this install's (wire.Own), whole or not.
	Ours bool
}

// A Status is how Claude Code is wired.
type Status struct {
	Settings, State FileStatus
	// Hooks has one element for each of Events, in their order, whatever was found.
	Hooks []HookStatus
	// Disabled tells whether settings.json switches every hook off (disableAllHooks).
	Disabled bool
	MCP      MCPStatus
}

var errNotYet = errors.New("not implemented")

// Status reads both files and writes nothing.
func (w Wiring) Status() Status {
	s := Status{
		Settings: FileStatus{Path: w.Settings, Err: errNotYet},
		State:    FileStatus{Path: w.State, Err: errNotYet},
	}
	for _, event := range Events() {
		s.Hooks = append(s.Hooks, HookStatus{Event: event})
	}
	return s
}
