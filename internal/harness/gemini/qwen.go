package gemini

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

// Qwen is Qwen Code. The zero value is ready; it holds no state and may be used by several
// goroutines. It keeps its sessions below `~/.qwen/projects`, a folder for each directory:
//
//	projects/<folder>/chats/<session>.jsonl                  a session
//	projects/<folder>/chats/archive/<session>.jsonl          a session that was put away
//	projects/<folder>/subagents/<session>/agent-<id>.jsonl   a subagent of it
//	projects/<folder>/subagents/<session>/agent-<id>.meta.json
//
// Records are appended. A rewind and a compression are records of their own, and what they take
// back or replace stays in the file.
type Qwen struct{}

var (
	_ harness.Harness  = Qwen{}
	_ harness.Resumer  = Qwen{}
	_ harness.Keyer    = Qwen{}
	_ harness.Rooter   = Qwen{}
	_ harness.Modifier = Qwen{}
	_ harness.Bulky    = Qwen{}
)

// ID is "qwen".
func (Qwen) ID() string { return "qwen" }

// Name is "Qwen Code".
func (Qwen) Name() string { return "Qwen Code" }

// Seen is the version whose stores were read.
func (Qwen) Seen() string { return "0.24" }

// Roots are the directory that QWEN_RUNTIME_DIR names, and the one that QWEN_HOME names, else
// ~/.qwen: sessions from before the first was set are in the second.
func (Qwen) Roots(m harness.Machine) []string {
	return harness.Places(m.Variable("QWEN_RUNTIME_DIR", ""), m.Variable("QWEN_HOME", m.Below(".qwen")))
}

// Resume is `qwen --resume` with the id.
func (Qwen) Resume(sessionID string) []string { return []string{"qwen", "--resume", sessionID} }

// Modifies is true of the tools that write or edit a file.
func (Qwen) Modifies(tool string) bool { return tools.Modifies(tool) }

// Bulk is the second form in which a record holds what a tool returned.
func (Qwen) Bulk() harness.Bulk { return harness.Bulk{Members: []string{"toolCallResult"}} }

// Tail yields one error: a session is a file of lines.
func (Qwen) Tail(_ context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return harness.NoTail(t)
}

const (
	projectsDir  = "projects"
	subagentsDir = "subagents"
	archiveDir   = "archive"
	agentName    = "agent-"
	metaEnd      = ".meta.json"
)

// place reads the end of a path below `projects`: whether it is that of a session or of a
// subagent, and of which.
func place(parts []string) (session, agent string, ok bool) {
	if len(parts) < 3 {
		return "", "", false
	}
	name, is := strings.CutSuffix(parts[len(parts)-1], lines)
	if !is || name == "" {
		return "", "", false
	}
	switch rest := parts[1 : len(parts)-1]; {
	case rest[0] == chats && (len(rest) == 1 || len(rest) == 2 && rest[1] == archiveDir):
		return name, "", true
	case rest[0] == subagentsDir && len(rest) == 2 && strings.HasPrefix(name, agentName):
		return rest[1], strings.TrimPrefix(name, agentName), true
	}
	return "", "", false
}

func qwenKey(session, agent string) string {
	if agent == "" {
		return "qwen:" + session
	}
	return "qwen:" + session + "/" + agent
}

// KeyAt is the key of the session or the subagent at a path, "" where the path is of neither.
func (Qwen) KeyAt(path string) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	for i := len(parts) - 4; i >= 0; i-- {
		if parts[i] == projectsDir {
			if session, agent, ok := place(parts[i+1:]); ok {
				return qwenKey(session, agent)
			}
		}
	}
	return ""
}

// RootAt is the directory `projects` above a session.
func (Qwen) RootAt(path string) string {
	for dir := filepath.Dir(path); ; {
		if filepath.Base(dir) == projectsDir {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// Discover lists the sessions and subagents of every folder, in the order of their paths.
func (Qwen) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		listed := map[string]bool{}
		w := files.Walk{
			Depth: 3,
			Enter: func(rel string) bool {
				parts := strings.Split(rel, "/")
				switch len(parts) {
				case 1:
					return env.FolderExcluded == nil || !env.FolderExcluded(rel)
				case 2:
					return parts[1] == chats || parts[1] == subagentsDir
				}
				return parts[1] == subagentsDir || parts[2] == archiveDir
			},
			Match: func(rel string) bool {
				_, _, ok := place(strings.Split(rel, "/"))
				return ok
			},
		}
		for _, root := range env.Roots {
			if !w.Each(ctx, filepath.Join(root, projectsDir), func(f files.File, err error) bool {
				if err != nil {
					return yield(harness.Transcript{}, err)
				}
				if listed[f.Path] {
					return true
				}
				listed[f.Path] = true
				return yield(qwenTranscript(f), nil)
			}) {
				return
			}
		}
	}
}

func qwenTranscript(f files.File) harness.Transcript {
	session, agent, _ := place(strings.Split(f.Rel, "/"))
	t := harness.Transcript{Key: qwenKey(session, agent), Source: f.Path, Path: f.Path, Stat: f.Stat}
	if agent != "" {
		t.Parent = qwenKey(session, "")
		if meta, err := files.At(strings.TrimSuffix(f.Path, lines) + metaEnd); err == nil {
			t.Companions = []harness.Companion{{Path: meta.Path, Name: filepath.Base(meta.Path), Stat: meta.Stat}}
		}
	}
	return t
}

// Turns reads a line of a session: what was said, called and returned, the commands of the
// client with what they showed, and a compression with its summary. Whatever else the agent notes
// is no turn.
func (Qwen) Turns(record []byte, s *transcript.State) []transcript.Turn {
	var turns []transcript.Turn
	for off, v := range turn.Objects(record, s, func(v transcript.Value) bool { return readEntry(v).uuid != nil }) {
		e := readEntry(v)
		if e.kind == nil || e.uuid == nil || e.ts == "" {
			s.Damaged++
			continue
		}
		e.note(s)
		if b := e.build(v, s); b != nil && !b.Empty() {
			t := b.IDs("", string(e.uuid), string(e.parent)).Done(e.ts, s)
			t.Off = off
			turns = append(turns, t)
		}
	}
	return turns
}

// An entry is what stands at the top of a record.
type entry struct {
	kind, subtype, uuid, parent      []byte
	session, cwd, branch, provenance []byte
	ts                               string
	sidechain                        bool
	content, payload, result         transcript.Value
}

func readEntry(v transcript.Value) (e entry) {
	for key, m := range v.Members() {
		switch string(key) {
		case "type":
			e.kind = m.Text()
		case "subtype":
			e.subtype = m.Text()
		case "uuid":
			e.uuid = m.Text()
		case "parentUuid":
			e.parent = m.Text()
		case "sessionId":
			e.session = m.Text()
		case "cwd":
			e.cwd = m.Text()
		case "gitBranch":
			e.branch = m.Text()
		case "provenance":
			e.provenance = m.Text()
		case "timestamp":
			e.ts = transcript.Time(m)
		case "isSidechain":
			e.sidechain = m.Bool()
		case "message":
			e.content = m.Get("parts")
		case "systemPayload":
			e.payload = m
		case "toolCallResult":
			e.result = m
		}
	}
	return e
}

// note tells s what the record says of the session.
func (e *entry) note(s *transcript.State) {
	s.SeeSession(e.session)
	s.SeeDirectory(e.cwd)
	s.SeeBranch(e.branch)
	switch string(e.subtype) {
	case "custom_title":
		rank := transcript.TitleGiven
		if e.payload.Get("titleSource").String() == "auto" {
			rank = transcript.TitleMade
		}
		s.SeeTitle(e.payload.Get("customTitle").Text(), rank)
	case "parent_session":
		s.SeeOrigin(e.payload.Get("parentSessionId").Text())
	}
}

// build makes the turn of the record, nil where it is none.
func (e *entry) build(v transcript.Value, s *transcript.State) *turn.Builder {
	switch string(e.kind) {
	case transcript.User:
		return e.user(v)
	case "tool_result":
		b := turn.New(transcript.User, v)
		failed := e.result.Get("status").String() == "error"
		for _, p := range partsOf(e.content) {
			if p.response != nil {
				o := outputOf(p.response)
				b.Output(failed || o.failed, o.texts...)
			} else {
				b.Note(p.text)
			}
		}
		return b
	case transcript.Assistant, "model":
		b := turn.New(transcript.Assistant, v)
		for _, p := range partsOf(e.content) {
			if p.call != nil {
				addCall(b, p.call.Get("name").Text(), p.call.Get("args"))
			} else {
				b.Say(p.text)
			}
		}
		return b
	case transcript.System:
		return e.system(v)
	}
	s.SeeStrange(e.kind)
	return nil
}

const (
	promptTag = "qwen:user-prompt-submit-context"
	startTag  = "qwen:session-start-context"
)

func (e *entry) user(v transcript.Value) *turn.Builder {
	b := turn.New(transcript.User, v)
	byPerson := len(e.provenance) == 0 || string(e.provenance) == "real_user"
	switch string(e.subtype) {
	case "", "mid_turn_user_message", "realtime_message":
	default: // notifications, prompts on a schedule
		byPerson = false
	}
	if !byPerson || e.sidechain {
		b.Machine()
	}
	var texts, shown [][]byte
	for _, p := range partsOf(e.content) {
		if p.response != nil {
			o := outputOf(p.response)
			b.Output(o.failed, o.texts...)
		} else if text := cutTagged(cutTagged(p.text, promptTag), startTag); len(text) > 0 {
			texts = append(texts, text)
		}
	}
	if text := e.payload.Get("displayText").Text(); len(bytes.TrimSpace(text)) > 0 {
		shown = append(shown, text)
	}
	prompt(b, shown, texts)
	return b
}

// system reads a record of the client itself.
func (e *entry) system(v transcript.Value) *turn.Builder {
	b := turn.New(transcript.System, v)
	switch string(e.subtype) {
	case "chat_compression":
		b.Boundary(e.payload.Get("info"))
		for m := range e.payload.Get("compressedHistory").Elements() {
			for _, p := range partsOf(m.Get("parts")) {
				b.Note(p.text)
			}
			break // what follows is what was kept of the conversation
		}
	case "slash_command":
		if e.payload.Get("phase").String() != "result" {
			b = turn.New(transcript.User, v)
			b.Say(e.payload.Get("rawCommand").Text())
			return b
		}
		for item := range e.payload.Get("outputHistoryItems").Elements() {
			if item.Get("type").String() != transcript.User { // the command itself
				b.Note(item.Get("text").Text())
			}
		}
	default:
		return nil
	}
	return b
}
