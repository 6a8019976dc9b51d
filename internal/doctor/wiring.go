package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/wire/claude"
)

// settingsFile is Claude Code's settings.json.
type settingsFile struct{}

func (settingsFile) name() string { return "settings_file" }

func (settingsFile) look(_ context.Context, m *machine) Finding {
	if m.placesErr != nil {
		return unknown("%v", m.placesErr)
	}
	s := m.wired.Settings
	switch {
	case s.Err != nil:
		return problem("%v", s.Err)
	case !s.Exists:
		return note("%s is not there yet", s.Path)
	case s.Blank:
		return note("%s is empty", s.Path)
	}
	f := ok("%s can be read", s.Path)
	if m.wired.Plugin != "" && !m.plugged() {
		f = f.noted("it enables the plugin %s beside the entries of install, and the plugin then does nothing", m.wired.Plugin)
	}
	if oddPermissionMode(s.Path) {
		f = f.noted("its permissions.defaultMode is none that this build knows: Claude Code may ignore it, or stop sweeping old transcripts until it is mended")
	}
	return f
}

// hook is the entry of one event.
type hook struct {
	event string
	n     int // its place among the events
}

func (h hook) name() string { return "hook_" + h.event }

func (h hook) look(_ context.Context, m *machine) Finding {
	if m.placesErr != nil {
		return unknown("%v", m.placesErr)
	}
	path := m.wired.Settings.Path
	if m.wired.Settings.Err != nil {
		return unknown("%s cannot be made use of", path)
	}
	s := m.wired.Hooks[h.n]
	switch {
	case m.plugged():
		return h.switched(ok("the plugin %s, which %s enables, runs %s", m.wired.Plugin, path, h.event), m)
	case len(s.Ours) > 1:
		return problem("%s has %d terminus entries for %s, and each is run: %s", path, len(s.Ours), h.event, places(s.Ours))
	case len(s.Ours) == 0:
		f := problem("%s has no terminus entry for %s", path, h.event)
		if len(s.Others) > 0 {
			f = f.and("another one runs %s", s.Others[0].Command)
		}
		return f.fix("%s", m.install())
	case !s.Ours[0].Whole:
		return problem("%s: %s is not what install writes: it runs %s", path, s.Ours[0].Path, commandLine(s.Ours[0])).
			fix("%s", m.install())
	}
	f := ok("%s runs %s", path, commandLine(s.Ours[0]))
	if len(s.Others) > 0 {
		f = f.noted("another install runs for %s as well: %s", h.event, commandLine(s.Others[0]))
	}
	return h.traced(h.switched(f, m), m)
}

// switched adds what switches it off.
func (h hook) switched(f Finding, m *machine) Finding {
	if m.wired.Disabled {
		f = f.noted("disableAllHooks is on there, so that Claude Code runs no hook")
	}
	if off := m.injectionOff(); off != "" {
		f = f.noted("injection is off (%s): no hook hands over a text", off)
	}
	if idle := m.around.RecallIdle; idle != "" {
		f = f.noted("%s switches nothing off: only off does", idle)
	}
	return f
}

// traced adds what is on record of its runs. Only the two events that may hand over
// a text leave a record: in Claude Code's transcript where they did, and a prompt in
// the log of decisions either way.
func (h hook) traced(f Finding, m *machine) Finding {
	if h.event != sessionStart && h.event != userPromptSubmit {
		return f
	}
	t, found := newestTrace(m.transcripts, h.event, m.wired.Hooks[h.n].Ours[0].Command)
	if h.event == userPromptSubmit && m.lastPrompt.at > t.at {
		t, found = m.lastPrompt, true
	}
	switch {
	case !found:
		return f.and("no run of it is on record, which is no fault: Claude Code runs hooks only in a folder that is trusted, " +
			"and writes one down only where it handed over a text")
	case t.failed:
		return f.noted("Claude Code recorded that it failed in %s at %s", t.dir, t.at)
	case t.ms == untimed:
		return f.and("it ran last in %s at %s", t.dir, t.at)
	}
	return f.and("it ran last in %s at %s, for %d ms", t.dir, t.at, t.ms)
}

// The events that may hand over a text.
const (
	sessionStart     = "SessionStart"
	userPromptSubmit = "UserPromptSubmit"
)

// injectionOff says what switches injection off for the working directory, or "".
func (m *machine) injectionOff() string {
	switch {
	case m.around.RecallOff != "":
		return m.around.RecallOff
	case m.cfgErr != nil || m.cfg.Injection.For(m.project()):
		return ""
	case m.cfg.Injection.Enabled:
		return "[injection.project] in " + m.cfg.File + " switches it off here"
	}
	return "[injection] enabled = false in " + m.cfg.File
}

func places(entries []claude.Entry) string {
	var at []string
	for _, e := range entries {
		at = append(at, e.Path)
	}
	return strings.Join(at, ", ")
}

// commandLine shows what an entry runs.
func commandLine(e claude.Entry) string {
	if e.Command == "" {
		return "nothing"
	}
	return strings.Join(slices.Concat([]string{e.Command}, e.Args), " ")
}

// mcpServer is the entry of the MCP server, and the server itself.
type mcpServer struct{}

func (mcpServer) name() string { return "mcp_server" }

func (mcpServer) look(ctx context.Context, m *machine) Finding {
	if m.placesErr != nil {
		return unknown("%v", m.placesErr)
	}
	path, entry := m.wired.State.Path, m.wired.MCP.Entry
	switch {
	case m.wired.State.Err != nil:
		return problem("%v", m.wired.State.Err)
	case m.plugged() && m.onPath() == "":
		return problem("the plugin %s brings the MCP server terminus, and no program of that name is on PATH", m.wired.Plugin).
			fix("%s", m.install())
	case m.plugged():
		return ok("the plugin %s brings the MCP server terminus, and runs %s mcp", m.wired.Plugin, m.onPath())
	case entry == nil:
		return problem("%s has no MCP server terminus", path).fix("%s", m.install())
	case !m.wired.MCP.Ours:
		// Install leaves it, so that no command mends it.
		return problem("%s: the MCP server terminus is another's: it runs %s", path, commandLine(*entry)).
			fix("set .mcpServers.terminus to %s in %s", m.wiring().ServerText(), path)
	case !entry.Whole:
		return problem("%s: the MCP server terminus is not what install writes: it runs %s", path, commandLine(*entry)).
			fix("%s", m.install())
	}
	f := ok("%s runs %s", path, commandLine(*entry))
	if !m.stable {
		return f // what is wrong with the program has been said
	}
	tools, err := listTools(ctx, entry.Command, entry.Args)
	if err != nil {
		return problem("%s, which does not answer: %v", f.Finding, err).fix("%s", m.install())
	}
	return f.and("it answers, with %s", count(tools, "tool"))
}

// question is what an agent asks a server first. It opens no archive.
const question = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
	`"clientInfo":{"name":"terminus-doctor","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// listTools runs a server until it has listed its tools, and counts them.
func listTools(ctx context.Context, command string, args []string) (int, error) {
	said, err := output(ctx, serverLimit, []byte(question), command, args...)
	if err != nil {
		return 0, err
	}
	return countTools(string(said))
}

func countTools(said string) (int, error) {
	for line := range strings.Lines(said) {
		var reply struct {
			ID     any `json:"id"`
			Result struct {
				Tools []json.RawMessage `json:"tools"`
			} `json:"result"`
		}
		if json.Unmarshal([]byte(line), &reply) == nil && reply.ID == 2.0 && len(reply.Result.Tools) > 0 {
			return len(reply.Result.Tools), nil
		}
	}
	return 0, fmt.Errorf("it lists no tool")
}
