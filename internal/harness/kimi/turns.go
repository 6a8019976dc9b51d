package kimi

import (
	"strings"

	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Turns reads one record: the session's state, the lines of a step, or a line.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	name, row := rows.Read(record)
	session, _, _ := strings.Cut(strings.TrimPrefix(s.Key, id+":"), "/")
	s.SeeSession([]byte(session))
	var b *turn.Builder
	at := row.Get("time")
	switch {
	case name == rows.Head:
		s.SeeDirectory(row.Get("workDir").Text())
		s.SeeTitle(row.Get("title").Text(), transcript.TitleMade)
		return nil
	case row.Kind() == '[':
		b, at = step(record, row)
	case row.Kind() == '{':
		b = line(record, row, s)
	default:
		s.Damaged++
	}
	if b == nil {
		return nil
	}
	ts := transcript.Time(at)
	if ts == "" {
		ts = s.LastTS
	}
	return []transcript.Turn{b.IDs(name, "", "").Done(ts, s)}
}

// line reads a line that is no part of a step, nil where it is no turn.
func line(record []byte, v transcript.Value, s *transcript.State) *turn.Builder {
	switch kind := v.Get("type").String(); kind {
	case "context.append_message":
		return message(record, v.Get("message"), s)
	case loopEvent:
		if event := v.Get("event"); event.Get("type").String() == "tool.result" {
			b := turn.New(transcript.User, record)
			result := event.Get("result")
			b.Output(result.Get("isError").Bool(), turn.Texts(result.Get("output"))...)
			return b
		}
	case "":
		s.Damaged++
	case "metadata":
	default:
		for _, name := range []string{"message", "content", "text", "summary"} {
			if v.Get(name) != nil {
				s.SeeStrange([]byte(kind))
				break
			}
		}
	}
	return nil
}

func message(record []byte, m transcript.Value, s *transcript.State) *turn.Builder {
	content := turn.Texts(m.Get("content"))
	switch role := m.Get("role").String(); role {
	case "user":
		b := turn.New(transcript.User, record)
		for _, t := range content {
			b.Say(t)
		}
		if !typed(m.Get("origin")) {
			b.Machine().Hidden()
		}
		return b
	case "assistant":
		b := turn.New(transcript.Assistant, record)
		for _, t := range content {
			b.Say(t)
		}
		return b
	case "tool":
		b := turn.New(transcript.User, record)
		b.Output(false, content...)
		return b
	case "system", "developer":
		b := turn.New(transcript.System, record).Hidden()
		for _, t := range content {
			b.Note(t)
		}
		return b
	default:
		s.SeeStrange([]byte("message " + role))
		return nil
	}
}

// typed reports whether a person sent a message, by what it says of its origin.
func typed(origin transcript.Value) bool {
	return origin.Kind() != '{' || strings.HasPrefix(origin.Get("kind").String(), "user") ||
		origin.Get("trigger").String() == "user-slash"
}

// step reads what a model said and called in one step. Its text came in parts, which may end
// within a word.
func step(record []byte, lines transcript.Value) (*turn.Builder, transcript.Value) {
	b := turn.New(transcript.Assistant, record)
	var said []byte
	var at transcript.Value
	say := func() {
		b.Say(said)
		said = nil
	}
	for l := range lines.Elements() {
		if at == nil {
			at = l.Get("time")
		}
		event := l.Get("event")
		switch event.Get("type").String() {
		case "content.part":
			if part := event.Get("part"); part.Get("type").String() == "text" && len(said) < transcript.TextRoom {
				said = append(said, part.Get("text").Text()...)
			}
		case "tool.call":
			say()
			b.Call(event.Get("name").Text(), event.Get("args").Nested(), tools)
		}
	}
	say()
	if b.Empty() {
		return nil, nil
	}
	return b, at
}
