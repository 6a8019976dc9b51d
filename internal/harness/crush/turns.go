package crush

import (
	"bytes"

	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Turns reads a row: one of a message gives a turn, one of a summary two, that the compaction
// happened and what it says.
func (h Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	id, row := rows.Read(record)
	if row.Kind() != '{' || id == "" {
		if len(bytes.TrimSpace(record)) > 0 {
			s.Damaged++
		}
		return nil
	}
	switch row.Get("table").String() {
	case "sessions":
		h.head(row, s)
		return nil
	case "messages":
	default:
		return nil
	}
	parts := row.Get("parts")
	if parts.Kind() != '[' {
		s.Damaged++
		return nil
	}
	m := message{record: record, id: id, at: transcript.Time(row.Get("created_at")), s: s}
	n, _ := row.Get("digest").Number()
	switch role := row.Get("role").Text(); string(role) {
	case transcript.User:
		m.read(transcript.User, parts)
	case transcript.Assistant:
		if n != 0 {
			m.done(turn.New(transcript.System, record).IDs(id+"/boundary", id+"/boundary", "").Boundary(nil))
			m.machine = true
			m.read(transcript.User, parts)
			break
		}
		m.read(transcript.Assistant, parts)
	case "tool":
		m.machine = true
		m.read(transcript.User, parts)
	case transcript.System:
		m.hidden = true
		m.read(transcript.System, parts)
	default:
		s.SeeStrange(role)
	}
	return m.turns
}

func (h Harness) head(row transcript.Value, s *transcript.State) {
	s.SeeSession(row.Get("id").Text())
	s.SeeDirectory(row.Get("directory").Text())
	s.SeeTitle(row.Get("title").Text(), transcript.TitleMade)
	if parent := row.Get("parent_session_id").String(); parent != "" && len(parent) < transcript.StateLimit {
		s.ParentKey = h.key(parent)
	}
}

// A message is one row that is being read.
type message struct {
	record          []byte
	id, at          string
	machine, hidden bool
	s               *transcript.State
	turns           []transcript.Turn
}

func (m *message) done(b *turn.Builder) { m.turns = append(m.turns, b.Done(m.at, m.s)) }

// read reads the parts of a message into a turn, and why it ended, if that is an error, into another.
func (m *message) read(kind string, parts transcript.Value) {
	b := turn.New(kind, m.record).IDs(m.id, m.id, "")
	var failure []byte
	for p := range parts.Elements() {
		data := p.Get("data")
		switch kind := p.Get("type").Text(); string(kind) {
		case "text":
			b.Say(clean(data.Get("text").Text()))
		case "tool_call":
			b.Call(data.Get("name").Text(), data.Get("input").Nested(), tools)
		case "tool_result":
			text, failed := result(data)
			b.Output(failed, text)
		case "binary":
			b.Names(transcript.FirstText(data.Get("Path"), data.Get("path")))
		case "finish":
			if data.Get("reason").String() == "error" {
				failure = bytes.Join([][]byte{data.Get("message").Text(), data.Get("details").Text()}, []byte("\n"))
			}
		case "reasoning", "image_url":
		default:
			m.s.SeeStrange(kind)
		}
	}
	if m.machine {
		b.Machine()
	}
	if m.hidden {
		b.Hidden()
	}
	if !b.Empty() {
		m.done(b)
	}
	if len(bytes.TrimSpace(failure)) > 0 {
		b := turn.New(transcript.System, m.record).IDs(m.id+"/error", m.id+"/error", "")
		b.Note(failure)
		m.done(b)
	}
}

// clean is a text without the NULs that some outputs have.
func clean(text []byte) []byte {
	if bytes.IndexByte(text, 0) < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte{0}, nil)
}

// result is what a tool returned, without the directory that the shell's tool appends, and
// whether it failed: the shell says only in its text that a command did.
func result(data transcript.Value) (text []byte, failed bool) {
	text = clean(data.Get("content").Text())
	if i := bytes.LastIndex(text, []byte("<cwd>")); i >= 0 && bytes.HasSuffix(bytes.TrimSpace(text), []byte("</cwd>")) {
		text = bytes.TrimRight(text[:i], "\n")
	}
	last := text[bytes.LastIndexByte(text, '\n')+1:]
	code, exit := bytes.CutPrefix(last, []byte("Exit code "))
	return text, data.Get("is_error").Bool() || exit && len(code) > 0 && string(code) != "0"
}
