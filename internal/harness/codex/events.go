package codex

import (
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// toolItems are the completed items that repeat a call and what it returned.
var toolItems = map[string]bool{"CommandExecution": true, "FileChange": true, "McpToolCall": true, "DynamicToolCall": true}

// silentItems are other completed items that say nothing that stands nowhere else.
var silentItems = map[string]bool{
	"Reasoning": true, "ContextCompaction": true, "SubAgentActivity": true, "CollabAgentToolCall": true, "Plan": true,
	"WebSearch": true, "ImageView": true, "ImageGeneration": true, "HookPrompt": true,
}

// silentEvents are events with a text that is no part of the conversation, or stands elsewhere.
var silentEvents = map[string]bool{
	"agent_reasoning": true, "agent_reasoning_raw_content": true, "warning": true, "stream_error": true,
	"background_event": true, "deprecation_notice": true, "context_compacted": true, "entered_review_mode": true,
}

// event reads the payload of an event_msg. Events show a person what happens; of most of them a
// response_item tells the same.
func (r *reader) event(v transcript.Value) {
	var kind, message, text, call []byte
	var it, success, result, exit, failure, name, plain transcript.Value
	for key, m := range v.Members() {
		switch string(key) {
		case "type":
			kind = m.Text()
		case "message":
			message = m.Text()
		case "text":
			text = m.Text()
		case "call_id":
			call = m.Text()
		case "kind":
			plain = m
		case "item":
			it = m
		case "success":
			success = m
		case "result":
			result = m
		case "exit_code":
			exit = m
		case "error":
			failure = m
		case "thread_name":
			name = m
		}
	}
	switch string(kind) {
	case "user_message":
		if spoken, ok := spokenText("", message); ok && len(message) > 0 && (plain == nil || plain.String() == "plain") {
			r.prompt(asMessage, item{}, [][]byte{spoken})
		}
	case "agent_message":
		if len(message) > 0 && !r.o.heard(r.sum('a', message), asMessage) {
			r.make(transcript.Assistant, item{}).Say(message)
		}
	case "item_completed":
		r.completed(it)
	case "exec_command_end", "mcp_tool_call_end", "patch_apply_end":
		if nonZero(exit) || success.Kind() == 'f' || result.Get("Err") != nil || result.Get("Ok", "is_error").Bool() || result.Get("Ok", "isError").Bool() {
			r.o.fail(call)
		}
	case "thread_name_updated":
		r.s.SeeTitle(name.Text(), transcript.TitleGiven)
	case "error":
		r.fault(asMessage, message)
	case "task_complete":
		r.fault(asCompleted, failure.Get("message").Text())
	default:
		if (message != nil || text != nil) && !silentEvents[string(kind)] {
			r.s.SeeStrange(kind)
		}
	}
}

// completed reads an item that is complete.
func (r *reader) completed(v transcript.Value) {
	it := parseItem(v)
	switch kind := string(it.kind); {
	case kind == "UserMessage":
		var texts [][]byte
		for p := range parts(it.content) {
			if spoken, ok := spokenText("", p.text); ok {
				texts = append(texts, spoken)
			}
		}
		if len(texts) > 0 {
			r.prompt(asCompleted, it, texts)
		}
	case kind == "AgentMessage":
		r.answer(asCompleted, it, it.content)
	case toolItems[kind]:
		status := v.Get("status").String()
		if status == "failed" || status == "declined" || nonZero(v.Get("exit_code")) || v.Get("result", "isError").Bool() {
			r.o.fail(it.id)
		}
	case !silentItems[kind] && it.content != nil:
		r.s.SeeStrange(it.kind)
	}
}

// fault is what went wrong with a request to the model, as the person saw it.
func (r *reader) fault(f form, text []byte) {
	if len(text) == 0 || r.o.heard(r.sum('e', text), f) {
		return
	}
	r.made = turn.New(transcript.System, r.whole)
	r.made.Note(text)
}

// nonZero reports whether a value is a number other than 0.
func nonZero(v transcript.Value) bool {
	n, ok := v.Number()
	return ok && n != 0
}
