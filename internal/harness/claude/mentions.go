package claude

import (
	"bytes"
	"strings"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// A call holds the fields of one tool call's input that name things, nil where
// they are no text.
type call struct {
	file, path, notebook []byte
	command              []byte
	pattern              []byte
	oldText, newText     []byte
	query                []byte
	raw                  []byte // the whole input, for lists
}

// see takes in one member of an input. Of equal keys the last one counts.
func (c *call) see(parent, key, text []byte) {
	if parent != nil {
		return
	}
	switch string(key) {
	case "file_path":
		c.file = text
	case "path":
		c.path = text
	case "notebook_path":
		c.notebook = text
	case "command":
		c.command = text
	case "pattern":
		c.pattern = text
	case "old_string":
		c.oldText = text
	case "new_string":
		c.newText = text
	case "query":
		c.query = text
	}
}

// appendMentions appends what a call of the tool of that name mentions: its
// name, the path fields of any tool, and then what only this tool has.
func (c *call) appendMentions(dst []transcript.Mention, name []byte) []transcript.Mention {
	if name == nil {
		return dst // not a call that anybody could name
	}
	mention := func(origin transcript.Origin, text []byte) {
		if len(text) > 0 {
			dst = append(dst, transcript.Mention{Origin: origin, Text: text})
		}
	}
	mention(transcript.ToolName, name)
	mention(transcript.FilePath, c.file)
	mention(transcript.FilePath, c.path)
	mention(transcript.FilePath, c.notebook)
	switch tool := string(name); {
	case tool == "Bash":
		mention(transcript.ShellLine, c.command)
	case tool == "Grep":
		mention(transcript.Identifiers, c.pattern)
	case tool == "Edit":
		mention(transcript.Identifiers, c.oldText)
		mention(transcript.Identifiers, c.newText)
	case isRecallSearch(tool):
		mention(transcript.RecallQuery, c.query)
		dst = appendPaths(dst, c.raw)
	}
	return dst
}

// isRecallSearch reports whether a tool is Terminus' own search. Clients put
// the server's name in front of it.
func isRecallSearch(tool string) bool {
	return tool == "recall_search" || strings.HasSuffix(tool, "_recall_search")
}

// appendPaths appends the texts of the list `paths` of an input.
func appendPaths(dst []transcript.Mention, input []byte) []transcript.Mention {
	var s transcript.Scanner
	s.Reset(input)
	if !s.EnterObject() {
		return dst
	}
	first := len(dst)
	for {
		key, ok := s.NextMember()
		if !ok {
			return dst
		}
		if string(key) != "paths" {
			s.Skip()
			continue
		}
		dst = dst[:first] // the last of equal keys counts
		if !s.EnterArray() {
			s.Skip()
			continue
		}
		for s.NextElement() {
			if text, _ := s.TryText(); len(text) > 0 {
				dst = append(dst, transcript.Mention{Origin: transcript.FilePath, Text: text})
			}
		}
	}
}

// failure is the text of a failed call's result: its parts, joined.
func failure(parts []transcript.Piece) []byte {
	if len(parts) == 1 {
		return parts[0].Text
	}
	texts := make([][]byte, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return bytes.Join(texts, []byte("\n"))
}

// An outcome holds the fields of a structured result that name things.
type outcome struct {
	filePath, file, stderr []byte
}

func (o *outcome) see(parent, key, text []byte) {
	switch {
	case parent != nil:
		if string(parent) == "file" && string(key) == "filePath" {
			o.file = text
		}
	case string(key) == "filePath":
		o.filePath = text
	case string(key) == "file":
		o.file = nil // what follows belongs to this one
	case string(key) == "stderr":
		o.stderr = text
	}
}

func (o *outcome) appendMentions(dst []transcript.Mention) []transcript.Mention {
	for _, m := range []transcript.Mention{
		{Origin: transcript.FilePath, Text: o.filePath},
		{Origin: transcript.FilePath, Text: o.file},
		{Origin: transcript.Failure, Text: o.stderr},
	} {
		if len(m.Text) > 0 {
			dst = append(dst, m)
		}
	}
	return dst
}

// dropAnswers takes the answers of Terminus' own tools out of pieces and
// reports whether any was among them.
func dropAnswers(pieces []transcript.Piece) (_ []transcript.Piece, own bool) {
	kept := pieces[:0]
	for _, p := range pieces {
		if transcript.RecallAnswer(p.Text) {
			own = true
			continue
		}
		kept = append(kept, p)
	}
	return kept, own
}

// hookPrefix begins the type of every attachment that tells what a hook said.
const hookPrefix = "hook_"

// injected reports whether an attachment is what a hook of Terminus said.
func (r *reader) injected() bool {
	if !bytes.HasPrefix(r.attached, []byte(hookPrefix)) {
		return false
	}
	for _, p := range r.attachment {
		if transcript.Injected(p.Text) {
			return true
		}
	}
	return false
}
