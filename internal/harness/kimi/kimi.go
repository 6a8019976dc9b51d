// Package kimi reads the sessions of Kimi Code. It was written from documents.
//
// Kimi Code keeps a directory a session, with one log for each agent of it:
//
//	sessions/<key of the directory>/<session>/state.json
//	sessions/<key of the directory>/<session>/agents/main/wire.jsonl
//	sessions/<key of the directory>/<session>/agents/agent-<n>/wire.jsonl
//
// Lines are appended to a log. Yet it is read as a document, not as a file of lines: the
// session's directory and title stand in state.json alone, and what a model says in one step is
// spread over many lines, of which none is a turn by itself.
package kimi

import (
	"context"
	"iter"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is Kimi Code. The zero value is ready; it holds no state.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Modifier = Harness{}
)

const (
	id         = "kimi"
	logName    = "wire.jsonl"
	stateName  = "state.json"
	agentsName = "agents"
	mainAgent  = "main"
)

// ID is "kimi".
func (Harness) ID() string { return id }

// Name is "Kimi Code".
func (Harness) Name() string { return "Kimi Code" }

// Seen is "": no store of it was at hand.
func (Harness) Seen() string { return "" }

// Roots is the directory `sessions` of the one that KIMI_CODE_HOME names, else of ~/.kimi-code.
func (Harness) Roots(m harness.Machine) []string {
	home := m.Variable("KIMI_CODE_HOME", m.Below(".kimi-code"))
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, "sessions")}
}

// Resume is `kimi --session` with the id.
func (Harness) Resume(sessionID string) []string { return []string{"kimi", "--session", sessionID} }

var tools = turn.Tools{
	"Bash":          {Commands: []string{"command"}},
	"Read":          {Paths: []string{"path"}},
	"ReadMediaFile": {Paths: []string{"path"}},
	"Write":         {Paths: []string{"path"}, Changes: true},
	"Edit":          {Paths: []string{"path"}, Code: []string{"old_string", "new_string"}, Changes: true},
	"Grep":          {Paths: []string{"path"}, Code: []string{"pattern"}},
	"Glob":          {Code: []string{"pattern"}},
}

// Modifies is true of the tools that edit or write a file.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }

// Discover lists the logs below each root: that of the main agent is the session, those of the
// other agents are its subagents.
func (Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	const depth = 4 // the key, the session, `agents`, the agent
	return func(yield func(harness.Transcript, error) bool) {
		listed := map[string]bool{}
		walk := files.Walk{
			Depth: depth,
			Enter: func(rel string) bool {
				return strings.Count(rel, "/") != 2 || files.Base(rel, "") == agentsName
			},
			Match: func(rel string) bool { return strings.Count(rel, "/") == depth && files.Base(rel, "") == logName },
		}
		for _, root := range env.Roots {
			if !walk.Each(ctx, root, func(f files.File, err error) bool {
				switch {
				case err != nil:
					return yield(harness.Transcript{}, err)
				case listed[f.Path]:
					return true
				}
				listed[f.Path] = true
				return yield(describe(f), nil)
			}) {
				return
			}
		}
	}
}

func describe(f files.File) harness.Transcript {
	at := strings.Split(f.Rel, "/") // the key, the session, `agents`, the agent, the log
	session, agent := at[1], at[3]
	t := harness.Transcript{
		Key: id + ":" + session, Path: f.Path, Kind: harness.Rows, Stamp: rows.Stamp(f.Path, stateOf(f.Path)),
	}
	if agent != mainAgent {
		t.Parent = t.Key
		t.Key += "/" + agent
	}
	t.Source = f.Path + "#" + strings.TrimPrefix(t.Key, id+":")
	return t
}

// stateOf is the file beside the log of an agent that tells of the session.
func stateOf(log string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(log))), stateName)
}

// Tail yields the session's state and then its log, a record a step or a line.
func (Harness) Tail(ctx context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if state, err := files.Read(stateOf(t.Path), rows.MaxDocument); err == nil {
			// One that is just being written is read when it is whole: the stamp tells.
			if v, ok := transcript.ParseValue(state); ok && v.Kind() == '{' && !yield(rows.Record(rows.Head, v), nil) {
				return
			}
		}
		read(ctx, t.Path, yield)
	}
}
