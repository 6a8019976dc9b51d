package droid

import (
	"bytes"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Turns reads one line of a session. A message is a turn, but for the note of a hook that ran.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	var turns []transcript.Turn
	for off, v := range turn.Objects(record, s, isRecord) {
		var b *turn.Builder
		switch kind := v.Get("type").String(); kind {
		case "":
			s.Damaged++
		case "session_start":
			start(v, s)
		case "message":
			b = message(v, s)
		case "compaction_state":
			b = turn.New(transcript.System, v).Boundary(boundary(v))
			b.Say(v.Get("summaryText").Text())
		case "agent_turn_outcome", "todo_state":
		default:
			if v.Get("message") != nil || v.Get("content") != nil || v.Get("text") != nil {
				s.SeeStrange([]byte(kind))
			}
		}
		id, parent, ts := v.Get("id").String(), v.Get("parentId").String(), transcript.Time(v.Get("timestamp"))
		copied := isCopy(id, parent, ts, s)
		if b == nil {
			continue
		}
		if copied {
			b.Hidden()
		}
		if ts == "" {
			ts = s.LastTS
		}
		t := b.IDs("", id, parent).Done(ts, s)
		t.Off, t.Len = off, len(v)
		turns = append(turns, t)
	}
	return turns
}

// noCopies is State.Own behind the last copy of a fork that gave no turn yet: its first line, which
// may come again, begins no copies any more.
const noCopies = " "

// isCopy reports whether an entry stands in the session that this one was forked from as well, and
// ends the run of copies in s: with the entry that start names, and before one that answers it, or
// that is younger than the fork, for what is named may be torn or missing.
func isCopy(id, parent, ts string, s *transcript.State) bool {
	forked, last, _ := strings.Cut(s.Own, " ")
	if last == "" {
		return false
	}
	added := parent == last || forked != "" && strings.TrimSuffix(ts, "Z") > strings.TrimSuffix(forked, "Z")
	if added || id == last {
		s.Own = ""
		if s.Turns == 0 {
			s.Own = noCopies
		}
	}
	return !added
}

func isRecord(v transcript.Value) bool {
	kind := v.Get("type").String()
	return kind != "" && (kind == "session_start" || v.Get("id").Kind() == '"' && v.Get("timestamp") != nil)
}

// start reads what a session says of itself. A fork names the last message that it copied, and
// copies stand before all else: State.Own is the time of the fork, if it tells that, a blank, and
// that message's id until the copies end.
func start(v transcript.Value, s *transcript.State) {
	s.SeeSession(v.Get("id").Text())
	s.SeeDirectory(v.Get("cwd").Text())
	rank := transcript.TitleMade
	if v.Get("isSessionTitleManuallySet").Bool() {
		rank = transcript.TitleGiven
	}
	title := v.Get("sessionTitle").Text()
	if len(title) == 0 {
		title = v.Get("title").Text()
	}
	s.SeeTitle(title, rank)
	if caller := v.Get("callingSessionId").Text(); len(caller) > 0 {
		s.ParentKey = id + ":" + string(transcript.CutBytes(caller, transcript.StateLimit/2))
	}
	s.SeeOrigin(v.Get("parent").Text())
	last, forked := v.Get("forkedAtMessageId").Text(), transcript.Time(v.Get("timestamp"))
	if s.Turns == 0 && s.Own != noCopies && len(last) > 0 && len(forked)+1+len(last) <= transcript.StateLimit {
		s.Own = forked + " " + string(last)
	}
}

// boundary is what a compaction says of itself beside its summary.
func boundary(v transcript.Value) []byte {
	var out []byte
	for _, name := range []string{"summaryKind", "summaryTokens", "removedCount"} {
		if m := v.Get(name); m != nil {
			out = append(append(append(out, `,"`+name...), `":`...), m...)
		}
	}
	if out == nil {
		return nil
	}
	out[0] = '{'
	return append(out, '}')
}

// message reads a message, nil where it is none that is known, or says nothing.
func message(v transcript.Value, s *transcript.State) *turn.Builder {
	m := v.Get("message")
	content := m.Get("content")
	switch role := m.Get("role").String(); role {
	case "user":
		// Only the model reads it: what droid tells of the machine, and what hooks hand over.
		if m.Get("visibility").String() == "llm_only" {
			b := turn.New(transcript.Attachment, v).Hidden()
			for _, t := range turn.Texts(content) {
				b.Note(t)
			}
			return b
		}
		b := turn.New(transcript.User, v)
		for _, t := range turn.Texts(content) {
			if !reminder(t) {
				b.Say(t)
			}
		}
		for block := range content.Elements() {
			if block.Get("type").String() == "tool_result" {
				output := turn.Texts(block.Get("content"))
				b.Output(block.Get("is_error").Bool() || exited(output), output...)
			}
		}
		if b.Empty() && m.Get("hookEventName") != nil {
			return nil
		}
		return b
	case "assistant":
		b := turn.New(transcript.Assistant, v)
		if content.Kind() == '"' {
			b.Say(content.Text())
		}
		for block := range content.Elements() {
			switch block.Get("type").String() {
			case "text":
				b.Say(block.Get("text").Text())
			case "tool_use":
				b.Call(block.Get("name").Text(), block.Get("input"), tools)
			}
		}
		return b
	case "system":
		b := turn.New(transcript.System, v).Hidden()
		for _, t := range turn.Texts(content) {
			b.Note(t)
		}
		return b
	default:
		s.SeeStrange([]byte("message " + role))
		return nil
	}
}

// reminder reports whether a text was put beside what a person typed.
func reminder(text []byte) bool {
	text = bytes.TrimSpace(text)
	return bytes.HasPrefix(text, []byte("<system-reminder>")) && bytes.HasSuffix(text, []byte("</system-reminder>"))
}

// exited reports whether an output ends as that of a command does that failed.
func exited(output [][]byte) bool {
	if len(output) == 0 {
		return false
	}
	last := bytes.TrimSpace(output[len(output)-1])
	at := bytes.LastIndexByte(last, '\n') + 1
	code, ok := strings.CutPrefix(string(transcript.CutBytes(last[at:], 64)), "[Process exited with code ")
	return ok && code != "0]"
}
