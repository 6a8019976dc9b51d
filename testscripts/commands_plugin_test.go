package testscripts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// pluginDir is the plugin of Claude Code.
const pluginDir = "../packaging/claude-plugin"

// What scripts can do with the plugin:
//
//	plugin-hook [-pass] EVENT PAYLOAD
//	                           run what the plugin runs for an event, as Claude Code does,
//	                           from a copy in a directory with a space in its name;
//	                           -pass as for hook
//	plugin-mcp FILE            run the plugin's server with the requests of a file
func init() {
	commands["plugin-hook"] = cmdPluginHook
	commands["plugin-mcp"] = cmdPluginMCP
}

// pluginHooks is the plugin's hooks.json.
type pluginHooks struct {
	Hooks map[string][]struct {
		Matcher string
		Hooks   []struct{ Type, Command string }
	}
}

func readPlugin(name string, into any) error {
	text, err := os.ReadFile(filepath.Join(filepath.FromSlash(pluginDir), filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func cmdPluginHook(ts *testscript.TestScript, neg bool, args []string) {
	pass := len(args) > 0 && args[0] == "-pass"
	if pass {
		args = args[1:]
	}
	usage(ts, neg, len(args) == 2, "plugin-hook [-pass] EVENT PAYLOAD")
	var h pluginHooks
	ts.Check(readPlugin("hooks/hooks.json", &h))
	groups := h.Hooks[args[0]]
	if len(groups) != 1 || groups[0].Matcher != "" || len(groups[0].Hooks) != 1 || groups[0].Hooks[0].Type != "command" {
		ts.Fatalf("the plugin has %+v for %s", groups, args[0])
	}
	root := ts.MkAbs("the plugin")
	ts.Check(os.MkdirAll(filepath.Join(root, "hooks"), 0o700))
	text, err := os.ReadFile(filepath.Join(filepath.FromSlash(pluginDir), "hooks", "run.sh"))
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(root, "hooks", "run.sh"), text, 0o600))
	askHook(ts, pass, args[1], "sh", "-c", strings.ReplaceAll(groups[0].Hooks[0].Command, "${CLAUDE_PLUGIN_ROOT}", root))
}

func cmdPluginMCP(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "plugin-mcp FILE")
	var m struct {
		Servers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	ts.Check(readPlugin(".mcp.json", &m))
	s := m.Servers["terminus"]
	cmd := program(ts, append([]string{s.Command}, s.Args...))
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(ts.ReadFile(args[0])), ts.Stdout(), ts.Stderr()
	ts.Check(cmd.Run())
}
