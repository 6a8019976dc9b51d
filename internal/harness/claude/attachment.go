package claude

import "github.com/terminus-archive/terminus/internal/transcript"

// machinery are the types of attachments in which Claude Code tells its model
// about itself: where it runs, which tools, skills and agents there are, what
// it must not forget. Nobody said it, nobody looks for it, and it comes again
// in every session; in version 2.1.332 it is half of a transcript's bytes.
//
// Not in the table, and so indexed: what a person typed or attached
// (queued_command, file, edited_text_file, directory, selected_lines_in_ide,
// mcp_resource), what files say (nested_memory, relevant_memories,
// plan_file_reference, invoked_skills, diagnostics), what hooks said, and
// every type that is not known yet.
var machinery = map[string]bool{
	// The surroundings.
	"environment":           true,
	"model":                 true,
	"date":                  true,
	"date_change":           true,
	"session_context":       true,
	"remote_session_change": true,
	"prompt_snapshot":       true,
	// What there is.
	"deferred_tools_delta":    true,
	"mcp_dropped_tools_delta": true,
	"mcp_instructions_delta":  true,
	"mcp_tool_listing":        true,
	"agent_listing_delta":     true,
	"skill_listing":           true,
	"dynamic_skill":           true,
	"command_permissions":     true,
	// The mode it works in.
	"auto_mode":                 true,
	"auto_mode_exit":            true,
	"plan_mode":                 true,
	"plan_mode_exit":            true,
	"plan_mode_reentry":         true,
	"output_style":              true,
	"output_style_instructions": true,
	"ultra_effort_enter":        true,
	"ultra_effort_exit":         true,
	"ultrathink_effort":         true,
	// Reminders and meters. The lists that the two first ones repeat stand in
	// the tool calls that wrote them.
	"todo_reminder":              true,
	"task_reminder":              true,
	"silent_turn_reminder":       true,
	"batching_reminder":          true,
	"secondary_reminder":         true,
	"elapsed_time_reminder":      true,
	"total_tokens_reminder":      true,
	"tool_search_usage_reminder": true,
	"critical_system_reminder":   true,
	"token_usage":                true,
	"budget_usd":                 true,
}

// queuedCommand is the type of a prompt typed while Claude Code was working.
const queuedCommand = "queued_command"

// readAttachment reads `attachment`: all its string leaves, its type, and of
// a queued command whatever tells whether a person typed it.
func (r *reader) readAttachment() {
	s := &r.scan
	r.attached, r.hasQueued, r.queued = nil, false, speech{}
	mark := s.Mark()
	r.attachment = s.LeavesSeen(r.attachment[:0], false, func(parent, key, text []byte) {
		if parent == nil && string(key) == "type" {
			r.attached = text
		}
	})
	if string(r.attached) == queuedCommand {
		var again transcript.Scanner
		again.Reset(s.Since(mark))
		r.queued, r.hasQueued = readQueued(&again), true
	}
}

// readQueued reads the value of a queued command.
func readQueued(s *transcript.Scanner) (p speech) {
	if !s.EnterObject() {
		return p
	}
	for {
		key, ok := s.NextMember()
		if !ok {
			return p
		}
		switch string(key) {
		case "isMeta":
			p.meta = s.Bool()
		case "commandMode":
			p.mode, _ = s.TryText()
		case "origin":
			p.origin = originKind(s)
		case "prompt":
			p.first, p.interrupted, p.other = nil, false, false
			readPrompt(s, &p)
		default:
			s.Skip()
		}
	}
}

// readPrompt reads a prompt: one text, or blocks of which the texts count.
func readPrompt(s *transcript.Scanner, p *speech) {
	switch {
	case s.Kind() == '"':
		p.hear(s.Text())
	case s.EnterArray():
		for s.NextElement() {
			if !s.EnterObject() {
				s.Skip()
				continue
			}
			if kind, text := readPart(s); string(kind) == "text" {
				p.hear(text)
			}
		}
	default:
		s.Skip()
	}
}
