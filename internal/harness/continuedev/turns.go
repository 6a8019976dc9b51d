package continuedev

import (
	"bytes"
	"net/url"

	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// tools are those of the program for the terminal, then those of the extensions.
var tools = turn.Tools{
	"Bash":      {Commands: []string{"command"}},
	"Read":      {Paths: []string{"filepath"}},
	"List":      {Paths: []string{"dirpath"}},
	"Search":    {Paths: []string{"path"}, Code: []string{"pattern"}},
	"Write":     {Paths: []string{"filepath"}, Code: []string{"content"}, Changes: true},
	"Edit":      {Paths: []string{"file_path"}, Code: []string{"old_string", "new_string"}, Changes: true},
	"MultiEdit": {Paths: []string{"file_path"}, Code: []string{"edits.old_string", "edits.new_string"}, Changes: true},

	"run_terminal_command":    {Commands: []string{"command"}},
	"read_file":               {Paths: []string{"filepath"}},
	"read_file_range":         {Paths: []string{"filepath"}},
	"ls":                      {Paths: []string{"dirPath"}},
	"grep_search":             {Code: []string{"query"}},
	"file_glob_search":        {Code: []string{"pattern"}},
	"create_new_file":         {Paths: []string{"filepath"}, Code: []string{"contents"}, Changes: true},
	"edit_existing_file":      {Paths: []string{"filepath"}, Code: []string{"changes"}, Changes: true},
	"single_find_and_replace": {Paths: []string{"filepath"}, Code: []string{"old_string", "new_string"}, Changes: true},
	"multi_edit":              {Paths: []string{"filepath"}, Code: []string{"edits.old_string", "edits.new_string"}, Changes: true},
}

// Turns reads what is told of a session, or one of its messages, of which one that calls tools
// holds what they returned as well.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	id, row := rows.Read(record)
	switch {
	case row.Kind() != '{':
		s.Damaged++
		return nil
	case row.Get("message") == nil:
		told(row, s)
		return nil
	}
	var turns []transcript.Turn
	m := row.Get("message")
	kind := m.Get("role").String()
	switch kind {
	case transcript.User, transcript.Assistant, transcript.System:
		turns = said(turns, record, id, kind, row, s)
	case "tool": // a copy of what the call's own state holds
		b := turn.New(transcript.User, record).IDs(id, "", "").Machine().Hidden()
		each(m.Get("content"), func(text []byte) { b.Output(false, text) })
		if !b.Empty() {
			turns = append(turns, b.Done(turn.Next(s, s.Own), s))
		}
	case "thinking":
	default:
		s.SeeStrange([]byte(kind))
	}
	return returned(turns, record, id, row, s)
}

// said reads what the message itself says.
func said(turns []transcript.Turn, record []byte, id, kind string, row transcript.Value, s *transcript.State) []transcript.Turn {
	m := row.Get("message")
	b := turn.New(kind, record).IDs(id, m.Get("id").String(), "")
	if kind == transcript.System {
		b.Hidden()
	}
	var first []byte
	each(m.Get("content"), func(text []byte) {
		if first == nil {
			first = text
		}
		b.Say(text)
	})
	if kind == transcript.User {
		attached(b, row.Get("contextItems"))
	}
	calls(b, row)
	if summary := row.Get("conversationSummary").Text(); len(summary) > 0 {
		b.Boundary(nil)
		if !bytes.Equal(summary, first) {
			b.Note(summary)
		}
	}
	if b.Empty() {
		return turns
	}
	t := b.Done(turn.Next(s, s.Own), s)
	if t.Nature == transcript.Typed && s.Title == "" {
		s.SeeTitle(first, transcript.TitleTaken)
	}
	return append(turns, t)
}

// calls takes the calls of a message, which stand in its calls' states too.
func calls(b *turn.Builder, row transcript.Value) {
	found := false
	for call := range row.Get("message", "toolCalls").Elements() {
		found = true
		b.Call(call.Get("function", "name").Text(), call.Get("function", "arguments").Nested(), tools)
	}
	if found {
		return
	}
	for state := range row.Get("toolCallStates").Elements() {
		f := state.Get("toolCall", "function")
		b.Call(f.Get("name").Text(), f.Get("arguments").Nested(), tools)
	}
}

// attached takes what a person put beside the words: files, for the most part.
func attached(b *turn.Builder, items transcript.Value) {
	for item := range items.Elements() {
		b.Note(item.Get("name").Text())
		b.Note(item.Get("content").Text())
		if u, err := url.Parse(item.Get("uri", "value").String()); err == nil && u.Scheme == "file" {
			b.Names([]byte(u.Path))
		}
	}
}

// returned reads what the tools returned that the message called.
func returned(turns []transcript.Turn, record []byte, id string, row transcript.Value, s *transcript.State) []transcript.Turn {
	b := turn.New(transcript.User, record).IDs(id+"/returned", "", "")
	for state := range row.Get("toolCallStates").Elements() {
		status := state.Get("status").String()
		for output := range state.Get("output").Elements() {
			b.Output(status == "errored" || status == "canceled", texts(output.Get("content"))...)
		}
	}
	if b.Empty() {
		return turns
	}
	return append(turns, b.Done(turn.Next(s, s.Own), s))
}

// texts are those of an output: one, or, of the tools of servers, a list that stands in it.
func texts(content transcript.Value) [][]byte {
	var all [][]byte
	for part := range content.Nested().Elements() {
		text := part.Get("text").Text()
		if part.Get("type").String() != "text" || text == nil {
			return [][]byte{content.Text()}
		}
		all = append(all, text)
	}
	if all == nil {
		all = append(all, content.Text())
	}
	return all
}

// each calls visit for every text of a content, which may be one text.
func each(content transcript.Value, visit func([]byte)) {
	if content.Kind() == '"' {
		visit(content.Text())
		return
	}
	for part := range content.Elements() {
		if text := part.Get("text").Text(); text != nil {
			visit(text)
		}
	}
}

// untitled are the titles of sessions that have none.
var untitled = map[string]bool{"": true, "Untitled Session": true, "New Session": true}

// told takes what the list or the document says of the session.
func told(row transcript.Value, s *transcript.State) {
	s.SeeSession(row.Get("sessionId").Text())
	s.SeeDirectory(directory(row.Get("workspaceDirectory").Text()))
	if title := row.Get("title").Text(); !untitled[string(title)] {
		s.SeeTitle(title, transcript.TitleMade)
	}
	if s.Own == "" {
		s.Own = transcript.Time(row.Get("dateCreated"))
	}
}

// directory is a path, which may stand as a file URI.
func directory(text []byte) []byte {
	if u, err := url.Parse(string(text)); err == nil && u.Scheme == "file" {
		return []byte(u.Path)
	}
	return text
}
