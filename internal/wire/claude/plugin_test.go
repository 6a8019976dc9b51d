package claude

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhatRunsTerminusBesideThePlugin(t *testing.T) {
	for handler, want := range map[string]bool{
		`{"type": "command", "command": "/home/me/.local/bin/terminus", "args": ["hook", "SessionEnd"]}`:                    true,
		`{"type": "command", "command": "/home/me and you/terminus", "args": ["hook", "SessionEnd"], "timeout": 5}`:         true,
		`{"type": "command", "command": "C:\\Users\\me\\Programs\\Terminus\\terminus.exe", "args": ["hook", "SessionEnd"]}`: true,
		`{"type": "command", "command": "'/opt/my tools/terminus' hook SessionEnd"}`:                                        true,
		`{"type": "command", "command": "terminus hook SessionEnd"}`:                                                        true,
		`{"type": "prompt", "command": "/home/me/.local/bin/terminus", "args": ["hook", "SessionEnd"]}`:                     false,
		`{"type": "command", "command": "/home/me/.local/bin/terminus", "args": ["hook", "SessionStart"]}`:                  false,
		`{"type": "command", "command": "/home/me/.local/bin/terminus", "args": ["hook"]}`:                                  false,
		`{"type": "command", "command": "/home/me/.local/bin/other", "args": ["hook", "SessionEnd"]}`:                       false,
		`{"type": "command", "command": "hook SessionEnd"}`:                                                                 false,
		`{"type": "command", "args": ["hook", "SessionEnd"]}`:                                                               false,
		`{}`: false,
	} {
		for matcher, everywhere := range map[string]bool{``: true, `"matcher": "", `: true, `"matcher": "*", `: true, `"matcher": "clear", `: false} {
			settings := filepath.Join(t.TempDir(), "settings.json")
			text := `{"hooks": {"SessionEnd": [{"hooks": []}, {` + matcher + `"hooks": [{}, ` + handler + `]}]}}`
			if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := RunsHook(settings, "SessionEnd"); got != (want && everywhere) {
				t.Errorf("%s: %v", text, got)
			}
		}
	}
	if RunsHook(filepath.Join(t.TempDir(), "none"), "SessionEnd") {
		t.Error("a file that is not there runs it")
	}
}

func TestWhichServerStandsBesideThePlugins(t *testing.T) {
	for text, want := range map[string]bool{
		`{"mcpServers": {"terminus": {"command": "/home/me/.local/bin/terminus", "args": ["mcp"]}}}`: true,
		`{"mcpServers": {"terminus": {"command": "terminus", "args": ["mcp"]}}}`:                     true,
		`{"mcpServers": {"terminus": {"command": "/home/me/other", "args": ["mcp"]}}}`:               false,
		`{"mcpServers": {"terminus": {"type": "http", "url": "http://127.0.0.1:1/"}}}`:               false,
		`{"mcpServers": {}}`: false,
		`{`:                  false,
	} {
		state := filepath.Join(t.TempDir(), ".claude.json")
		if err := os.WriteFile(state, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := RunsServer(state); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestThePluginIsKnownByItsNameInAnyMarketplace(t *testing.T) {
	for text, want := range map[string]string{
		`{"enabledPlugins": {"other@x": true, "terminus@terminus-archive": true}}`: "terminus@terminus-archive",
		`{"enabledPlugins": {"terminus@mine": true}}`:                              "terminus@mine",
		`{"enabledPlugins": {"terminus@mine": false}}`:                             "",
		`{"enabledPlugins": {"terminus": true, "terminus-2@mine": true}}`:          "",
		`{"enabledPlugins": ["terminus@mine"]}`:                                    "",
	} {
		if got := status(t, text, "{}").Plugin; got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
