package pi

import (
	"bytes"
	"regexp"

	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// message reads the message of an entry, nil where it is none that is known.
func message(record, m transcript.Value, s *transcript.State) *turn.Builder {
	content := m.Get("content")
	switch role := m.Get("role").String(); role {
	case "user":
		b := turn.New(transcript.User, record)
		for t := range texts(content) {
			prompt(b, t)
		}
		return b
	case "assistant":
		b := turn.New(transcript.Assistant, record)
		answer(b, content)
		b.Note(m.Get("errorMessage").Text())
		return b
	case "toolResult":
		b := turn.New(transcript.User, record)
		b.Output(m.Get("isError").Bool(), all(content)...)
		return b
	case "bashExecution":
		b := turn.New(transcript.User, record)
		command := m.Get("command").Text()
		b.Say(command)
		b.Ran(command)
		code, _ := m.Get("exitCode").Number()
		b.Output(code != 0, m.Get("output").Text())
		return b
	case "custom", "hookMessage":
		return custom(record, content, m.Get("display"))
	case "branchSummary", "compactionSummary":
		b := turn.New(transcript.System, record)
		if role == "compactionSummary" {
			b.Boundary(nil)
		}
		b.Say(m.Get("summary").Text())
		return b
	case "system", "developer":
		b := turn.New(transcript.System, record).Hidden()
		for t := range texts(content) {
			b.Note(t)
		}
		return b
	default:
		if m.Kind() == '{' {
			s.SeeStrange([]byte("message " + role))
		}
		return nil
	}
}

// custom reads what an extension put before the model, which a person saw where it says so.
func custom(record, content, display transcript.Value) *turn.Builder {
	b := turn.New(transcript.Attachment, record)
	for t := range texts(content) {
		b.Note(t)
	}
	if !display.Bool() {
		b.Hidden()
	}
	return b
}

// answer reads what a model said and called. What it thought is left out.
func answer(b *turn.Builder, content transcript.Value) {
	if content.Kind() == '"' {
		b.Say(content.Text())
	}
	for block := range content.Elements() {
		switch block.Get("type").String() {
		case "text":
			b.Say(block.Get("text").Text())
		case "toolCall", "toolUse", "tool_use":
			input := block.Get("arguments")
			if input == nil {
				input = block.Get("input")
			}
			b.Call(block.Get("name").Text(), input.Nested(), tools)
		}
	}
}

// texts are the texts of a content: itself, or those of its blocks.
func texts(content transcript.Value) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		if content.Kind() == '"' {
			yield(content.Text())
			return
		}
		for block := range content.Elements() {
			if block.Get("type").String() == "text" && !yield(block.Get("text").Text()) {
				return
			}
		}
	}
}

func all(content transcript.Value) (out [][]byte) {
	room := transcript.TextRoom
	for t := range texts(content) {
		if room <= 0 {
			break
		}
		out = append(out, t)
		room -= len(t)
	}
	return out
}

var (
	fileOpen  = []byte(`<file name="`)
	fileClose = []byte("</file>\n")
	skillOpen = regexp.MustCompile(`^<skill name="[^"\n]+" location="([^"\n]+)">\n`)
	skillEnd  = []byte("\n</skill>")
)

// prompt reads a text of a person. Before what was typed may stand the files that were named
// on the command line, or the text of the skill that was called.
func prompt(b *turn.Builder, text []byte) {
	for bytes.HasPrefix(text, fileOpen) {
		name, _, ok := bytes.Cut(text[len(fileOpen):], []byte(`">`))
		file, rest, closed := bytes.Cut(text, fileClose)
		if !ok || !closed || len(name) > transcript.StateLimit || bytes.IndexByte(name, '\n') >= 0 {
			break
		}
		b.Names(name)
		b.Note(file)
		text = rest
	}
	if m := skillOpen.FindSubmatchIndex(text); m != nil {
		if skill, rest, closed := bytes.Cut(text, skillEnd); closed {
			b.Names(text[m[2]:m[3]])
			b.Note(skill)
			text = bytes.TrimLeft(rest, "\n")
		}
	}
	b.Say(text)
}
