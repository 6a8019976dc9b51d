package goose

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func quoted(text string) []byte {
	q, err := json.Marshal(text)
	if err != nil {
		return []byte(`""`) // cannot happen: any string can be marshalled
	}
	return q
}

// Turns reads a row of the database, or a line of a file of an older version.
func (h Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	line := bytes.TrimSpace(record)
	if len(line) == 0 {
		return nil
	}
	var row, content, created, metadata transcript.Value
	if _, wrapped := transcript.WrappedID(line); wrapped {
		_, row = rows.Read(record)
		switch row.Get("table").String() {
		case "sessions":
			h.head(row, s)
			return nil
		case "messages":
		default:
			return nil
		}
		content, created, metadata = row.Get("content_json"), row.Get("created_timestamp"), row.Get("metadata_json")
	} else {
		row, _ = transcript.ParseValue(line)
		if row.Kind() == '{' && len(row.Get("role")) == 0 {
			h.head(row, s)
			return nil
		}
		content, created, metadata = row.Get("content"), row.Get("created"), row.Get("metadata")
	}
	if row.Kind() != '{' || content.Kind() != '[' {
		s.Damaged++
		return nil
	}
	copied := row.Get("copied").Text()
	if len(copied) > 0 {
		s.SeeOrigin(copied)
	}
	m := message{record: record, id: saying(row.Get("role"), created, content), at: transcript.Time(created), s: s}
	m.agentOnly = metadata.Get("userVisible").Kind() == 'f' && metadata.Get("agentVisible").Kind() != 'f'
	m.read(row.Get("role").Text(), content)
	if len(copied) > 0 { // it is found in the session that it was taken over from
		for i := range m.turns {
			m.turns[i].Unindexed = true
		}
	}
	return m.turns
}

// saying is the name of what somebody said at a time. Two versions of the program write the
// same message with members more or less; the texts stay.
func saying(role, created, content transcript.Value) string {
	sum := sha256.New()
	sum.Write(role)
	sum.Write(created)
	for _, leaf := range content.Leaves() {
		sum.Write(leaf.Text)
		sum.Write([]byte{0})
	}
	return "said/" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// head tells what the row of a session, or the first line of a file, says of it.
func (h Harness) head(row transcript.Value, s *transcript.State) {
	s.SeeSession(row.Get("id").Text())
	s.SeeDirectory(row.Get("working_dir").Text())
	rank := transcript.TitleMade
	if named := row.Get("user_set_name"); named.Bool() || string(named) == "1" {
		rank = transcript.TitleGiven
	}
	title := row.Get("name").Text()
	if len(title) == 0 {
		title = row.Get("description").Text()
	}
	s.SeeTitle(title, rank)
	parent := row.Get("parent_session_id").String()
	switch row.Get("session_type").String() {
	case "sub_agent", "subagent":
		if parent != "" && len(parent) < transcript.StateLimit {
			s.ParentKey = h.key(parent)
		}
	default:
		s.SeeOrigin([]byte(parent))
	}
}

// A message is one record that is being read.
type message struct {
	record    []byte
	id, at    string
	agentOnly bool
	s         *transcript.State
	turns     []transcript.Turn
}

func (m *message) done(b *turn.Builder) { m.turns = append(m.turns, b.Done(m.at, m.s)) }

func (m *message) turn(kind, suffix string) *turn.Builder {
	return turn.New(kind, m.record).IDs(m.id+suffix, m.id+suffix, "")
}

// afterDigest is the state behind a message that only the model sees, until another comes.
const afterDigest = "digest"

func (m *message) read(role []byte, content transcript.Value) {
	kind := string(role)
	if kind != transcript.User && kind != transcript.Assistant {
		m.s.SeeStrange(role)
		return
	}
	digest := m.agentOnly && len(m.s.Own) == 0
	m.s.Own = ""
	if m.agentOnly {
		// What only the model sees stands in the place of what a compaction took out.
		m.s.Own = afterDigest
		kind = transcript.User
	}
	b := m.turn(kind, "")
	if m.agentOnly {
		b.Machine()
	}
	var notes [][]byte
	for c := range content.Elements() {
		switch kind := c.Get("type").Text(); string(kind) {
		case "text":
			b.Say(c.Get("text").Text())
		case "toolRequest", "frontendToolRequest":
			call := c.Get("toolCall")
			if v := call.Get("value"); len(v) > 0 {
				call = v
			}
			b.Call(call.Get("name").Text(), call.Get("arguments").Nested(), tools)
		case "toolResponse":
			output(b, c.Get("toolResult"))
		case "systemNotification", "contextLengthExceeded", "summarizationRequested":
			notes = append(notes, c.Get("msg").Text())
		case "thinking", "redactedThinking", "reasoning", "image", "toolConfirmationRequest", "actionRequired":
		default:
			m.s.SeeStrange(kind)
		}
	}
	if digest && !b.Empty() {
		m.done(m.turn(transcript.System, "/boundary").Boundary(nil))
	}
	if !b.Empty() {
		m.done(b)
	}
	if note := bytes.TrimSpace(bytes.Join(notes, []byte("\n"))); len(note) > 0 {
		b := m.turn(transcript.System, "/note")
		b.Note(note)
		m.done(b)
	}
}

// output adds what a tool returned.
func output(b *turn.Builder, result transcript.Value) {
	value := result.Get("value")
	failed := result.Get("status").String() == "error" || value.Get("isError").Bool()
	list := value
	if value.Kind() == '{' {
		list = value.Get("content")
	}
	var texts [][]byte
	for c := range list.Elements() {
		// A text is there once for the model and once for the person.
		text := c.Get("text").Text()
		if len(text) > 0 && (len(texts) == 0 || !bytes.Equal(texts[len(texts)-1], text)) {
			texts = append(texts, text)
		}
	}
	b.Output(failed, append(texts, result.Get("error").Text())...)
}
