// Package turn owns what the harnesses share when they read a record into a turn: in
// which order its texts are projected, how much of them, what a call of a tool names,
// and that the answers of Terminus' own tools are not history again.
//
// It promises turns of bounded size, whatever a record holds.
package turn

import (
	"bytes"
	"slices"
	"time"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// A Builder gathers one turn. The texts given to it are kept as they are, not copied. The zero
// value is not ready; use New.
type Builder struct {
	t        transcript.Turn
	used     int // bytes of pieces
	pieces   []transcript.Piece
	mentions []transcript.Mention
	results  int
}

// New begins a turn of one of the record types. record is the stream line that is read: its
// closing newline is not part of the turn.
func New(kind string, record []byte) *Builder {
	b := &Builder{}
	b.t.Type = kind
	b.t.Len = len(bytes.TrimRight(record, "\n"))
	return b
}

// Say adds a text that somebody said: a person, a model, a summary. What Terminus handed over
// itself is no such text.
func (b *Builder) Say(text []byte) {
	text = transcript.WithoutInjected(text)
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	if b.t.Prompt == nil {
		b.t.Prompt = text
	} else if len(b.t.Prompt) < transcript.TextRoom {
		b.t.Prompt = slices.Concat(b.t.Prompt, []byte("\n\n"), text)
	}
	b.add(text)
}

// Note adds a text that is to be found and was said by nobody.
func (b *Builder) Note(text []byte) { b.add(text) }

// Call adds a call of a tool: its name, and every text of its input.
func (b *Builder) Call(name []byte, input transcript.Value, tools Tools) {
	if b.t.ToolName == "" {
		b.t.ToolName = string(transcript.CutBytes(name, nameLimit))
	}
	b.add(name)
	for _, leaf := range input.Leaves() {
		b.add(leaf.Text)
	}
	if len(name) > 0 {
		b.mentionCall(name, input, tools)
	}
}

// nameLimit bounds the name of a tool, in bytes.
const nameLimit = 256

// Output adds what a tool returned, as one text or several. Answers of Terminus' own tools
// are left out. failed says that the call failed.
func (b *Builder) Output(failed bool, texts ...[]byte) {
	b.results++
	kept := texts[:0:0]
	for _, text := range texts {
		if len(text) > 0 && !transcript.RecallAnswer(text) && !transcript.Injected(text) {
			kept = append(kept, text)
			b.add(text)
		}
	}
	if failed && len(kept) > 0 {
		b.mention(transcript.Failure, bytes.Join(kept, []byte("\n")))
	}
}

// Names notes that the turn names a file, without text of its own.
func (b *Builder) Names(path []byte) { b.mention(transcript.FilePath, path) }

// Ran notes that the turn ran a shell command, without text of its own.
func (b *Builder) Ran(command []byte) { b.mention(transcript.ShellLine, command) }

// add appends a text as far as there is room in a projection: what has none is no part of it,
// and would only cost memory.
func (b *Builder) add(text []byte) {
	if len(text) == 0 || b.used >= transcript.TextRoom {
		return
	}
	b.used += len(text)
	b.pieces = append(b.pieces, transcript.Piece{Text: text})
}

// Empty reports whether nothing was added.
func (b *Builder) Empty() bool { return len(b.pieces) == 0 && b.results == 0 && b.t.ToolName == "" }

// Machine says that what the turn holds was written by the agent, though it has the role of
// the user.
func (b *Builder) Machine() *Builder {
	b.t.Nature = transcript.Machine
	return b
}

// Hidden says that search is not to find the turn: it is the agent's own machinery, or a copy.
func (b *Builder) Hidden() *Builder {
	b.t.Unindexed = true
	return b
}

// Boundary says that a compaction happened here. meta is what the agent says of it, or nil.
func (b *Builder) Boundary(meta []byte) *Builder {
	b.t.Boundary, b.t.BoundaryMeta = true, meta
	return b
}

// IDs names the turn: native is the id by which a later record takes its place ("" where none
// does), id and parent are the agent's own ids of the message and of the one before it.
func (b *Builder) IDs(native, id, parent string) *Builder {
	b.t.NativeID, b.t.UUID, b.t.ParentUUID = native, id, parent
	return b
}

// Done ends the turn at a time, which is "" where nobody knows it, and tells s of it. A user
// turn that only holds what tools returned is no prompt.
func (b *Builder) Done(ts string, s *transcript.State) transcript.Turn {
	t := &b.t
	t.TS, t.Pieces, t.Mentions = ts, b.pieces, b.mentions
	if t.Type == transcript.User {
		t.ToolResult = b.results > 0
		switch {
		case t.Nature == transcript.Machine:
		case t.Prompt != nil:
			t.Nature = transcript.Typed
		default:
			t.Nature = transcript.Machine
		}
	}
	if t.Nature != transcript.Typed || len(b.pieces) == 1 {
		t.Prompt = nil
	}
	s.SeeTurn(ts, t.ParentUUID)
	return *t
}

// Next is the time of a turn for which the agent tells none: a millisecond behind the turn before
// it, so that turns keep their order; that of the session's beginning for its first.
func Next(s *transcript.State, start string) string {
	if at := After(s.LastTS, 1); at != "" {
		return at
	}
	return After(start, s.Turns)
}

// After is a number of milliseconds behind a time, for turns whose agent only says when the
// session began; "" where that is no time.
func After(start string, milliseconds int64) string {
	t, err := time.Parse(time.RFC3339Nano, start)
	if err != nil {
		return ""
	}
	const most = int64(366 * 24 * time.Hour / time.Millisecond) // no session has as many turns
	t = t.UTC().Add(time.Duration(min(milliseconds, most)) * time.Millisecond)
	return transcript.TextTime(t.Format("2006-01-02T15:04:05.000Z"))
}

// Texts are the texts of a message's content: a text, or blocks, of which those of the type `text`
// count, as far as there is room in a projection.
func Texts(content transcript.Value) (out [][]byte) {
	if content.Kind() == '"' {
		return [][]byte{content.Text()}
	}
	room := transcript.TextRoom
	for block := range content.Elements() {
		if room <= 0 {
			break
		}
		if block.Get("type").String() == "text" {
			t := block.Get("text").Text()
			out, room = append(out, t), room-len(t)
		}
	}
	return out
}
