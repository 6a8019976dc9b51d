package claude

import (
	"bytes"
	"unicode"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// speech is what tells whether a person typed a text.
type speech struct {
	meta, summary bool
	toolResult    bool
	source        []byte // promptSource
	origin        []byte // origin.kind
	mode          []byte // commandMode, of a queued command
	// first is the first text, nil before one was met.
	first []byte
	// interrupted and other: a text that only says that the user interrupted
	// was met, and any other.
	interrupted, other bool
}

// notification is the kind of origin of what a background task reports.
const notification = "task-notification"

// hear takes in one text.
func (p *speech) hear(text []byte) {
	if p.first == nil {
		p.first = text
	}
	switch text = bytes.TrimSpace(text); string(text) {
	case "":
	case "[Request interrupted by user]", "[Request interrupted by user for tool use]":
		p.interrupted = true
	default:
		p.other = true
	}
}

// nature is Typed for what a person typed.
func (p *speech) nature() transcript.Nature {
	if p.meta || p.summary || p.toolResult || p.interrupted && !p.other ||
		string(p.source) == "system" || string(p.origin) == notification ||
		string(p.mode) == notification || machineTag(p.first) {
		return transcript.Machine
	}
	return transcript.Typed
}

// machineTag reports whether text begins with a tag under which Claude Code
// itself writes. `<bash-input>` is not among them: a person typed it.
func machineTag(text []byte) bool {
	text = bytes.TrimLeftFunc(text, unicode.IsSpace)
	if len(text) == 0 || text[0] != '<' {
		return false
	}
	tag, _, closed := bytes.Cut(text[1:], []byte(">"))
	if !closed {
		return false
	}
	switch string(tag) {
	case "command-message", "command-name", "local-command-caveat", notification, "local-command-stdout", "bash-stdout":
		return true
	}
	return false
}

// readMessage reads `message`, of which only `content` counts.
func (r *reader) readMessage() {
	s := &r.scan
	r.clearMessage()
	if !s.EnterObject() {
		s.Skip()
		return
	}
	for {
		key, ok := s.NextMember()
		switch {
		case !ok:
			return
		case string(key) == "content":
			r.clearMessage()
			r.readContent()
		default:
			s.Skip()
		}
	}
}

func (r *reader) clearMessage() {
	r.message, r.room, r.toolName = r.message[:0], transcript.TextRoom, nil
	r.mentions, r.results, r.answers = r.mentions[:0], 0, 0
	p := &r.user
	p.toolResult, p.first, p.interrupted, p.other = false, nil, false, false
}

// readContent reads the content of a message: one text, or blocks in order.
func (r *reader) readContent() {
	s := &r.scan
	switch {
	case s.Kind() == '"':
		text := s.Text()
		r.user.hear(text)
		r.say(transcript.Piece{Text: text})
	case s.EnterArray():
		for s.NextElement() {
			r.readBlock()
		}
	default:
		s.Skip()
	}
}

// readBlock reads one block. Its members come in any order, so the texts of
// all kinds of blocks are gathered, and its type then says which count.
func (r *reader) readBlock() {
	s := &r.scan
	if !s.EnterObject() {
		s.Skip()
		return
	}
	var kind, text, name []byte
	var failed bool
	r.call = call{}
	for {
		key, ok := s.NextMember()
		if !ok {
			break
		}
		switch string(key) {
		case "type":
			kind, _ = s.TryText()
		case "text":
			text, _ = s.TryText()
		case "name":
			name, _ = s.TryText()
		case "input":
			r.call = call{}
			mark := s.Mark()
			r.input = s.LeavesSeen(r.input[:0], false, r.seeInput)
			r.call.raw = s.Since(mark)
		case "content":
			r.output = r.readParts(r.output[:0])
		case "is_error":
			failed = s.Bool()
		default:
			s.Skip()
		}
	}
	switch string(kind) {
	case "text":
		if text != nil {
			r.user.hear(text)
		}
		r.say(transcript.Piece{Text: text})
	case "tool_use":
		if r.toolName == nil {
			r.toolName = name
		}
		r.say(transcript.Piece{Text: name})
		r.say(r.input...)
		if len(r.mentions) < maxMentions {
			r.mentions = r.call.appendMentions(r.mentions, name)
		}
	case "tool_result":
		r.user.toolResult = true
		r.addOutput(failed)
	}
	r.input, r.output = transcript.Recycle(r.input), transcript.Recycle(r.output)
}

// maxMentions bounds what is noted of one record's calls, many times what is
// kept of it: a record may hold a million calls.
const maxMentions = 4 << 10

// addOutput takes in the output of a call. That of Terminus' own tools is
// history already.
func (r *reader) addOutput(failed bool) {
	r.results++
	output, own := dropAnswers(r.output)
	switch {
	case own:
		r.answers++
	case failed && len(output) > 0 && len(r.mentions) < maxMentions:
		r.mentions = append(r.mentions, transcript.Mention{Origin: transcript.Failure, Text: failure(output)})
	}
	r.say(output...)
}

// say appends texts of the message as far as there is room in a projection: a
// piece that has none is no part of it, and would only cost memory.
func (r *reader) say(texts ...transcript.Piece) {
	for _, t := range texts {
		if r.room <= 0 {
			return
		}
		r.message = add(r.message, t.Text)
		r.room -= len(t.Text)
	}
}

// readParts reads the content of a tool result: one text, or parts, of which
// those of the type `text` count, as far as there is room in a projection.
func (r *reader) readParts(dst []transcript.Piece) []transcript.Piece {
	s, room := &r.scan, transcript.TextRoom
	switch {
	case s.Kind() == '"':
		return add(dst, s.Text())
	case s.EnterArray():
		for s.NextElement() {
			if !s.EnterObject() {
				s.Skip()
				continue
			}
			if kind, text := readPart(s); string(kind) == "text" && room > 0 {
				dst = add(dst, text)
				room -= len(text)
			}
		}
	default:
		s.Skip()
	}
	return dst
}

// readPart reads the rest of an object that was entered: its type and text.
func readPart(s *transcript.Scanner) (kind, text []byte) {
	for {
		key, ok := s.NextMember()
		if !ok {
			return kind, text
		}
		switch string(key) {
		case "type":
			kind, _ = s.TryText()
		case "text":
			text, _ = s.TryText()
		default:
			s.Skip()
		}
	}
}

// add appends a text that is not empty.
func add(dst []transcript.Piece, text []byte) []transcript.Piece {
	if len(text) == 0 {
		return dst
	}
	return append(dst, transcript.Piece{Text: text})
}
