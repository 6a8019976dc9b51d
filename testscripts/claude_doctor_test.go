package testscripts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/modeltest"
)

// Around the sessions of a real Claude Code doctor finds the wiring whole, and tells
// the newest run of each hook that leaves a record.
func TestRealClaudeAndDoctor(t *testing.T) {
	c := newClaude(t)
	c.with("TERMINUS_BIN_DIR=" + binDir)
	c.with("PATH=" + filepath.Dir(c.program) + string(os.PathListSeparator) + os.Getenv("PATH"))
	const noRun, ran = "no run of it is on record", "it ran last in "
	hooks := []string{"hook_SessionStart", "hook_UserPromptSubmit", "hook_SessionEnd", "hook_PostCompact"}
	for name, found := range c.doctor() {
		switch {
		case name == "claude_code" && !strings.Contains(found, " is version "):
			t.Errorf("%s: %s", name, found)
		case strings.HasPrefix(found, "problem") && name != "claude_code":
			t.Errorf("%s: %s", name, found)
		}
	}
	before := c.doctor()
	for i, hook := range hooks {
		if i < 2 && !strings.Contains(before[hook], noRun) || !strings.HasPrefix(before[hook], "ok ") {
			t.Errorf("%s: %s", hook, before[hook])
		}
	}
	c.model.Script("plain", modeltest.Say("Understood."))
	c.say("play:plain Begin.")
	c.say("play:plain Go on.") // in a new session, which gets a brief of the first
	after := c.doctor()
	for _, hook := range hooks[:2] {
		if !strings.HasPrefix(after[hook], "ok ") || !strings.Contains(after[hook], ran+c.work+" at 20") {
			t.Errorf("%s: %s", hook, after[hook])
		}
	}
}

// doctor is what doctor finds, whatever its verdict: a state and a sentence for each
// check.
func (c *claude) doctor() map[string]string {
	c.t.Helper()
	out, err := c.command(c.terms, "doctor", "--json").Output()
	var doc struct {
		Data map[string]struct{ State, Finding string }
	}
	if json.Unmarshal(out, &doc) != nil || len(doc.Data) == 0 {
		c.t.Fatalf("%v %s", err, out)
	}
	found := map[string]string{}
	for name, f := range doc.Data {
		found[name] = f.State + " " + f.Finding
	}
	return found
}
