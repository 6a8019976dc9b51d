package zed

import (
	"bytes"
	"time"

	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Turns reads a message of a thread, of the form of today or of the one before it.
func (h Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	id, row := rows.Read(record)
	if id == "" || row == nil {
		if len(bytes.TrimSpace(record)) > 0 {
			s.Damaged++
		}
		return nil
	}
	if id == headID {
		h.head(row, s)
		return nil
	}
	m := message{record: record, id: id, s: s}
	switch {
	case row.Kind() == '"': // "Resume": the person let it go on
	case row.Kind() != '{':
		s.Damaged++
	case len(row.Get("role")) > 0:
		m.segments(row)
	case len(row.Get("User")) > 0:
		m.user(row.Get("User"))
	case len(row.Get("Agent")) > 0:
		m.agent(row.Get("Agent"))
	default:
		for key := range row.Members() {
			s.SeeStrange(key)
			break
		}
	}
	return m.turns
}

// head tells what the row of a thread says of it. Its messages have no time: they are one
// millisecond after another behind the first time that was told of the thread.
func (h Harness) head(row transcript.Value, s *transcript.State) {
	s.SeeSession(row.Get("id").Text())
	s.SeeDirectory(firstFolder(row))
	title := row.Get("summary").Text()
	if len(title) == 0 {
		title = row.Get("document", "title").Text()
	}
	s.SeeTitle(title, transcript.TitleMade)
	if parent := row.Get("parent_id").String(); parent != "" && len(parent) < transcript.StateLimit {
		s.ParentKey = h.key(parent)
	}
	if s.Own == "" {
		s.Own = transcript.Time(row.Get("created_at"))
	}
	if s.Own == "" {
		s.Own = transcript.Time(row.Get("updated_at"))
	}
}

// A message is one record that is being read.
type message struct {
	record []byte
	id     string
	s      *transcript.State
	turns  []transcript.Turn
}

func (m *message) turn(kind, suffix string) *turn.Builder {
	return turn.New(kind, m.record).IDs(m.id+suffix, m.id+suffix, "")
}

func (m *message) done(b *turn.Builder) {
	if b.Empty() {
		return
	}
	at := m.s.Own
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		at = t.Add(time.Duration(m.s.Turns) * time.Millisecond).Format("2006-01-02T15:04:05.000Z07:00")
	}
	m.turns = append(m.turns, b.Done(at, m.s))
}

// user reads a prompt: what a person typed, and what the files and threads hold that it names.
func (m *message) user(v transcript.Value) {
	b, mentioned := m.turn(transcript.User, ""), m.turn(transcript.Attachment, "/mention")
	for c := range v.Get("content").Elements() {
		for key, part := range c.Members() {
			switch string(key) {
			case "Text":
				b.Say(part.Text())
			case "Mention":
				mentioned.Note(part.Get("content").Text())
				for _, uri := range part.Get("uri").Members() {
					mentioned.Names(transcript.FirstText(uri.Get("abs_path"), uri.Get("path")))
				}
			case "Image":
			default:
				m.s.SeeStrange(key)
			}
		}
	}
	m.done(b)
	m.done(mentioned)
}

// agent reads what a model said and called, and what came of its calls.
func (m *message) agent(v transcript.Value) {
	b := m.turn(transcript.Assistant, "")
	for c := range v.Get("content").Elements() {
		for key, part := range c.Members() {
			switch string(key) {
			case "Text":
				b.Say(part.Text())
			case "ToolUse":
				input := part.Get("input")
				if len(input) == 0 {
					input = part.Get("raw_input").Nested()
				}
				b.Call(part.Get("name").Text(), input, tools)
			case "Thinking", "RedactedThinking":
			default:
				m.s.SeeStrange(key)
			}
		}
	}
	m.done(b)
	results := m.turn(transcript.User, resultSuffix)
	for _, r := range v.Get("tool_results").Members() {
		output(results, r)
	}
	m.done(results)
}

// resultSuffix is behind the id of a record in that of the turn of what its tools returned.
const resultSuffix = "/result"

// output adds what a tool returned: a text, or one or several in an object that names its kind.
func output(b *turn.Builder, r transcript.Value) {
	content := r.Get("content")
	texts := [][]byte{content.Text(), content.Get("Text").Text()}
	for e := range content.Elements() {
		texts = append(texts, e.Text(), e.Get("Text").Text(), e.Get("text").Text())
	}
	b.Output(r.Get("is_error").Bool(), texts...)
}

// segments reads a message of the older form.
func (m *message) segments(v transcript.Value) {
	kind := transcript.User
	switch role := v.Get("role").Text(); string(role) {
	case "user":
	case "assistant":
		kind = transcript.Assistant
	case "system":
		kind = transcript.System
	default:
		m.s.SeeStrange(role)
		return
	}
	b := m.turn(kind, "")
	if kind == transcript.System {
		b.Hidden()
	}
	for seg := range v.Get("segments").Elements() {
		if seg.Get("type").String() == "text" {
			b.Say(seg.Get("text").Text())
		}
	}
	for call := range v.Get("tool_uses").Elements() {
		b.Call(call.Get("name").Text(), call.Get("input"), tools)
	}
	m.done(b)
	results := m.turn(transcript.User, resultSuffix)
	for r := range v.Get("tool_results").Elements() {
		output(results, r)
	}
	m.done(results)
}
