package copilot

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Turns reads an event: what was said, called and returned, by the main agent and its
// subagents, what the client showed to the person, and compactions with their summaries. Every
// other event is no turn.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	var turns []transcript.Turn
	for off, v := range turn.Objects(record, s, func(v transcript.Value) bool { e := read(v); return e.kind != nil && e.id != nil }) {
		e := read(v)
		if e.kind == nil || e.id == nil || e.ts == "" {
			s.Damaged++
			continue
		}
		e.note(s)
		if b := e.build(v, s); b != nil && !b.Empty() {
			t := b.IDs("", string(e.id), string(e.parent)).Done(e.ts, s)
			t.Off = off
			turns = append(turns, t)
		}
	}
	return turns
}

// An event is what stands at the top of a record.
type event struct {
	kind, id, parent, agent []byte
	ts                      string
	data                    transcript.Value
}

func read(v transcript.Value) (e event) {
	for key, m := range v.Members() {
		switch string(key) {
		case "type":
			e.kind = m.Text()
		case "id":
			e.id = m.Text()
		case "parentId":
			e.parent = m.Text()
		case "agentId":
			e.agent = m.Text()
		case "timestamp":
			e.ts = transcript.Time(m)
		case "data":
			e.data = m
		}
	}
	return e
}

// note tells s what the event says of the session.
func (e *event) note(s *transcript.State) {
	switch string(e.kind) {
	case "session.start":
		s.SeeSession(e.data.Get("sessionId").Text())
		fallthrough
	case "session.resume":
		context := e.data.Get("context")
		s.SeeDirectory(context.Get("cwd").Text())
		s.SeeBranch(context.Get("branch").Text())
	case "session.context_changed":
		s.SeeDirectory(e.data.Get("cwd").Text())
		s.SeeBranch(e.data.Get("branch").Text())
	case "session.title_changed":
		s.SeeTitle(e.data.Get("title").Text(), transcript.TitleMade)
	case "session.info":
		if text := e.data.Get("message").Text(); bytes.Contains(bytes.ToLower(text), []byte("fork")) {
			for _, id := range ids.FindAll(text, -1) {
				s.SeeOrigin(id)
			}
		}
	}
}

var ids = regexp.MustCompile(`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)

// build makes the turn of the event, nil where it is none.
func (e *event) build(v transcript.Value, s *transcript.State) *turn.Builder {
	switch string(e.kind) {
	case "user.message":
		return e.user(v)
	case "assistant.message":
		b := turn.New(transcript.Assistant, v)
		b.Say(e.data.Get("content").Text())
		for call := range e.data.Get("toolRequests").Elements() {
			if id := call.Get("toolCallId").Text(); id != nil {
				turn.Remember(s, id)
			}
			b.Call(call.Get("name").Text(), call.Get("arguments").Nested(), tools)
		}
		return b
	case "tool.execution_start":
		// The message that asked for the call came before, unless this version writes none.
		if id := e.data.Get("toolCallId").Text(); id != nil && turn.Remember(s, id) {
			return nil
		}
		b := turn.New(transcript.Assistant, v)
		b.Call(e.data.Get("toolName").Text(), e.data.Get("arguments").Nested(), tools)
		return b
	case "tool.execution_complete":
		return e.output(v)
	case "tool.user_requested":
		b := turn.New(transcript.User, v)
		b.Machine().Call(e.data.Get("toolName").Text(), e.data.Get("arguments").Nested(), tools)
		if id := e.data.Get("toolCallId").Text(); id != nil {
			turn.Remember(s, id)
		}
		return b
	case "system.message":
		b := turn.New(transcript.System, v).Hidden()
		b.Note(e.data.Get("content").Text())
		return b
	case "session.compaction_complete":
		if success := e.data.Get("success"); success.Kind() == 'f' {
			return nil
		}
		b := turn.New(transcript.System, v).Boundary(nil)
		b.Note(e.data.Get("summaryContent").Text())
		return b
	}
	return e.shown(v, s)
}

// user reads a message with the user's role. What the model reads of it besides, the time and
// what hooks add, stands in another member, which is not read.
func (e *event) user(v transcript.Value) *turn.Builder {
	b := turn.New(transcript.User, v)
	source := e.data.Get("source").String()
	if len(e.agent) > 0 || source != "" && source != "user" || e.data.Get("isAutopilotContinuation").Bool() {
		b.Machine()
	}
	b.Say(e.data.Get("content").Text())
	for a := range e.data.Get("attachments").Elements() {
		b.Names(a.Get("path").Text())
		b.Names(a.Get("filePath").Text())
	}
	return b
}

// output reads what a call returned.
func (e *event) output(v transcript.Value) *turn.Builder {
	b := turn.New(transcript.User, v)
	failed := e.data.Get("success").Kind() == 'f'
	if code, ok := e.data.Get("shellExecution", "exitCode").Number(); ok && code != 0 {
		failed = true
	}
	var texts [][]byte
	result := e.data.Get("result")
	if text := result.Text(); text != nil {
		texts = append(texts, text)
	}
	if text := result.Get("content").Text(); len(text) > 0 {
		failed = failed || exited(text)
		texts = append(texts, text)
	}
	failure := e.data.Get("error")
	for _, text := range [][]byte{failure.Text(), failure.Get("message").Text()} {
		if len(text) > 0 && (len(texts) == 0 || !bytes.Equal(text, texts[0])) {
			texts = append(texts, text)
		}
	}
	b.Output(failed, texts...)
	for edit := range e.data.Get("fileEdits").Elements() {
		b.Names(edit.Get("path").Text())
	}
	return b
}

// exited reports whether what a shell returned says that the command failed.
func exited(text []byte) bool {
	const mark = " completed with exit code "
	text = bytes.TrimRight(text, "\n")
	i := bytes.LastIndex(text, []byte(mark))
	if i < 0 || bytes.LastIndexByte(text[:i], '<') < 0 || text[len(text)-1] != '>' {
		return false
	}
	code := string(text[i+len(mark) : len(text)-1])
	return code != "" && code != "0" && strings.Trim(code, "-0123456789") == ""
}

// says are the events that the client shows to the person, with the member that is shown.
var says = map[string]string{
	"session.info":          "message",
	"session.warning":       "message",
	"session.error":         "message",
	"session.task_complete": "summary",
	"session.handoff":       "summary",
	"subagent.failed":       "error",
	"system.notification":   "content",
}

// silent are the spaces of events that are no part of the conversation, and the names of those
// in the other ones.
var silent = []string{
	"session.", "model.", "hook.", "subagent.", "mcp.", "permission.", "command.", "commands.", "capabilities.", "elicitation.",
	"sampling.", "skill.", "workflow.", "ui.", "external_tool.", "exit_plan_mode.", "auto_mode_switch.", "pending_messages.", "abort",
	"assistant.turn_", "assistant.idle", "assistant.intent", "assistant.reasoning", "assistant.usage", "assistant.streaming",
	"assistant.fusion", "assistant.message_", "assistant.tool_call_delta", "assistant.server_tool_progress",
	"tool.execution_p", "tool.shell_output", "user_input.", "tool_search.", "mcp_app.", "human_response.", "session_limits_exhausted.",
}

// shown reads an event that the client shows to the person.
func (e *event) shown(v transcript.Value, s *transcript.State) *turn.Builder {
	kind := string(e.kind)
	if member, ok := says[kind]; ok {
		b := turn.New(transcript.System, v)
		b.Say(e.data.Get(member).Text())
		return b
	}
	for _, prefix := range silent {
		if strings.HasPrefix(kind, prefix) {
			return nil
		}
	}
	s.SeeStrange(e.kind)
	return nil
}
