package claude

import (
	"fmt"

	"github.com/terminus-archive/terminus/internal/wire"
	"github.com/terminus-archive/terminus/internal/wire/jsonedit"
)

// A FileStatus says how one of the two files was found.
type FileStatus struct {
	// Path is the file as it was asked for: a link is not resolved.
	Path string
	// Exists tells whether there is a file, and Blank whether no value stands in
	// it.
	Exists, Blank bool
	// Err says why a file that is there could not be made use of: it cannot be
	// read, is not JSON, holds a key twice, or a value of a type that Claude Code
	// does not take either. It names the path of the file and that of the key.
	Err error
}

// A HookStatus is what stands in settings.json for one event.
type HookStatus struct {
	Event string
	// Ours are the entries of this install (wire.Own), whole or not. More than one
	// is somebody's edit: install makes one.
	Ours []Entry
	// Others are the entries that run the hook of another install: another
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
	// A file with an Err has no entries.
	Hooks []HookStatus
	// Disabled tells whether settings.json switches every hook off (disableAllHooks).
	Disabled bool
	MCP      MCPStatus
	// Plugin is the plugin of Terminus that settings.json enables, as Claude Code names
	// it (terminus@MARKETPLACE), or "". It brings hooks and a server of its own.
	Plugin string
}

// Status reads both files and writes nothing.
func (w Wiring) Status() Status {
	var s Status
	var settings, state *jsonedit.Document
	s.Settings, settings = look(w.Settings, checkHooks)
	s.State, state = look(w.State, checkServers)
	for _, event := range Events() {
		h := HookStatus{Event: event}
		for _, e := range w.handlers(settings.At(jsonedit.Path{keyHooks, event}), event) {
			switch {
			case w.ours(e):
				h.Ours = append(h.Ours, e)
			case e.foreign(event):
				h.Others = append(h.Others, e)
			}
		}
		s.Hooks = append(s.Hooks, h)
	}
	s.Disabled = settings.Root().Get(keyDisabled).Text() == "true"
	s.MCP.Entry, s.MCP.Ours = w.server(state)
	s.Plugin = plugin(settings)
	return s
}

// look reads a file. The document is an empty one where it cannot be made use of.
func look(path string, check func(*jsonedit.Document) error) (FileStatus, *jsonedit.Document) {
	s := FileStatus{Path: path}
	text, exists, err := wire.ReadFile(path)
	s.Exists = exists
	d := &jsonedit.Document{}
	if err == nil {
		if d, err = jsonedit.Parse(text); err == nil {
			err = check(d)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		s.Err = err
		return s, &jsonedit.Document{}
	}
	s.Blank = d.Blank()
	return s, d
}
