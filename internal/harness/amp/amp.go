// Package amp reads the threads that Amp keeps on the machine: a JSON document each, written
// anew as a whole. Threads that are only on Amp's server are nowhere to be read.
package amp

import (
	"context"
	"iter"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is Amp. It holds no state and may be used by several goroutines.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Modifier = Harness{}
)

// tools are those of Amp that name something.
var tools = turn.Tools{
	"Bash":           {Commands: []string{"cmd", "command"}},
	"Read":           {Paths: []string{"path"}},
	"list_directory": {Paths: []string{"path"}},
	"Grep":           {Paths: []string{"path"}, Code: []string{"pattern"}},
	"glob":           {Code: []string{"filePattern"}},
	"edit_file":      {Paths: []string{"path"}, Code: []string{"old_str", "new_str"}, Changes: true},
	"create_file":    {Paths: []string{"path"}, Code: []string{"content"}, Changes: true},
	"undo_edit":      {Paths: []string{"path"}, Changes: true},
}

// ID is "amp".
func (Harness) ID() string { return "amp" }

// Name is "Amp".
func (Harness) Name() string { return "Amp" }

// Seen is "": it is read as documents describe it.
func (Harness) Seen() string { return "" }

// Roots is the directory of the threads below AMP_DATA_HOME, else below the data directory,
// which only Linux can move.
func (Harness) Roots(m harness.Machine) []string {
	data := m.Below(".local", "share", "amp")
	if m.GOOS == "linux" {
		data = m.XDGData("amp")
	}
	return harness.Places(m.Variable("AMP_DATA_HOME", data, "threads"))
}

// Resume is `amp threads continue` with the id.
func (Harness) Resume(sessionID string) []string {
	return []string{"amp", "threads", "continue", sessionID}
}

// Modifies is true of the tools that change files.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }

// Discover lists the threads of each root by the names of their files.
func (Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		w := files.Walk{Match: files.Suffix(".json")}
		for _, root := range env.Roots {
			more := w.Each(ctx, root, func(f files.File, err error) bool {
				if err != nil {
					return yield(harness.Transcript{}, err)
				}
				id := files.Base(f.Rel, ".json")
				return yield(harness.Transcript{
					Key: "amp:" + id, Source: f.Path + "#" + id, Path: f.Path, Kind: harness.Rows, Stamp: rows.Stamp(f.Path),
				}, nil)
			})
			if !more {
				return
			}
		}
	}
}

// Tail yields the thread without its messages, then these.
func (Harness) Tail(_ context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return rows.Records(rows.Document{Path: t.Path, List: "messages", IDOf: identity})
}

// identity is the id of a message: a thread that is cut and goes on counts its messages anew.
func identity(m transcript.Value) string {
	role := m.Get("role")
	parts := [][]byte{role.Text(), m.Get("meta", "sentAt")}
	beginning := role.String() == transcript.Assistant // it is written as it comes
	for block := range m.Get("content").Elements() {
		parts = append(parts, block.Get("id").Text(), block.Get("toolUseID").Text())
		text := block.Get("text").Text()
		if text != nil {
			parts = append(parts, text)
		}
		if beginning && text != nil {
			break
		}
	}
	if beginning {
		return rows.Print(parts...)
	}
	return rows.PrintWhole(parts...)
}

// Turns reads the thread or one of its messages.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	id, row := rows.Read(record)
	switch {
	case row.Kind() != '{':
		s.Damaged++
		return nil
	case id == rows.Head:
		thread(row, s)
		return nil
	}
	kind := row.Get("role").String()
	if kind != transcript.User && kind != transcript.Assistant {
		s.SeeStrange([]byte(kind))
		return nil
	}
	b := turn.New(kind, record).IDs(id, "", "")
	content := row.Get("content")
	if content.Kind() == '"' {
		b.Say(content.Text())
	}
	for block := range content.Elements() {
		read(b, block)
	}
	if b.Empty() {
		return nil
	}
	return []transcript.Turn{b.Done(when(row, s), s)}
}

// thread takes what the document says of the session.
func thread(row transcript.Value, s *transcript.State) {
	s.SeeSession(row.Get("id").Text())
	s.SeeTitle(row.Get("title").Text(), transcript.TitleMade)
	for tree := range row.Get("env", "initial", "trees").Elements() {
		s.SeeDirectory([]byte(path(tree.Get("uri").String())))
		s.SeeBranch(branch(tree.Get("repository", "ref").Text()))
		break
	}
	if s.Own == "" {
		s.Own = transcript.Time(row.Get("created"))
	}
}

// path is that of a file URI, "" for any other.
func path(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	p := u.Path
	if len(p) > 3 && p[0] == '/' && p[2] == ':' {
		p = p[1:] // /c:/work, of Windows
	}
	return filepath.FromSlash(p)
}

func branch(ref []byte) []byte {
	name, ok := strings.CutPrefix(string(ref), "refs/heads/")
	if !ok {
		return nil
	}
	return []byte(name)
}

// read takes one block of a message.
func read(b *turn.Builder, block transcript.Value) {
	switch block.Get("type").String() {
	case "text":
		b.Say(block.Get("text").Text())
	case "tool_use":
		b.Call(block.Get("name").Text(), block.Get("input").Nested(), tools)
	case "tool_result":
		run := block.Get("run")
		status := run.Get("status").String()
		var texts [][]byte
		if reason := run.Get("error", "message").Text(); reason != nil {
			texts = append(texts, reason)
		}
		result := run.Get("result")
		exit, coded := result.Get("exitCode").Number()
		for _, leaf := range result.Leaves() {
			texts = append(texts, leaf.Text)
		}
		b.Output(status == "error" || status == "cancelled" || coded && exit != 0, texts...)
	}
}

// when is the time of a message: when it was sent, or the model was asked; else one
// behind that of the message before it.
func when(row transcript.Value, s *transcript.State) string {
	for _, v := range []transcript.Value{row.Get("meta", "sentAt"), row.Get("usage", "timestamp")} {
		if at := transcript.Time(v); at != "" {
			return at
		}
	}
	return turn.Next(s, s.Own)
}
