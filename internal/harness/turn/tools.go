package turn

import (
	"bytes"
	"strings"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// Tools is the vocabulary of an agent's tools: what the arguments of each mean, by the
// name of the tool. What it does not know is indexed as text all the same, and names
// nothing but the tool.
type Tools map[string]Tool

// A Tool says what the arguments of one tool mean. Each list names arguments; a text,
// and each text of a list or, one level deep, of a list of objects with the same
// argument, counts.
type Tool struct {
	// Paths name files; Commands are shell commands, of which a list is one command, its
	// words or, behind `-c` and the like, its last element; Code is code that is looked
	// for or changed, or a pattern.
	Paths, Commands, Code []string
	// Lines are lists of which each text is a shell command of its own.
	Lines []string
	// Patch is the argument that may hold a patch, from `*** Begin Patch` on: it may also be
	// a command that hands one over. "*" says that the whole input is it.
	Patch string
	// Changes says that a call changes the files that it names.
	Changes bool
}

// Modifies reports whether a call of the tool of that name changes the files that it names.
func (t Tools) Modifies(name string) bool { return t[name].Changes }

// maxMentions bounds what is noted of one record's calls, many times what is kept of it: a
// record may hold a million calls.
const maxMentions = 4 << 10

// mention notes that the turn names something.
func (b *Builder) mention(origin transcript.Origin, text []byte) {
	if len(text) > 0 && len(b.mentions) < maxMentions {
		b.mentions = append(b.mentions, transcript.Mention{Origin: origin, Text: text})
	}
}

// mentionCall notes what a call names.
func (b *Builder) mentionCall(name []byte, input transcript.Value, tools Tools) {
	b.mention(transcript.ToolName, name)
	if isRecallSearch(string(name)) {
		b.mention(transcript.RecallQuery, input.Get("query").Text())
		b.mentionEach(transcript.FilePath, input.Get("paths"))
		return
	}
	tool := tools[string(name)]
	for _, arg := range tool.Paths {
		b.mentionArgument(transcript.FilePath, input, arg)
	}
	for _, arg := range tool.Commands {
		b.mention(transcript.ShellLine, shellLine(input.Get(arg)))
	}
	for _, arg := range tool.Lines {
		b.mentionArgument(transcript.ShellLine, input, arg)
	}
	for _, arg := range tool.Code {
		b.mentionArgument(transcript.Identifiers, input, arg)
	}
	switch tool.Patch {
	case "":
	case "*":
		b.mentionPatch(input.Text())
	default:
		b.mentionPatch(shellLine(input.Get(tool.Patch)))
	}
}

// isRecallSearch reports whether a tool is Terminus' own search. Clients put the server's
// name in front of it.
func isRecallSearch(tool string) bool { return strings.HasSuffix(tool, "recall_search") }

// mentionArgument notes an argument: `files` or, of each object of a list, `files.path`.
func (b *Builder) mentionArgument(origin transcript.Origin, input transcript.Value, arg string) {
	list, member, nested := strings.Cut(arg, ".")
	if !nested {
		b.mentionEach(origin, input.Get(arg))
		return
	}
	for e := range input.Get(list).Elements() {
		b.mentionEach(origin, e.Get(member))
	}
}

// mentionEach notes a text, or each text of a list.
func (b *Builder) mentionEach(origin transcript.Origin, v transcript.Value) {
	if v.Kind() != '[' {
		b.mention(origin, v.Text())
		return
	}
	for e := range v.Elements() {
		b.mention(origin, e.Text())
	}
}

// shellLine is a command as a person would have typed it.
func shellLine(v transcript.Value) []byte {
	if v.Kind() != '[' {
		return v.Text()
	}
	var words [][]byte
	for e := range v.Elements() {
		words = append(words, e.Text())
	}
	if n := len(words); n >= 3 && bytes.HasPrefix(words[n-2], []byte("-")) && bytes.HasSuffix(words[n-2], []byte("c")) {
		return words[n-1] // bash -lc LINE
	}
	return bytes.Join(words, []byte(" "))
}

// patchHeads begin the lines of a patch that name a file.
var patchHeads = [][]byte{
	[]byte("*** Update File: "), []byte("*** Add File: "), []byte("*** Delete File: "), []byte("*** Move to: "),
}

// mentionPatch notes the files of a patch, and the lines that it takes out or puts in.
func (b *Builder) mentionPatch(text []byte) {
	_, patch, found := bytes.Cut(text, []byte("*** Begin Patch"))
	if !found {
		return
	}
	var changed [][]byte
	for line := range bytes.Lines(patch) {
		line = bytes.TrimRight(line, "\r\n")
		for _, head := range patchHeads {
			if path, ok := bytes.CutPrefix(line, head); ok {
				b.mention(transcript.FilePath, path)
			}
		}
		if len(line) > 1 && (line[0] == '-' || line[0] == '+') {
			changed = append(changed, line[1:])
		}
	}
	b.mention(transcript.Identifiers, bytes.Join(changed, []byte("\n")))
}
