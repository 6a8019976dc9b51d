package testscripts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/modeltest"
)

// pluginID is the plugin as the client names it.
const pluginID = "terminus@terminus-archive"

// A real Claude Code validates the plugin and the marketplace of this repository,
// installs it, and is given by it what the entries of install give. Beside those it
// gives nothing.
func TestRealClaudePlugin(t *testing.T) {
	s := pluginStory{claudeStory: claudeStory{claude: bareClaude(t)}}
	s.env = slices.DeleteFunc(s.env, func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	s.env = append(s.env, "PATH="+binDir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, part := range []struct {
		name string
		run  func()
	}{
		{"it is valid", s.valid},
		{"it is installed out of the marketplace", s.installPlugin},
		{"the first session is archived to its last answer", s.firstSession},
		{"the next session is told where it left off", s.nextSession},
		{"the server answers", s.serves},
		{"beside an install everything is handed over once", s.beside},
		{"uninstalled it leaves nothing running", s.uninstallPlugin},
	} {
		if !t.Run(part.name, func(t *testing.T) { s.t = t; part.run() }) {
			return // what follows builds on it
		}
	}
}

type pluginStory struct{ claudeStory }

// copied is a copy of the repository's marketplace and plugin, which the client may
// make its own of.
func (s *pluginStory) copied() string {
	root := s.dir("repository")
	for _, dir := range []string{".claude-plugin", "packaging/claude-plugin"} {
		s.check(os.CopyFS(filepath.Join(root, filepath.FromSlash(dir)), os.DirFS(filepath.Join("..", filepath.FromSlash(dir)))))
	}
	return root
}

func (s *pluginStory) valid() {
	root := s.copied()
	for _, dir := range []string{root, filepath.Join(root, "packaging", "claude-plugin")} {
		if out := s.command(s.program, "plugin", "validate", dir).mustRun(); !strings.Contains(out, "Validation passed") {
			s.t.Errorf("%s: %s", dir, out)
		}
	}
}

func (s *pluginStory) installPlugin() {
	s.command(s.program, "plugin", "marketplace", "add", filepath.Join(s.home, "repository")).mustRun()
	s.command(s.program, "plugin", "install", pluginID).mustRun()
	for name, found := range s.doctor() {
		if strings.HasPrefix(found, "problem") && name != "claude_code" && name != "store" {
			s.t.Errorf("%s: %s", name, found)
		}
	}
	if found := s.doctor()["mcp_server"]; !strings.Contains(found, "the plugin "+pluginID) {
		s.t.Errorf("doctor finds no plugin: %s", found)
	}
}

// pluginTools is how the names of the plugin's tools begin.
const pluginTools = "mcp__plugin_terminus_terminus__"

// pluginServer is what the client says of the plugin's server.
var pluginServer = regexp.MustCompile(`(?m)^plugin:terminus:terminus: .*Connected$`)

func (s *pluginStory) serves() {
	if out := s.command(s.program, "mcp", "list").mustRun(); !pluginServer.MatchString(out) {
		s.t.Errorf("the client says of its servers:\n%s", out)
	}
	found := s.search(answered)[0]
	s.model.Script("ask",
		modeltest.Use("ToolSearch", map[string]any{"query": "select:" + pluginTools + "recall_search", "max_results": 5}),
		modeltest.Use(pluginTools+"recall_search", map[string]any{"query": answered}),
		modeltest.Say("Asked."))
	one := s.begins("play:ask Ask.", "Asked.")
	if len(one.requests) != 3 {
		s.t.Fatalf("%d requests", len(one.requests))
	}
	var hits struct{ Hits []claudeHit }
	results := one.requests[2].Results()
	if len(results) != 1 || json.Unmarshal([]byte(results[0].Text), &hits) != nil || len(hits.Hits) == 0 || hits.Hits[0].TurnID != found.TurnID {
		s.t.Errorf("the tool answers %+v", results)
	}
}

// beside: what the settings run is answered once, and its tools are offered once.
func (s *pluginStory) beside() {
	out := s.command(s.terms, "install").mustRun()
	if !strings.Contains(out, filepath.Join(s.home, ".claude", "settings.json")) {
		s.t.Errorf("install says\n%s", out)
	}
	passesEnd(s.home)
	one := s.begins("play:plain And beside it?", "Understood, plainly.")
	// Tools are offered by their names in the text, until they are searched for.
	offered := one.requests[0].Text() + strings.Join(one.requests[0].Tools, " ")
	if strings.Contains(offered, pluginTools) || !strings.Contains(offered, "mcp__terminus__recall_search") {
		s.t.Errorf("the tools are offered twice, or not at all:\n%s", offered)
	}
	if list := s.command(s.program, "mcp", "list").mustRun(); strings.Count(list, "Connected") != 2 {
		s.t.Errorf("the client says of its servers:\n%s", list)
	}
	s.command(s.terms, "uninstall").mustRun()
	s.begins("play:plain And without it?", "Understood, plainly.")
}

func (s *pluginStory) uninstallPlugin() {
	s.command(s.program, "plugin", "uninstall", pluginID).mustRun()
	before := s.doctor()["last_run"]
	if one := s.sayOnce("play:plain Is anybody there?"); len(one.briefs)+len(one.recalls) > 0 {
		s.t.Errorf("it was told %q %q", one.briefs, one.recalls)
	}
	if after := s.doctor()["last_run"]; after != before {
		s.t.Errorf("%s, and then %s", before, after)
	}
}
