// Package copilot reads the sessions of GitHub Copilot CLI.
//
// It keeps a directory for each session below `~/.copilot/session-state`:
//
//	session-state/<id>/events.jsonl     the session
//	session-state/<id>/workspace.yaml   its directory, branch and name
//	session-state/<id>/plan.md          its plan
//	session-state/<id>/checkpoints/     the summaries of its compactions
//
// Events are appended, those of subagents among them, with the id of the agent. What a rewind or
// a compaction takes out of the model's view stays in the file.
package copilot

import (
	"bytes"
	"context"
	"iter"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is Copilot CLI. The zero value is ready; it holds no state and may be used by several
// goroutines.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Rooter   = Harness{}
	_ harness.Modifier = Harness{}
)

// ID is "copilot".
func (Harness) ID() string { return "copilot" }

// Name is "Copilot CLI".
func (Harness) Name() string { return "Copilot CLI" }

// Seen is the version whose stores were read.
func (Harness) Seen() string { return "1.0.102" }

// Roots is the directory that COPILOT_HOME names, else ~/.copilot.
func (Harness) Roots(m harness.Machine) []string {
	return harness.Places(m.Variable("COPILOT_HOME", m.Below(".copilot")))
}

// Resume is `copilot --resume=` with the id.
func (Harness) Resume(sessionID string) []string { return []string{"copilot", "--resume=" + sessionID} }

// Modifies is true of the tools that write or edit a file.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }

// Tail yields one error: a session is a file of lines.
func (Harness) Tail(_ context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return harness.NoTail(t)
}

const (
	sessions  = "session-state"
	events    = "events.jsonl"
	workspace = "workspace.yaml"
	// maxCompanions bounds the files that are archived beside one session.
	maxCompanions = 200
)

// RootAt is the directory that holds the session's.
func (Harness) RootAt(path string) string {
	dir := filepath.Dir(filepath.Dir(path))
	if filepath.Base(dir) != sessions {
		return ""
	}
	return dir
}

// Discover lists the sessions in the order of their directories' names. Of each the first 64 KiB
// are read, for the id in the first event counts, not the directory's name.
func (Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		listed := map[string]bool{}
		w := files.Walk{
			Depth: 1,
			Match: func(rel string) bool { return strings.HasSuffix(rel, "/"+events) },
		}
		for _, root := range env.Roots {
			if !w.Each(ctx, filepath.Join(root, sessions), func(f files.File, err error) bool {
				if err != nil {
					return yield(harness.Transcript{}, err)
				}
				if listed[f.Path] || f.Stat.Size == 0 {
					return true
				}
				listed[f.Path] = true
				t, err := describe(ctx, f)
				if err == nil && t.Dir != "" && env.PathExcluded != nil && env.PathExcluded(t.Dir) {
					return true
				}
				return yield(t, err)
			}) {
				return
			}
		}
	}
}

func describe(ctx context.Context, f files.File) (harness.Transcript, error) {
	head, err := files.Head(f.Path)
	if err != nil {
		return harness.Transcript{}, &harness.Problem{Path: f.Path, Err: err}
	}
	data := head.Get("data")
	id := data.Get("sessionId").String()
	if !harness.NamesSession(id) {
		id = files.Dir(f.Rel)
	}
	dir := filepath.Dir(f.Path)
	t := harness.Transcript{
		Key: "copilot:" + id, Source: f.Path, Path: f.Path, Stat: f.Stat,
		Dir: data.Get("context", "cwd").String(), Companions: companions(ctx, dir),
	}
	if t.Dir == "" {
		t.Dir = directory(filepath.Join(dir, workspace))
	}
	return t, nil
}

// directory is the working directory that a workspace.yaml names, "" where it names none. The
// agent writes one plain member a line.
func directory(path string) string {
	const maxSize = 1 << 20
	data, err := files.Read(path, maxSize)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(data) {
		value, ok := bytes.CutPrefix(line, []byte("cwd:"))
		if !ok {
			continue
		}
		dir := string(bytes.TrimSpace(value))
		if n := len(dir); n > 1 && (dir[0] == '"' || dir[0] == '\'') && dir[n-1] == dir[0] {
			dir = dir[1 : n-1]
		}
		if filepath.IsAbs(dir) && len(dir) <= transcript.StateLimit {
			return dir
		}
	}
	return ""
}

// companions are what the agent wrote beside the events that a person can read.
func companions(ctx context.Context, dir string) []harness.Companion {
	var all []harness.Companion
	w := files.Walk{
		Depth: 1,
		Enter: func(rel string) bool { return rel == "checkpoints" },
		Match: func(rel string) bool {
			return len(all) < maxCompanions && (rel == workspace || rel == "plan.md" || strings.HasPrefix(rel, "checkpoints/") && strings.HasSuffix(rel, ".md"))
		},
	}
	w.Each(ctx, dir, func(f files.File, err error) bool {
		if err == nil {
			all = append(all, harness.Companion{Path: f.Path, Name: f.Rel, Stat: f.Stat})
		}
		return true
	})
	return all
}

// tools is what the arguments of the agent's tools mean.
var tools = turn.Tools{
	"bash":        {Commands: []string{"command"}},
	"powershell":  {Commands: []string{"command"}},
	"shell":       {Commands: []string{"command"}},
	"write_bash":  {Commands: []string{"input"}},
	"view":        {Paths: []string{"path"}},
	"read":        {Paths: []string{"path"}},
	"create":      {Paths: []string{"path"}, Code: []string{"file_text"}, Changes: true},
	"write":       {Paths: []string{"path"}, Code: []string{"file_text", "content"}, Changes: true},
	"edit":        {Paths: []string{"path"}, Code: []string{"old_str", "new_str"}, Changes: true},
	"str_replace": {Paths: []string{"path"}, Code: []string{"old_str", "new_str"}, Changes: true},
	"insert":      {Paths: []string{"path"}, Code: []string{"new_str"}, Changes: true},
	"apply_patch": {Patch: "*", Changes: true},
	"grep":        {Paths: []string{"path", "paths"}, Code: []string{"pattern"}},
	"glob":        {Paths: []string{"path", "paths"}, Code: []string{"pattern"}},
}
