// Package tasks owns the store of Cline's family of extensions of VS Code: a directory for each
// task, in which one JSON list holds the conversation as it goes to the model. It also owns how
// the family writes what a person typed, what tools returned and what a model called, which its
// programs for the terminal share.
package tasks

import (
	"context"
	"iter"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/transcript"
)

const (
	// conversation is the file that makes a directory a task.
	conversation = "api_conversation_history.json"
	// item is the file in which an extension says what its list of tasks shows of the task.
	item = "history_item.json"
	// itemName is what the ids of its records begin with.
	itemName = "item"
	// folder is the directory of the tasks.
	folder = "tasks"
)

// An Extension is a harness of one extension of the family. It holds no state and may be used by
// several goroutines.
type Extension struct {
	// HarnessID and Agent are the ID and Name of the harness.
	HarnessID, Agent string
	// Store is the extension's identifier in the marketplace, which names its directory.
	Store string
	// Setting is the setting of VS Code that moves the directory, "" where there is none.
	Setting string
	// Others are directories below the home directory that hold tasks as well.
	Others []string
}

var (
	_ harness.Harness  = Extension{}
	_ harness.Modifier = Extension{}
)

// Roo is Roo Code.
func Roo() Extension {
	return Extension{
		HarnessID: "roo", Agent: "Roo Code", Store: "rooveterinaryinc.roo-cline",
		Setting: "roo-cline.customStoragePath", Others: []string{".vscode-mock/global-storage"},
	}
}

// Kilo is Kilo Code's extension. Its program for the terminal keeps another store, which has the
// same ID.
func Kilo() Extension {
	return Extension{HarnessID: "kilocode", Agent: "Kilo Code", Store: "kilocode.kilo-code"}
}

// ID is that of the harness.
func (x Extension) ID() string { return x.HarnessID }

// Name is that of the agent.
func (x Extension) Name() string { return x.Agent }

// Seen is "": the stores are read as documents describe them.
func (Extension) Seen() string { return "" }

// Roots are the extension's directories in every editor that it can be installed in, and where
// the editor's settings say.
func (x Extension) Roots(m harness.Machine) []string {
	var roots []string
	for _, user := range Users(m) {
		roots = append(roots, filepath.Join(user, "globalStorage", x.Store))
		if x.Setting != "" {
			roots = append(roots, moved(m, user, x.Setting))
		}
	}
	for _, other := range x.Others {
		roots = append(roots, m.Below(filepath.FromSlash(other)))
	}
	return harness.Places(roots...)
}

// Modifies is true of the tools that change files.
func (Extension) Modifies(tool string) bool { return Tools.Modifies(tool) }

// Discover lists the tasks of each root. A root is an extension's directory, or that of its tasks.
func (x Extension) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		for _, root := range env.Roots {
			if !Each(ctx, x.HarnessID, root, yield) {
				return
			}
		}
	}
}

// Holds reports whether a transcript is a task's.
func (Extension) Holds(t harness.Transcript) bool { return filepath.Base(t.Path) == conversation }

// Made reports whether a record has an id that Records gives. The ids of an agent's own are not
// formed so.
func (Extension) Made(record []byte) bool {
	id, _ := transcript.WrappedID(record)
	return id == About || id == rows.Head || strings.HasPrefix(id, itemName+"/") || rows.Printed(id)
}

// Tail yields what the list of tasks says of the task, then its messages.
func (Extension) Tail(_ context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return Records(t.Path, nil)
}

// Turns reads a record of Tail.
func (Extension) Turns(record []byte, s *transcript.State) []transcript.Turn { return Turns(record, s) }

// Each yields the tasks below a root as transcripts of a harness, and reports whether it came to
// the end.
func Each(ctx context.Context, id, root string, yield func(harness.Transcript, error) bool) bool {
	w := files.Walk{
		Depth: 2,
		Enter: func(rel string) bool { return !strings.Contains(rel, "/") || files.Dir(rel) == folder },
		Match: func(rel string) bool {
			dir := files.Dir(rel)
			return files.Base(rel, "") == conversation && (files.Dir(dir) == folder || dir != "" && !strings.Contains(dir, "/"))
		},
	}
	return w.Each(ctx, root, func(f files.File, err error) bool {
		if err != nil {
			return yield(harness.Transcript{}, err)
		}
		task := files.Base(files.Dir(f.Rel), "")
		t := harness.Transcript{
			Key: id + ":" + task, Source: f.Path + "#" + task, Path: f.Path, Kind: harness.Rows,
			Stamp: rows.Stamp(f.Path, filepath.Join(filepath.Dir(f.Path), item)),
		}
		return yield(t, nil)
	})
}

// About is the id of the record that holds what is told of a task elsewhere.
const About = "about"

// Records gives the records of the task whose conversation is at a path: first about, if there
// is any.
func Records(path string, about []byte) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if len(about) > 0 && !yield(rows.Record(About, about), nil) {
			return
		}
		rows.Records(
			rows.Document{Path: filepath.Join(filepath.Dir(path), item), Name: itemName, Optional: true},
			rows.Document{Path: path, IDOf: identity},
		)(yield)
	}
}

// identity is the id of a message: what it keeps while the list is cut above it, and, of the
// model's, while its text grows.
func identity(m transcript.Value) string {
	role := m.Get("role")
	parts := [][]byte{role.Text(), m.Get("ts")}
	content := m.Get("content")
	print, beginning := rows.PrintWhole, role.String() == transcript.Assistant
	if beginning {
		print = rows.Print
	}
	if content.Kind() == '"' {
		return print(append(parts, content.Text())...)
	}
	for block := range content.Elements() {
		parts = append(parts, block.Get("id").Text(), block.Get("tool_use_id").Text())
		text := block.Get("text").Text()
		if text != nil {
			parts = append(parts, text)
		}
		if beginning && text != nil {
			break
		}
		each(block.Get("content"), func(text []byte) { parts = append(parts, text) }, nil)
	}
	return print(parts...)
}
