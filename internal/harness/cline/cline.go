// Package cline reads both generations of Cline's store: a document of messages beside a
// manifest for each session of its program for the terminal, and the tasks of its extensions.
package cline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/tasks"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is Cline. It holds no state and may be used by several goroutines.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Modifier = Harness{}
)

const (
	// store names the extension's directory.
	store = "saoudrizwan.claude-dev"
	// messages ends the names of the documents of messages.
	messages = ".messages.json"
)

// ID is "cline".
func (Harness) ID() string { return "cline" }

// Name is "Cline".
func (Harness) Name() string { return "Cline" }

// Seen is the version of the program for the terminal. The extension's store is read as
// documents describe it.
func (Harness) Seen() string { return "3.0.65" }

// Roots are the directory of the sessions, that of the data, in which older versions keep tasks,
// and the extension's in every editor.
func (Harness) Roots(m harness.Machine) []string {
	data := m.Variable("CLINE_DATA_DIR", m.Variable("CLINE_DIR", m.Below(".cline"), "data"))
	sessions := ""
	if data != "" {
		sessions = filepath.Join(data, "sessions")
	}
	roots := []string{m.Variable("CLINE_SESSION_DATA_DIR", sessions), data}
	for _, user := range tasks.Users(m) {
		roots = append(roots, filepath.Join(user, "globalStorage", store))
	}
	return harness.Places(roots...)
}

// Resume is `cline --id` with the id. It knows the sessions of the terminal.
func (Harness) Resume(sessionID string) []string { return []string{"cline", "--id", sessionID} }

// Modifies is true of the tools that change files.
func (Harness) Modifies(tool string) bool { return tasks.Tools.Modifies(tool) }

// Discover lists the sessions of each root: tasks where it holds such a directory or is one,
// documents of messages elsewhere.
func (h Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		for _, root := range env.Roots {
			look := h.sessions
			if holdsTasks(root) {
				look = h.tasks
			}
			if !look(ctx, root, yield) {
				return
			}
		}
	}
}

func holdsTasks(root string) bool {
	if filepath.Base(root) == "tasks" {
		return true
	}
	info, err := os.Stat(filepath.Join(root, "tasks"))
	return err == nil && info.IsDir()
}

// sessions yields `<id>/<id>.messages.json`. Another such document in the directory is of an
// agent that the session started.
func (h Harness) sessions(ctx context.Context, root string, yield func(harness.Transcript, error) bool) bool {
	w := files.Walk{Depth: 1, Match: func(rel string) bool { return files.Dir(rel) != "" && strings.HasSuffix(rel, messages) }}
	return w.Each(ctx, root, func(f files.File, err error) bool {
		if err != nil {
			return yield(harness.Transcript{}, err)
		}
		dir, id := files.Dir(f.Rel), files.Base(f.Rel, messages)
		t := harness.Transcript{
			Key: "cline:" + id, Source: f.Path + "#" + id, Path: f.Path, Kind: harness.Rows,
			Stamp: rows.Stamp(f.Path, manifest(f.Path)),
		}
		if id != dir {
			t.Parent = "cline:" + dir
		}
		return yield(t, nil)
	})
}

// manifest is the document beside one of messages.
func manifest(path string) string { return strings.TrimSuffix(path, messages) + ".json" }

// tasks yields the tasks of an extension.
func (h Harness) tasks(ctx context.Context, root string, yield func(harness.Transcript, error) bool) bool {
	list, err := history(root)
	if err != nil && !yield(harness.Transcript{}, err) {
		return false
	}
	return tasks.Each(ctx, h.ID(), root, func(t harness.Transcript, err error) bool {
		if entry, ok := list[filepath.Base(filepath.Dir(t.Path))]; err == nil && ok {
			sum := sha256.Sum256(entry)
			t.Stamp += hex.EncodeToString(sum[:8])
			t.Entry = bytes.Clone(entry)
		}
		return yield(t, err)
	})
}

// history is the extension's list of its tasks: the entry of each, by its id.
func history(root string) (map[string]transcript.Value, error) {
	if filepath.Base(root) == "tasks" {
		root = filepath.Dir(root)
	}
	return rows.Index(filepath.Join(root, "state", "taskHistory.json"), "id",
		"it is no list of tasks; their titles and directories are not read")
}

// Tail yields what is told of the session, then its messages.
func (Harness) Tail(_ context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	if strings.HasSuffix(t.Path, messages) {
		return rows.Records(
			rows.Document{Path: manifest(t.Path), Name: "manifest", Optional: true},
			rows.Document{Path: t.Path, List: "messages", ID: "id"},
		)
	}
	return tasks.Records(t.Path, t.Entry)
}

// Turns reads a record of Tail.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	return tasks.Turns(record, s)
}
