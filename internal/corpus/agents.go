package corpus

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Agents are the agents beside Claude Code whose stores GenerateAgent makes, one of each kind
// that costs otherwise: a file of lines that is known by its name (codex), one whose header must
// be read (gemini), and documents (cline).
var Agents = []string{"cline", "codex", "gemini"}

// GenerateAgent writes a store of one of Agents below home, where that agent looks by default.
// Of the options Seed, Bytes, Projects, Sessions (default: one for every 256 KiB) and Newest
// count. Sessions have about the same size. It refuses a store that exists.
func GenerateAgent(home, agent string, o Options) (Stats, error) {
	o = o.withDefaults()
	if o.Sessions <= 0 {
		o.Sessions = int(max(o.Bytes/(256<<10), 1))
	}
	kind, ok := map[string]agentStore{
		"codex":  {".codex", codexSession},
		"gemini": {".gemini", geminiSession},
		"cline":  {filepath.Join(".cline", "data"), clineTask},
	}[agent]
	if !ok {
		return Stats{}, fmt.Errorf("corpus: nothing makes a store of %q", agent)
	}
	root := filepath.Join(home, kind.dir)
	if err := os.MkdirAll(filepath.Dir(root), 0o700); err != nil {
		return Stats{}, fmt.Errorf("corpus: %w", err)
	}
	if err := os.Mkdir(root, 0o700); err != nil {
		return Stats{}, fmt.Errorf("corpus: %w", err)
	}
	voc := newVocabulary()
	var projects []*project
	for i := range o.Projects {
		projects = append(projects, newProject(o.Seed, i))
	}
	stats := Stats{Projects: len(projects), Sessions: o.Sessions}
	for n := range o.Sessions {
		r := newRNG(mix(o.Seed, uint64(n)+1<<32), 3)
		p := projects[n%len(projects)]
		at := o.Newest.Add(-time.Duration(o.Sessions-n) * time.Minute)
		s := &agentSession{scribe: scribe{r, voc, p}, id: r.uuid(), at: at, rest: o.Bytes / int64(o.Sessions)}
		for name, data := range kind.write(s) {
			path := filepath.Join(root, filepath.FromSlash(name))
			err := os.MkdirAll(filepath.Dir(path), 0o700)
			if err == nil {
				err = os.WriteFile(path, data, 0o600)
			}
			if err == nil {
				err = os.Chtimes(path, time.Time{}, s.at)
			}
			if err != nil {
				return stats, fmt.Errorf("corpus: %w", err)
			}
			stats.Bytes += int64(len(data))
		}
		stats.Records += int64(s.records)
	}
	return stats, nil
}

// An agentStore is where an agent keeps its sessions below the home directory, and what makes
// the files of one, by their slash-separated places below that.
type agentStore struct {
	dir   string
	write func(*agentSession) map[string][]byte
}

// An agentSession is one session of an agent.
type agentSession struct {
	scribe
	id      uuid
	at      time.Time
	rest    int64 // bytes that are still to be said
	records int
}

// An object is a JSON object, its members in the order of their names.
type object map[string]any

// A step is one call of a tool.
type step struct{ id, command, output string }

// exchanges lets visit write what is asked, done and answered, until the session is long enough.
func (s *agentSession) exchanges(visit func(asked string, done []step, answered string)) {
	for s.rest > 0 {
		asked := string(s.prompt(nil))
		var done []step
		for range s.r.between(1, 8) {
			output := string(s.output(nil, int(min(s.r.lognormal(1500, 1), 20_000))))
			done = append(done, step{"call_" + string(s.r.appendHash(nil)[:24]), string(s.pick(nil, s.v.commands)), output})
			s.rest -= int64(len(output))
		}
		answered := string(s.prose(nil, s.r.between(80, 1500)))
		s.rest -= int64(len(asked) + len(answered))
		visit(asked, done, answered)
	}
}

func (s *agentSession) stamp() string {
	s.at = s.at.Add(time.Duration(s.r.between(40, 900)) * time.Millisecond)
	return s.at.UTC().Format(stampLayout)
}

func (s *agentSession) encode(v any) []byte {
	s.records++
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // objects, lists and texts can always be encoded
	}
	return data
}

// codexSession is a rollout. As the client does, it says most things twice.
func codexSession(s *agentSession) map[string][]byte {
	name := "sessions/" + s.at.Format("2006/01/02") + "/rollout-" + s.at.Format("2006-01-02T15-04-05") + "-" + string(s.id[:]) + ".jsonl"
	var out []byte
	add := func(kind string, payload object) {
		out = append(append(out, s.encode(object{"timestamp": s.stamp(), "type": kind, "payload": payload})...), '\n')
	}
	text := func(kind, text string) []object { return []object{{"type": kind, "text": text}} }
	add("session_meta", object{"id": string(s.id[:]), "cwd": s.p.root, "source": "cli", "git": object{"branch": s.p.branches[0]}})
	s.exchanges(func(asked string, done []step, answered string) {
		add("response_item", object{"type": "message", "role": "user", "content": text("input_text", asked)})
		add("event_msg", object{"type": "item_completed", "item": object{"type": "UserMessage", "content": text("text", asked)}})
		for _, d := range done {
			arguments := string(s.encode(object{"cmd": d.command}))
			add("response_item", object{"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": d.id})
			add("event_msg", object{"type": "item_completed", "item": object{
				"type": "CommandExecution", "id": d.id, "command": []string{"bash", "-lc", d.command}, "aggregated_output": d.output, "exit_code": 0,
			}})
			add("response_item", object{"type": "function_call_output", "call_id": d.id, "output": d.output})
			s.rest -= int64(len(d.output))
		}
		add("event_msg", object{"type": "item_completed", "item": object{"type": "AgentMessage", "content": text("Text", answered)}})
		add("response_item", object{"type": "message", "role": "assistant", "content": text("output_text", answered)})
	})
	return map[string][]byte{name: out}
}

// geminiSession is a chat as a file of lines.
func geminiSession(s *agentSession) map[string][]byte {
	begun := s.at
	out := append(s.encode(object{"sessionId": string(s.id[:]), "projectHash": s.p.name, "startTime": s.stamp(), "kind": "main"}), '\n')
	add := func(kind string, message object) {
		message["id"], message["timestamp"], message["type"] = fmt.Sprint("m", s.records), s.stamp(), kind
		out = append(append(out, s.encode(message)...), '\n')
	}
	s.exchanges(func(asked string, done []step, answered string) {
		add("user", object{"content": asked})
		var calls []object
		for _, d := range done {
			response := object{"functionResponse": object{"id": d.id, "name": "run_shell_command", "response": object{"output": d.output}}}
			calls = append(calls, object{"id": d.id, "name": "run_shell_command", "args": object{"command": d.command}, "result": []object{response}, "status": "success"})
		}
		add("gemini", object{"content": answered, "toolCalls": calls})
	})
	name := "session-" + begun.Format("2006-01-02T15-04") + "-" + string(s.id[:8]) + ".jsonl"
	return map[string][]byte{"tmp/" + s.p.name + "/chats/" + name: out, "tmp/" + s.p.name + "/.project_root": []byte(s.p.root)}
}

// clineTask is a task of the extension: two documents that say the same.
func clineTask(s *agentSession) map[string][]byte {
	id := fmt.Sprint(s.at.UnixMilli())
	var said, shown []object
	add := func(role string, content ...object) {
		s.records++
		said = append(said, object{"role": role, "content": content})
	}
	show := func(text string) {
		s.stamp()
		shown = append(shown, object{"ts": s.at.UnixMilli(), "type": "say", "say": "text", "text": text})
	}
	text := func(text string) object { return object{"type": "text", "text": text} }
	s.exchanges(func(asked string, done []step, answered string) {
		where := text("<environment_details>\n# Current Working Directory (" + s.p.root + ") Files\n</environment_details>")
		add("user", text("<task>\n"+asked+"\n</task>"), where)
		show(asked)
		for _, d := range done {
			add("assistant", object{"type": "tool_use", "id": d.id, "name": "execute_command", "input": object{"command": d.command}})
			add("user", object{"type": "tool_result", "tool_use_id": d.id, "content": []object{text(d.output)}}, where)
		}
		add("assistant", text(answered))
		show(answered)
	})
	dir := "tasks/" + id + "/"
	return map[string][]byte{dir + "api_conversation_history.json": s.encode(said), dir + "ui_messages.json": s.encode(shown)}
}
