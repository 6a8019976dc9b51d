package claude

import (
	"path/filepath"
	"strings"
	"testing"
)

const (
	sidA = "0a6f1c7e-5b7e-4d0c-9b52-1f2e3d4c5b6a"
	sidB = "1B6F1C7E-5B7E-1D0C-9B52-1F2E3D4C5B6A"
	sidC = "2c6f1c7e-5b7e-4d0c-9b52-1f2e3d4c5b6a"
)

func TestKeyIsReadOffTheShapeOfThePath(t *testing.T) {
	const base = "/home/u/.claude/projects/-home-u-repo/"
	tests := []struct{ name, path, want string }{
		{"session", base + sidA + ".jsonl", sidA + ".jsonl"},
		{"session in upper case", base + sidB + ".jsonl", sidB + ".jsonl"},
		{"subagent", base + sidA + "/subagents/agent-a1.jsonl", sidA + "/subagents/agent-a1.jsonl"},
		{"workflow subagent", base + sidA + "/subagents/workflows/wf_9/agent-a1.jsonl", sidA + "/subagents/workflows/wf_9/agent-a1.jsonl"},
		{"any projects folder will do", "/projects/p/" + sidA + ".jsonl", sidA + ".jsonl"},
		{"the last projects folder counts", "/x/projects/q" + base + sidA + ".jsonl", sidA + ".jsonl"},
		{"path that is not clean", base + "./x/../" + sidA + ".jsonl", sidA + ".jsonl"},
		{"subagent beside the sessions", base + "agent-a1.jsonl", ""},
		{"subagent deeper than a workflow", base + sidA + "/subagents/workflows/wf_9/x/agent-a1.jsonl", ""},
		{"workflow of another name", base + sidA + "/subagents/workflows/x/agent-a1.jsonl", ""},
		{"workflow folder without workflows", base + sidA + "/subagents/wf_9/agent-a1.jsonl", ""},
		{"subagents below a folder of the session", base + sidA + "/x/subagents/agent-a1.jsonl", ""},
		{"session deeper than its project folder", base + "x/" + sidA + ".jsonl", ""},
		{"session directly in projects", "/home/u/.claude/projects/" + sidA + ".jsonl", ""},
		{"session under no projects", "/backup/p/" + sidA + ".jsonl", ""},
		{"folder that only ends in projects", "/my-projects/p/" + sidA + ".jsonl", ""},
		{"name that is no uuid", base + "notes.jsonl", ""},
		{"uuid with a wrong digit", base + strings.Replace(sidA, "a", "g", 1) + ".jsonl", ""},
		{"compressed", base + sidA + ".jsonl.gz", ""},
		{"meta file", base + sidA + "/subagents/agent-a1.meta.json", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.FromSlash(tt.path)
			want := tt.want
			if want == "" {
				want = path
			}
			if got := Key(path); got != want {
				t.Errorf("Key(%q) = %q, want %q", path, got, want)
			}
		})
	}
}

func TestParentIsNamedByTheFolderAboveTheDeepestSubagents(t *testing.T) {
	const base = "/home/u/.claude/projects/-home-u-repo/"
	tests := []struct{ name, path, want string }{
		{"session", base + sidA + ".jsonl", ""},
		{"subagent", base + sidA + "/subagents/agent-a1.jsonl", sidA + ".jsonl"},
		{"workflow subagent", base + sidA + "/subagents/workflows/wf_9/agent-a1.jsonl", sidA + ".jsonl"},
		{"far below subagents", base + sidA + "/subagents/a/b/c/agent-a1.jsonl", sidA + ".jsonl"},
		{"session whose name is no uuid", base + "s1/subagents/agent-a1.jsonl", "s1.jsonl"},
		{"subagent of a subagent", base + sidA + "/subagents/agent-a1/subagents/agent-b2.jsonl", sidA + "/subagents/agent-a1.jsonl"},
		{"beside the sessions", base + "agent-a1.jsonl", ""},
		{"subagents above projects", "/x/subagents/projects/p/agent-a1.jsonl", ""},
		{"under no projects", "/backup/s1/subagents/agent-a1.jsonl", "/backup/s1.jsonl"},
		{"no subagents at all", "/backup/agent-a1.jsonl", ""},
		{"nothing above subagents", "/subagents/agent-a1.jsonl", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.FromSlash(tt.path)
			want := tt.want
			if strings.HasPrefix(want, "/") {
				want = filepath.FromSlash(want)
			}
			if got := parentKey(path, path); got != want {
				t.Errorf("parentKey(%q) = %q, want %q", path, got, want)
			}
		})
	}
}

// A key is the path itself, or the path's end below a project folder; a parent
// is never the session itself.
func FuzzKeyIsThePathOrItsEnd(f *testing.F) {
	f.Add("/h/.claude/projects/-p/" + sidA + ".jsonl")
	f.Add("/h/.claude/projects/-p/" + sidA + "/subagents/workflows/wf_1/agent-1.jsonl")
	f.Add("projects/subagents/agent-.jsonl")
	f.Add("//projects//p//agent-\xff\x00.jsonl")
	f.Fuzz(func(t *testing.T, path string) {
		key := Key(path)
		clean := filepath.ToSlash(filepath.Clean(path))
		if key != path && !strings.HasSuffix(clean, "/"+key) {
			t.Fatalf("Key(%q) = %q: neither the path nor its end", path, key)
		}
		if again := Key(filepath.FromSlash("/elsewhere/projects/moved/") + key); key != path && again != key {
			t.Fatalf("Key(%q) = %q, and %q after its folder moved", path, key, again)
		}
		if parent := parentKey(path, path); parent != "" && parent == key {
			t.Fatalf("%q is its own parent", path)
		}
	})
}
