package gemini_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/gemini"
)

func TestTheVariablesOfTheAgentsAreHonoured(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	at := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	for _, c := range []struct {
		h    harness.Harness
		vars map[string]string
		want []string
	}{
		{gemini.Harness{}, nil, []string{at(".gemini")}},
		{gemini.Harness{}, map[string]string{"GEMINI_CLI_HOME": at("g")}, []string{at("g", ".gemini")}},
		{gemini.Harness{}, map[string]string{"GEMINI_CLI_HOME": "relative"}, []string{at(".gemini")}},
		{gemini.Qwen{}, nil, []string{at(".qwen")}},
		{gemini.Qwen{}, map[string]string{"QWEN_HOME": at("q")}, []string{at("q")}},
		{gemini.Qwen{}, map[string]string{"QWEN_RUNTIME_DIR": at("r")}, []string{at("r"), at(".qwen")}},
	} {
		got := c.h.Roots(harness.Machine{GOOS: "linux", Home: home, Get: func(name string) string { return c.vars[name] }})
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s with %v: %q, want %q", c.h.ID(), c.vars, got, c.want)
		}
	}
	if got := (gemini.Harness{}).Roots(harness.Machine{Get: func(string) string { return "" }}); len(got) > 0 {
		t.Errorf("without a home: %q", got)
	}
}

func TestTheDirectoryOfAllSessionsIsAboveEach(t *testing.T) {
	for _, c := range []struct {
		h          harness.Rooter
		path, want string
	}{
		{gemini.Harness{}, "/h/.gemini/tmp/p/chats/session-1.jsonl", "/h/.gemini/tmp"},
		{gemini.Harness{}, "/h/.gemini/tmp/p/chats/s/a.jsonl", "/h/.gemini/tmp"},
		{gemini.Harness{}, "/h/x.jsonl", ""},
		{gemini.Qwen{}, "/h/.qwen/projects/-p/chats/s.jsonl", "/h/.qwen/projects"},
		{gemini.Qwen{}, "/h/.qwen/projects/-p/subagents/s/agent-a.jsonl", "/h/.qwen/projects"},
		{gemini.Qwen{}, "/h/s.jsonl", ""},
	} {
		if got := filepath.ToSlash(c.h.RootAt(filepath.FromSlash(c.path))); got != c.want {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
}
