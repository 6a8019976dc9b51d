// Package zed reads the threads of the agent of Zed.
//
// Zed keeps them in one SQLite database, a row a thread, and in each row the whole thread as
// one document, which is compressed:
//
//	~/.local/share/zed/threads/threads.db     threads(id, summary, updated_at, data_type, data, …)
//
// A record is a message of the document as it stands there; what else the row and the document
// hold is the first one. What an agent says has no id: it is known by the prompt before it and
// its place behind that. The package was written from documents: no store was at hand.
package zed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is Zed. The zero value is ready.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Modifier = Harness{}
)

// ID is "zed".
func (Harness) ID() string { return "zed" }

// Name is "Zed".
func (Harness) Name() string { return "Zed" }

// Seen is "": no store of it was at hand.
func (Harness) Seen() string { return "" }

// Roots is the directory of the threads in Zed's data directory.
func (Harness) Roots(m harness.Machine) []string {
	switch m.GOOS {
	case "darwin":
		return harness.Places(m.AppData("Zed", "threads"))
	case "windows":
		return harness.Places(m.Variable("LOCALAPPDATA", m.Below("AppData", "Local"), "Zed", "threads"))
	}
	if sandboxed := m.Variable("FLATPAK_XDG_DATA_HOME", "", "zed", "threads"); sandboxed != "" {
		return harness.Places(sandboxed)
	}
	return harness.Places(m.XDGData("zed", "threads"))
}

var tools = turn.Tools{
	"terminal":         {Commands: []string{"command"}},
	"edit_file":        {Paths: []string{"path"}, Code: []string{"content", "edits.old_text", "edits.new_text"}, Changes: true},
	"write_file":       {Paths: []string{"path"}, Code: []string{"content"}, Changes: true},
	"read_file":        {Paths: []string{"path"}},
	"create_directory": {Paths: []string{"path"}},
	"delete_path":      {Paths: []string{"path"}, Changes: true},
	"move_path":        {Paths: []string{"source_path", "destination_path"}, Changes: true},
	"copy_path":        {Paths: []string{"source_path", "destination_path"}, Changes: true},
	"save_file":        {Paths: []string{"paths"}, Changes: true},
	"open":             {Paths: []string{"path_or_url", "path"}},
	"diagnostics":      {Paths: []string{"path"}},
	"list_directory":   {Paths: []string{"path"}},
	"find_path":        {Code: []string{"glob"}},
	"grep":             {Code: []string{"regex"}},

	"restore_file_from_disk": {Paths: []string{"paths"}, Changes: true},
}

// Modifies is true of the tools that change files.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }

// Discover lists the threads.
func (h Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		walk := files.Walk{Match: func(rel string) bool { return rel == "threads.db" }}
		for _, root := range env.Roots {
			if !walk.Each(ctx, root, func(f files.File, err error) bool {
				if err != nil {
					return yield(harness.Transcript{}, err)
				}
				return h.database(ctx, env, f.Path, yield)
			}) {
				return
			}
		}
	}
}

func (h Harness) database(ctx context.Context, env harness.Env, path string, yield func(harness.Transcript, error) bool) bool {
	var found []harness.Transcript
	_, err := rows.With(ctx, path, func(db *rows.DB) error {
		columns, err := optional(ctx, db)
		if err != nil {
			return err
		}
		return db.Each(ctx, func(r rows.Row) bool {
			folders, _, _ := strings.Cut(r.Text("folder_paths"), "\n")
			id := r.Text("id")
			if id == "" || folders != "" && env.PathExcluded != nil && env.PathExcluded(folders) {
				return true
			}
			t := harness.Transcript{Key: h.key(id), Source: path + "#" + id, Path: path, Kind: harness.Rows, Stamp: r.Text("stamp")}
			if parent := r.Text("parent_id"); parent != "" {
				t.Parent = h.key(parent)
			}
			found = append(found, t)
			return true
		}, `SELECT id, `+columns+`, concat_ws('.', updated_at, summary, octet_length(data)) AS stamp FROM threads ORDER BY rowid`)
	})
	if err != nil && !yield(harness.Transcript{}, err) {
		return false
	}
	for _, t := range found {
		if !yield(t, nil) {
			return false
		}
	}
	return true
}

func (h Harness) key(id string) string { return h.ID() + ":" + id }

// optional are the columns that not every version has, as a query names them.
func optional(ctx context.Context, db *rows.DB) (string, error) {
	if ok, err := db.Has(ctx, "threads", "id", "summary", "updated_at", "data_type", "data"); err != nil || !ok {
		if err == nil {
			err = db.Changed("table threads with the columns id, summary, updated_at, data_type and data")
		}
		return "", err
	}
	var all []string
	for _, c := range []string{"parent_id", "folder_paths", "created_at"} {
		ok, err := db.Has(ctx, "threads", c)
		if err != nil {
			return "", err
		}
		if !ok {
			c = "NULL AS " + c
		}
		all = append(all, c)
	}
	return strings.Join(all, ", "), nil
}

// headID is the id of the record of what a thread holds beside its messages.
const headID = "thread"

// Tail yields the thread without its messages, then those.
func (h Harness) Tail(ctx context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return rows.Tail(ctx, t, func(db *rows.DB, id string, give rows.Give) error {
		if _, err := optional(ctx, db); err != nil {
			return err
		}
		columns, err := db.Select(ctx, "t", "threads", "data")
		if err != nil {
			return err
		}
		var data []byte
		found, err := db.All(ctx, nil, `SELECT 'threads' AS "table", `+columns+` FROM threads t WHERE id = ?`, id)
		if err != nil || len(found) == 0 {
			return err
		}
		if err := db.Each(ctx, func(r rows.Row) bool {
			data = bytes.Clone(r.Bytes("data"))
			return true
		}, `SELECT data FROM threads WHERE id = ?`, id); err != nil {
			if store.TooBig(err) {
				err = &harness.Problem{Path: t.Path, Err: fmt.Errorf("thread %s: it is too large to be read as one document", id)}
			}
			return err
		}
		doc, err := document(found[0].Text("data_type"), data)
		if err != nil {
			return &harness.Problem{Path: t.Path, Err: fmt.Errorf("thread %s: %w", id, err)}
		}
		return records(found[0].Object, doc, give)
	})
}

// document is the document of a thread.
func document(kind string, data []byte) (transcript.Value, error) {
	switch kind {
	case "zstd":
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(rows.MaxDocument))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		if data, err = d.DecodeAll(data, nil); err != nil {
			return nil, err
		}
	case "json":
	default:
		return nil, fmt.Errorf("its form %q is not known; another version of Zed may have changed it", kind)
	}
	doc, ok := transcript.ParseValue(data)
	if !ok || doc.Kind() != '{' {
		return nil, errors.New("it is not one whole JSON document")
	}
	return doc, nil
}

// records gives the records of a thread.
func records(row, doc transcript.Value, give rows.Give) error {
	head := append(bytes.TrimSuffix(bytes.Clone(row), []byte("}")), `,"document":{`...)
	first := true
	for key, v := range doc.Members() {
		if string(key) == "messages" {
			continue
		}
		if !first {
			head = append(head, ',')
		}
		first = false
		head = rows.AppendText(head, string(key))
		head = append(append(head, ':'), v...)
	}
	if err := give(headID, append(head, "}}"...)); err != nil {
		return err
	}
	prompt, behind, seen := "", 0, map[string]bool{}
	for m := range doc.Get("messages").Elements() {
		id := idOf(m)
		if id != "" && !seen[id] {
			prompt, behind = id, 0
		} else {
			behind++
			id = fmt.Sprintf("%s/%d", prompt, behind)
		}
		seen[id] = true
		if err := give("message/"+id, m); err != nil {
			return err
		}
	}
	return nil
}

// idOf is the id of a message, "" where it has none.
func idOf(m transcript.Value) string {
	for _, v := range []transcript.Value{m.Get("User", "id"), m.Get("id")} {
		switch v.Kind() {
		case '"':
			return v.String()
		case '0':
			return string(v)
		}
	}
	return ""
}

// firstFolder is the first of the directories of a thread.
func firstFolder(head transcript.Value) []byte {
	if first, _, _ := bytes.Cut(head.Get("folder_paths").Text(), []byte("\n")); len(first) > 0 {
		return first
	}
	for w := range head.Get("document", "initial_project_snapshot", "worktree_snapshots").Elements() {
		if path := w.Get("worktree_path").Text(); len(path) > 0 {
			return path
		}
	}
	return nil
}
