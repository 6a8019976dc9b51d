// Package continuedev reads the sessions of Continue, of its extensions and of its program for
// the terminal: a JSON document each, written anew as a whole, and one list of all.
package continuedev

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"path/filepath"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is Continue. It holds no state and may be used by several goroutines.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Modifier = Harness{}
)

// list is the name of the file that lists the sessions.
const list = "sessions.json"

// ID is "continue".
func (Harness) ID() string { return "continue" }

// Name is "Continue".
func (Harness) Name() string { return "Continue" }

// Seen is the version of the program for the terminal.
func (Harness) Seen() string { return "1.5.47" }

// Roots is the directory of the sessions below CONTINUE_GLOBAL_DIR, else below ~/.continue.
func (Harness) Roots(m harness.Machine) []string {
	return harness.Places(m.Variable("CONTINUE_GLOBAL_DIR", m.Below(".continue"), "sessions"))
}

// Modifies is true of the tools that change files.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }

// Discover lists the documents of each root by their names.
func (Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		w := files.Walk{Match: func(rel string) bool { return rel != list && files.Suffix(".json")(rel) }}
		for _, root := range env.Roots {
			entries, err := listed(root)
			if err != nil && !yield(harness.Transcript{}, err) {
				return
			}
			more := w.Each(ctx, root, func(f files.File, err error) bool {
				if err != nil {
					return yield(harness.Transcript{}, err)
				}
				id := files.Base(f.Rel, ".json")
				entry := entries[id]
				if dir := entry.Get("workspaceDirectory").String(); dir != "" && env.PathExcluded != nil && env.PathExcluded(dir) {
					return true
				}
				sum := sha256.Sum256(entry)
				return yield(harness.Transcript{
					Key: "continue:" + id, Source: f.Path + "#" + id, Path: f.Path, Kind: harness.Rows,
					Stamp: rows.Stamp(f.Path) + hex.EncodeToString(sum[:8]), Entry: bytes.Clone(entry),
				}, nil)
			})
			if !more {
				return
			}
		}
	}
}

// listed gives what the list says of each session, by its id.
func listed(root string) (map[string]transcript.Value, error) {
	return rows.Index(filepath.Join(root, list), "sessionId", "it is no list of sessions; when they began is not read")
}

// about is the id of the record that holds what the list says of a session.
const about = "about"

// Tail yields what the list says of the session, the document without its messages, and these.
func (Harness) Tail(_ context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if len(t.Entry) > 0 && !yield(rows.Record(about, t.Entry), nil) {
			return
		}
		rows.Records(rows.Document{Path: t.Path, List: "history", IDOf: identity})(yield)
	}
}

// identity is the id of a message: what it keeps while the model writes and tools run. What the
// model says has it by how it begins, and by its calls only where it says nothing, for they come
// behind the words.
func identity(item transcript.Value) string {
	m := item.Get("message")
	parts := [][]byte{m.Get("role").Text()}
	beginning := m.Get("role").String() == transcript.Assistant
	said := false
	each(m.Get("content"), func(text []byte) {
		if len(text) > 0 && !(beginning && said) {
			parts, said = append(parts, text), true
		}
	})
	switch {
	case !beginning:
		return rows.PrintWhole(append(parts, m.Get("toolCallId").Text())...)
	case said:
		return rows.Print(parts...)
	}
	for call := range m.Get("toolCalls").Elements() {
		parts = append(parts, call.Get("id").Text())
	}
	return rows.Print(parts...)
}
