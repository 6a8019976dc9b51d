package claude

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/wire"
)

// at is a wiring in a directory of its own, whose program moved once.
func at(dir string) Wiring {
	return Wiring{
		Settings: filepath.Join(dir, "settings.json"), State: filepath.Join(dir, ".claude.json"),
		Own: wire.Own{Binary: "/bin/terminus", Recorded: []string{"/old/terminus"}},
	}
}

func status(t *testing.T, settings, state string) Status {
	t.Helper()
	w := at(t.TempDir())
	for path, text := range map[string]string{w.Settings: settings, w.State: state} {
		if text == "-" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := w.Status()
	if len(s.Hooks) != len(Events()) {
		t.Fatalf("%d hooks", len(s.Hooks))
	}
	for i, event := range Events() {
		if s.Hooks[i].Event != event {
			t.Errorf("hook %d is %s", i, s.Hooks[i].Event)
		}
	}
	return s
}

func TestStatusTellsWhoseEntriesStandThere(t *testing.T) {
	s := status(t, `{"disableAllHooks": true, "hooks": {"SessionStart": [
		{"hooks": [{"type": "command", "command": "/bin/terminus", "args": ["hook", "SessionStart"], "timeout": 3}]},
		{"hooks": [{"type": "command", "command": "/old/terminus", "args": ["hook", "SessionStart"]}, {"type": "prompt", "prompt": "x"}]},
		{"hooks": [{"type": "command", "command": "/bin/terminus", "args": ["hook", "SessionEnd"]}]},
		{"hooks": [{"command": "/bin/terminus", "args": ["hook", "SessionStart"]}]},
		{"hooks": [{"type": "command", "command": "/bin/terminus", "args": ["ingest"]}]},
		{"hooks": [{"type": "command", "command": "/their/terminus", "args": ["hook", "SessionStart"]}]},
		{"hooks": [{"type": "command", "command": "'/their own/terminus' hook SessionStart"}]},
		{"hooks": [{"type": "command", "command": "other", "args": ["hook", "session-start"]}]}
	]}}`, `{"mcpServers": {"terminus": {"type": "stdio", "command": "/bin/terminus", "args": ["mcp"], "env": {}}}}`)
	var ours, others []string
	for _, e := range s.Hooks[0].Ours {
		path := e.Path
		if e.Whole {
			path += " whole"
		}
		ours = append(ours, path)
	}
	for _, e := range s.Hooks[0].Others {
		others = append(others, e.Path+" "+e.Command)
	}
	if want := []string{
		".hooks.SessionStart[0].hooks[0] whole", ".hooks.SessionStart[1].hooks[0]",
		".hooks.SessionStart[2].hooks[0]", ".hooks.SessionStart[3].hooks[0]",
	}; !reflect.DeepEqual(ours, want) {
		t.Errorf("ours are %q", ours)
	}
	if want := []string{
		".hooks.SessionStart[5].hooks[0] /their/terminus", ".hooks.SessionStart[6].hooks[0] '/their own/terminus' hook SessionStart",
	}; !reflect.DeepEqual(others, want) {
		t.Errorf("others are %q", others)
	}
	if len(s.Hooks[1].Ours)+len(s.Hooks[1].Others) != 0 {
		t.Errorf("hooks %+v", s.Hooks[1])
	}
	if !s.Disabled || !s.MCP.Ours || !s.MCP.Entry.Whole {
		t.Errorf("disabled: %v, server %+v", s.Disabled, s.MCP)
	}
}

func TestStatusTellsHowTheFilesAre(t *testing.T) {
	for name, tt := range map[string]struct {
		settings, state string
		exists, blank   bool
		why, stateWhy   string // how the errors end
	}{
		"nothing there":     {"-", "-", false, true, "", ""},
		"empty":             {"", "{}", true, true, "", ""},
		"only a comment":    {"// x", "{}", true, true, "", ""},
		"whole":             {"{}", "{}", true, false, "", ""},
		"no JSON":           {"{", "{", true, false, "settings.json: line 1, column 2, in .: the text ends before '}'", ".claude.json: line 1, column 2, in .: the text ends before '}'"},
		"of another type":   {`{"hooks": {"PostCompact": [null]}}`, `{"mcpServers": {"terminus": 1}}`, true, false, "settings.json: .hooks.PostCompact[0] is null, not an object", ".claude.json: .mcpServers.terminus is a number, not an object"},
		"elsewhere, no one": {`{"hooks": {"Stop": null}}`, `{"projects": {"p": null}}`, true, false, "", ""},
	} {
		s := status(t, tt.settings, tt.state)
		for _, f := range []struct {
			FileStatus
			why string
		}{{s.Settings, tt.why}, {s.State, tt.stateWhy}} {
			if (f.Err == nil) != (f.why == "") || f.Err != nil && !strings.HasSuffix(f.Err.Error(), f.why) {
				t.Errorf("%s: %v, want %s", name, f.Err, f.why)
			}
		}
		if s.Settings.Exists != tt.exists || s.Settings.Blank != tt.blank {
			t.Errorf("%s: exists %v, blank %v", name, s.Settings.Exists, s.Settings.Blank)
		}
		if s.MCP.Entry != nil || s.MCP.Ours {
			t.Errorf("%s: server %+v", name, s.MCP)
		}
	}
}

func TestAnotherInstallsServerIsNotOurs(t *testing.T) {
	for text, ours := range map[string]bool{
		`{"command": "terminus", "args": ["mcp"]}`:          false,
		`{"command": "/bin/terminus", "args": ["mcp", ""]}`: false,
		`{"command": "/bin/terminus"}`:                      false,
		`{"type": "http", "url": "http://127.0.0.1:1/"}`:    false,
		`{"command": "/old/terminus", "args": ["mcp"]}`:     true,
		`{"command": "/bin/terminus", "args": ["mcp"]}`:     true,
	} {
		s := status(t, "-", `{"mcpServers": {"terminus": `+text+`}}`)
		if s.MCP.Entry == nil || s.MCP.Entry.Whole || s.MCP.Ours != ours {
			t.Errorf("%s: %+v", text, s.MCP)
		}
	}
}

// Whatever stands in a file: adding ours is done once and for all, makes it whole,
// and taking it out gives back the bytes. What is refused is refused without a change.
func FuzzAddAndRemove(f *testing.F) {
	for _, s := range []string{
		"", "{}", "null", "// c \n", `{"hooks":{}}`, `{"hooks":{"SessionStart":[]}}`, `{"mcpServers":{}}`, "{\n  \"a\": 1, // b\n}\r\n",
		`{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"/old/terminus","args":["hook","SessionEnd"]}]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/bin/terminus","args":["hook","SessionEnd"]}]}]}}`,
		`{"hooks":{"SessionEnd":[{"hooks":[{"command":"/bin/terminus","args":["hook","PostCompact"]},{"a":[]}]},{"hooks":[]}]}}`,
		`{"mcpServers":{"terminus":{"command":"/old/terminus","args":["mcp"],"env":{}}}}`, `{"mcpServers":{"terminus":{}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, e := range at("/nowhere").Edits() {
			given := bytes.Clone(text)
			added, err := e.Add(text)
			if err != nil {
				continue
			}
			again, err := e.Add(added.Text)
			if err != nil || !bytes.Equal(again.Text, added.Text) || len(again.Changed) > 0 {
				t.Fatalf("%s: %q, once more, is %q, %v", e.Name, added.Text, again.Text, err)
			}
			gone, err := e.Remove(added.Text, wire.Before{Known: true, Text: text})
			if err != nil {
				t.Fatalf("%s: %q cannot be taken out: %v", e.Name, added.Text, err)
			}
			if !added.Held && !bytes.Equal(gone.Text, text) && !strings.Contains(string(text), "terminus") {
				t.Fatalf("%s: %q came back as %q, by %q", e.Name, text, gone.Text, added.Text)
			}
			if left, err := e.Remove(gone.Text, wire.Before{}); err != nil || left.Held {
				t.Fatalf("%s: ours is left in %q, %v", e.Name, gone.Text, err)
			}
			unknown, err := e.Remove(added.Text, wire.Before{})
			if err != nil || len(added.Changed) > 0 && !unknown.Held {
				t.Fatalf("%s: without the copy nothing is found in %q, %v", e.Name, added.Text, err)
			}
			if !bytes.Equal(given, text) {
				t.Fatalf("%s: the text was written to", e.Name)
			}
		}
	})
}
