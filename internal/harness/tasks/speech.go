package tasks

import (
	"bytes"
	"slices"

	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// spoken are the tags in which the extensions put what a person typed.
var spoken = []string{"task", "feedback", "user_message", "answer", "user_input"}

const (
	surroundings    = "<environment_details>"
	surroundingsEnd = "</environment_details>"
)

// notices begin texts that the extensions write to the model in the person's place.
var notices = [][]byte{[]byte("[ERROR]"), []byte("[TASK RESUMPTION]"), []byte("<system-reminder>"), []byte("<system_reminder>"), []byte("<mode_notice>")}

func isNotice(text []byte) bool {
	return slices.ContainsFunc(notices, func(start []byte) bool { return bytes.HasPrefix(text, start) })
}

// A reply is one message to the model, text by text.
type reply struct {
	b *turn.Builder
	s *transcript.State
	// returned says that a text named the tool whose output follows.
	returned bool
	notices  [][]byte
}

// text takes a text that stands beside the tools' results.
func (r *reply) text(text []byte) {
	text = r.outside(text)
	before, typed, after, ok := person(text)
	if !ok || r.returned || bytes.Contains(before, []byte("] Result:")) {
		r.plain(text)
		return
	}
	r.plain(before)
	r.b.Say(typed)
	r.attached(after)
}

// outside takes away what the extensions tell of the surroundings, in which the working
// directory stands.
func (r *reply) outside(text []byte) []byte {
	at := bytes.Index(text, []byte(surroundings))
	if at < 0 {
		return text
	}
	inside, rest, _ := bytes.Cut(text[at:], []byte(surroundingsEnd))
	r.s.SeeDirectory(directory(inside))
	text = text[:at:at] // what is appended goes into a copy
	if len(bytes.TrimSpace(rest)) > 0 {
		text = append(append(text, '\n'), rest...)
	}
	return bytes.TrimRight(text, " \r\n")
}

// directory is the path in the heading of the list of files.
func directory(inside []byte) []byte {
	for _, heading := range []string{"# Current Working Directory (", "# Current Workspace Directory ("} {
		if _, rest, ok := bytes.Cut(inside, []byte(heading)); ok {
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			if i := bytes.LastIndex(line, []byte(")")); i >= 0 {
				return line[:i]
			}
		}
	}
	return nil
}

// farthest is how far into a text the tag stands that holds what a person typed. Before it stand
// a few words of the extension; the tag in a file that a tool read is no person's.
const farthest = 512

// person finds what a person typed: the content of one of the tags, at the beginning of a line.
func person(text []byte) (before, typed, after []byte, ok bool) {
	head := text[:min(len(text), farthest)]
	at, name := len(head), ""
	for _, tag := range spoken {
		if i := opening(head, tag); i >= 0 && i < at {
			at, name = i, tag
		}
	}
	if name == "" {
		return nil, nil, nil, false
	}
	_, inner, closed := bytes.Cut(text[at:], []byte(">"))
	if !closed {
		return nil, nil, nil, false
	}
	end := []byte("</" + name + ">")
	if i := bytes.LastIndex(inner, end); i >= 0 {
		inner, after = inner[:i], inner[i+len(end):]
	}
	return text[:at], bytes.TrimSpace(inner), after, true
}

// opening is the place of a tag that begins a line, -1 where there is none.
func opening(text []byte, tag string) int {
	start := []byte("<" + tag)
	for from := 0; ; {
		i := bytes.Index(text[from:], start)
		if i < 0 {
			return -1
		}
		at := from + i
		end := at + len(start)
		if (at == 0 || text[at-1] == '\n') && end < len(text) && (text[end] == '>' || text[end] == ' ') {
			return at
		}
		from = end
	}
}

// plain takes a text that no tag marks as a person's.
func (r *reply) plain(text []byte) {
	trimmed := bytes.TrimSpace(text)
	if isNotice(trimmed) {
		r.notices = append(r.notices, trimmed)
		return
	}
	output, named := result(trimmed)
	r.returned = r.returned || named
	switch {
	case len(trimmed) == 0:
	case r.returned:
		r.output(false, output)
	default:
		r.b.Say(trimmed)
	}
}

// result takes the line `[tool for 'argument'] Result:` away.
func result(text []byte) (output []byte, named bool) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	if len(line) == 0 || line[0] != '[' || !bytes.Contains(line, []byte("] Result:")) {
		return text, false
	}
	_, same, _ := bytes.Cut(line, []byte("] Result:"))
	if same = bytes.TrimSpace(same); len(same) > 0 {
		return text, true
	}
	return bytes.TrimSpace(rest), true
}

// output takes what a tool returned. What the person said to it stands in it as well.
func (r *reply) output(failed bool, text []byte) {
	text = r.outside(text)
	before, typed, after, ok := person(text)
	before = bytes.TrimSpace(before)
	if !ok || len(before) > 0 && before[len(before)-1] != ':' { // what a file holds is no person's
		r.b.Output(failed || fails(text), text)
		return
	}
	if len(before) > 0 {
		r.b.Output(failed || fails(before), before)
	}
	r.b.Say(typed)
	if after = bytes.TrimSpace(after); len(after) > 0 {
		r.b.Output(failed, after)
	}
}

// outcome takes the content of a tool's result: texts, or what a tool tells of each thing that it
// was asked for, as an object or as its text.
func (r *reply) outcome(failed bool, content transcript.Value) {
	if content.Kind() == '"' {
		r.told(failed, content.Text(), content.Nested())
		return
	}
	for part := range content.Elements() {
		r.told(failed, part.Get("text").Text(), part)
	}
}

// told takes one answer: the form of Cline's own tools, that of tools of servers, or a text.
func (r *reply) told(failed bool, text []byte, answer transcript.Value) {
	switch {
	case answer.Get("success") != nil && answer.Get("query") != nil:
		failed = failed || answer.Get("success").Kind() == 'f'
		texts := [][]byte{answer.Get("result").Text()}
		if answer.Get("result").Kind() != '"' {
			texts = texts[:0]
			for _, leaf := range answer.Get("result").Leaves() {
				texts = append(texts, leaf.Text)
			}
		}
		r.b.Output(failed, append(texts, answer.Get("error").Text())...)
	case answer.Get("content").Kind() == '[' && answer.Get("type") == nil:
		var texts [][]byte
		for part := range answer.Get("content").Elements() {
			texts = append(texts, part.Get("text").Text())
		}
		if len(texts) == 0 {
			texts = append(texts, answer.Get("structuredContent"))
		}
		r.b.Output(failed || answer.Get("isError").Bool(), texts...)
	default:
		r.output(failed, text)
	}
}

// failures begin lines of a failed tool's output.
var failures = [][]byte{
	[]byte("The tool execution failed"), []byte("Error executing"), []byte("Command failed"), []byte("<error>"),
}

// fails reports whether an output is that of a failure: only its words tell.
func fails(output []byte) bool {
	const looked = 4 << 10
	for line := range bytes.Lines(output[:min(len(output), looked)]) {
		line = bytes.TrimSpace(line)
		for _, start := range failures {
			if bytes.HasPrefix(line, start) {
				return true
			}
		}
		if code, ok := bytes.CutPrefix(line, []byte("Exit code: ")); ok && string(code) != "0" {
			return true
		}
	}
	return false
}

// attached takes what an extension puts behind a person's words: the files that they name.
func (r *reply) attached(text []byte) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || isNotice(text) {
		return
	}
	r.b.Note(text)
	const most = 64 // files of one message
	for range most {
		_, rest, ok := bytes.Cut(text, []byte(`<file_content path="`))
		if !ok {
			return
		}
		var path []byte
		path, text, _ = bytes.Cut(rest, []byte(`"`))
		r.b.Names(path)
	}
}

// done ends the message. One that only holds notices is the agent's machinery.
func (r *reply) done() {
	if !r.b.Empty() || len(r.notices) == 0 {
		return
	}
	for _, text := range r.notices {
		r.b.Note(text)
	}
	r.b.Machine().Hidden()
}
