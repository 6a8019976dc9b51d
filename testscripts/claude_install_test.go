package testscripts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/modeltest"
)

// A real Claude Code takes up what install wrote before it was ever there, and goes on
// as if nothing had been when it is taken back.
func TestRealClaudeInstalled(t *testing.T) {
	c := bareClaude(t)
	settings, state := filepath.Join(c.dir(".claude"), "settings.json"), filepath.Join(c.home, ".claude.json")
	const before = "{\n    \"cleanupPeriodDays\": 3650, \"env\": {\"FOO\": \"1.0\"}\n}"
	c.check(os.WriteFile(settings, []byte(before), 0o600))
	c.command(c.terms, "install").mustRun()
	c.terms = filepath.Join(c.home, ".local", "bin", "terminus")

	c.model.Script("plain", modeltest.Say("The kestrel budget is three."))
	first := c.say("play:plain What is the budget?")
	if len(first.briefs) > 0 {
		t.Errorf("the first session was told %q", first.briefs)
	}
	var found struct{ Hits []claudeHit }
	c.terminus(&found, "search", "kestrel")
	if len(found.Hits) == 0 {
		t.Error("the hooks archived nothing")
	}
	second := c.say("play:plain And now?")
	if len(second.briefs) != 1 || !strings.Contains(second.briefs[0], "kestrel") {
		t.Errorf("the second session was told %q", second.briefs)
	}
	if out := c.command(c.program, "mcp", "list").mustRun(); !strings.Contains(out, "terminus: "+c.terms+" mcp") || !strings.Contains(out, "Connected") {
		t.Errorf("the client says of its servers:\n%s", out)
	}

	// The client has written its state over and over. All of it stays.
	was := document(t, state)
	delete(was, "mcpServers")
	c.command(c.terms, "uninstall").mustRun()
	if !is(settings, before) {
		text, _ := os.ReadFile(settings)
		t.Errorf("settings.json is\n%s", text)
	}
	if now := document(t, state); !reflect.DeepEqual(now, was) {
		t.Errorf(".claude.json is %v\nwas %v", now, was)
	}
	left, err := traces(c.home)
	c.check(err)
	for path := range left {
		below, _ := filepath.Rel(c.home, path)
		archive, log := filepath.Join(".local", "share"), ".cache" // the client logs what its servers do
		if strings.Contains(below, "terminus") && !strings.HasPrefix(below, archive) && !strings.HasPrefix(below, log) {
			t.Errorf("%s is left", path)
		}
	}
	third := c.say("play:plain And after that?")
	if len(third.briefs)+len(third.recalls) > 0 {
		t.Errorf("after uninstall the client was told %q", third.briefs)
	}
}

// document is a file of JSON, as a map.
func document(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}
