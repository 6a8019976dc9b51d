package codex

import (
	"bytes"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// An item is what the model gets or gives: the payload of a response_item.
type item struct {
	kind, role, id, call, name, namespace     []byte
	content, arguments, input, action, output transcript.Value
	passthrough, revisedPrompt                transcript.Value
}

func parseItem(v transcript.Value) (it item) {
	for key, m := range v.Members() {
		switch string(key) {
		case "type":
			it.kind = m.Text()
		case "role":
			it.role = m.Text()
		case "id":
			it.id = m.Text()
		case "call_id":
			it.call = m.Text()
		case "name":
			it.name = m.Text()
		case "namespace":
			it.namespace = m.Text()
		case "content":
			it.content = m
		case "arguments":
			it.arguments = m
		case "input":
			it.input = m
		case "action":
			it.action = m
		case "output":
			it.output = m
		case "internal_chat_message_metadata_passthrough":
			it.passthrough = m
		case "revised_prompt":
			it.revisedPrompt = m
		}
	}
	return it
}

// item reads a payload of a response_item.
func (r *reader) item(v transcript.Value) {
	it := parseItem(v)
	switch string(it.kind) {
	case "message":
		r.message(it)
	case "function_call":
		name, input := it.name, it.arguments.Nested()
		switch {
		case input == nil: // no JSON: the text as it is
			input = it.arguments
		case string(name) == "apply_patch" && input.Get("input") != nil:
			input = input.Get("input")
		}
		r.call(it, name, input)
	case "custom_tool_call":
		r.call(it, it.name, it.input)
	case "local_shell_call":
		r.call(it, []byte("local_shell"), it.action)
	case "web_search_call":
		r.call(it, []byte("web_search"), it.action)
	case "tool_search_call":
		r.call(it, []byte("tool_search"), it.arguments.Nested())
	case "image_generation_call":
		r.call(it, []byte("image_generation"), it.revisedPrompt)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "mcp_tool_call_output":
		r.output(it)
	case "tool_search_output": // what the tools found can do
		r.make(transcript.User, it).Machine().Hidden().Output(false)
	case "agent_message": // from another agent of the session's team
		b := r.make(transcript.User, it).Machine()
		for part := range parts(it.content) {
			b.Note(part.text)
		}
	case "reasoning", "compaction", "compaction_summary", "compaction_trigger", "context_compaction", "ghost_snapshot", "other":
	default:
		if r.payload != nil && it.kind != nil && r.native == "" {
			r.s.SeeStrange(it.kind)
		}
	}
}

// make begins the turn of the record.
func (r *reader) make(kind string, it item) *turn.Builder {
	r.made = turn.New(kind, r.whole)
	id := it.id
	if len(id) == 0 {
		id = it.call
	}
	return r.made.IDs(r.native, string(transcript.CutBytes(id, idLength)), "")
}

// idLength bounds an id of Codex, in bytes.
const idLength = 256

// call is a call of a tool. Tools of a server are named as in other agents: mcp__server__tool.
func (r *reader) call(it item, name []byte, input transcript.Value) {
	if bytes.HasPrefix(it.namespace, []byte("mcp__")) {
		name = append(append(bytes.Clone(it.namespace), "__"...), name...)
	}
	r.make(transcript.Assistant, it).Call(name, input, tools)
}

// A part is one text of a message, by its number in the content.
type part struct {
	n    int
	text []byte
}

// parts are the texts of a content, which is a list of parts or one text. The tags that stand
// around an image are none.
func parts(content transcript.Value) func(yield func(part) bool) {
	return func(yield func(part) bool) {
		if content.Kind() == '"' {
			yield(part{0, content.Text()})
			return
		}
		n := -1
		for e := range content.Elements() {
			n++
			var kind, text []byte
			for key, m := range e.Members() {
				switch string(key) {
				case "type":
					kind = m.Text()
				case "text":
					text = m.Text()
				}
			}
			switch string(kind) {
			case "input_text", "output_text", "text", "Text":
				if !imageTag(text) && len(text) > 0 && !yield(part{n, text}) {
					return
				}
			}
		}
	}
}

// imageTag reports whether a text is one of the tags around an image.
func imageTag(text []byte) bool {
	text = bytes.TrimSpace(text)
	return string(text) == "</image>" ||
		bytes.HasPrefix(text, []byte("<image")) && bytes.IndexByte(text, '>') == len(text)-1
}

// message reads a message of one of the roles.
func (r *reader) message(it item) {
	switch string(it.role) {
	case "assistant":
		r.answer(asItem, it, it.content)
	case "user":
		r.fromUser(it)
	case "developer", "system":
		b := r.make(transcript.System, it).Hidden()
		for p := range parts(it.content) {
			b.Note(p.text)
		}
	default:
		if it.role != nil {
			r.s.SeeStrange(it.role)
		}
	}
}

// answer is what the model said, in one of its forms. A summary that it was asked for by Codex
// stands in the record of the compaction again, and is found there.
func (r *reader) answer(f form, it item, content transcript.Value) {
	var texts [][]byte
	for p := range parts(content) {
		texts = append(texts, p.text)
	}
	if len(texts) == 0 {
		return
	}
	summary := r.metadata.Get("compaction_output").Bool()
	if !summary && r.o.heard(r.sum('a', texts...), f) {
		return
	}
	b := r.make(transcript.Assistant, it)
	for _, text := range texts {
		b.Say(text)
	}
	if summary {
		b.Hidden()
	}
}

// fromUser reads a message of the role user: what a person typed, or what Codex itself puts
// before the model.
func (r *reader) fromUser(it item) {
	kinds := kindsOf(it)
	var spoken, machine [][]byte
	shown := false
	for p := range parts(it.content) {
		kind := ""
		if p.n < len(kinds) {
			kind = kinds[p.n]
		}
		if typed, ok := spokenText(kind, p.text); ok {
			spoken = append(spoken, typed)
			continue
		}
		machine = append(machine, p.text)
		shown = shown || hasPrefix(p.text, shownTags)
	}
	switch {
	case len(spoken) > 0:
		r.prompt(asItem, it, spoken)
	case len(machine) == 0: // an image alone
		r.make(transcript.User, it)
	case shown:
		b := r.make(transcript.User, it).Machine()
		for _, text := range machine {
			b.Note(text)
		}
	default:
		b := r.make(transcript.Attachment, it).Hidden()
		for _, text := range machine {
			b.Note(text)
		}
	}
}

// prompt is what a person typed, in one of its forms.
func (r *reader) prompt(f form, it item, texts [][]byte) {
	sum := r.sum('u', texts...)
	if r.o.heard(sum, f) {
		return
	}
	if !r.hidden && r.s.TitleRank == 0 {
		r.s.SeeTitle(titleOf(texts[0]), transcript.TitleTaken)
	}
	b := r.say(it, texts)
	if id := r.o.takesOver(sum); id != "" {
		b.IDs(id, string(transcript.CutBytes(it.id, idLength)), "")
	}
}

// sum is sumOf, another one for what may be a copy: that never stands for what is none.
func (r *reader) sum(who byte, texts ...[]byte) uint64 {
	if r.hidden {
		who -= 'a' - 'A'
	}
	return sumOf(who, texts...)
}

func (r *reader) say(it item, texts [][]byte) *turn.Builder {
	b := r.make(transcript.User, it)
	for _, text := range texts {
		b.Say(text)
	}
	return b
}

// kindsOf are the kinds of the parts of a content, where Codex tells them.
func kindsOf(it item) (kinds []string) {
	for e := range it.passthrough.Get("content_item_kinds").Elements() {
		kinds = append(kinds, e.String())
	}
	return kinds
}

// spokenText is what a person typed of a text of the role user. ok is false for what Codex
// wrote, which it tells by a kind, or, in older versions, only by how the text begins.
func spokenText(kind string, text []byte) (typed []byte, ok bool) {
	switch {
	case strings.HasPrefix(kind, "user."):
	case kind != "" && kind != "unknown", hasPrefix(text, machineTags), hasPrefix(text, shownTags):
		return nil, false
	}
	if bytes.HasPrefix(text, []byte(editorStart)) {
		if _, request, found := bytes.Cut(text, []byte(editorEnd)); found {
			text = bytes.TrimSpace(request)
		}
	}
	return text, true
}

// What an editor puts around a prompt.
const (
	editorStart = "# Context from my IDE setup:"
	editorEnd   = "## My request for Codex:"
)

// machineTags begin the texts that Codex puts before its model under the role user. shownTags
// begin those of them that tell of something that the person did.
var (
	machineTags = []string{
		"<environment_context", "<user_instructions", "# AGENTS.md instructions", "<INSTRUCTIONS", "<turn_aborted",
		"<subagent_notification", "<skill>", "<skills_instructions", "<model_switch", "<personality_spec",
		"<permissions instructions", "<collaboration_mode", "<token_budget", "<goal_context", "<hook_prompt",
	}
	shownTags = []string{"<user_shell_command", "<user_action"}
)

func hasPrefix(text []byte, any []string) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	for _, p := range any {
		if bytes.HasPrefix(text, []byte(p)) {
			return true
		}
	}
	return false
}
