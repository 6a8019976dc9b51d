// Package crush reads the sessions of Crush.
//
// Crush keeps one SQLite database a project, `.crush/crush.db` in it or where the project's
// configuration says, and names them all in one file of its data directory:
//
//	~/.local/share/crush/projects.json   {"projects":[{"path":"…","data_dir":"…"}]}
//	<project>/.crush/crush.db            sessions, messages, files
//
// A record is a row. What a message says, calls and returns is its column parts, which grows
// while the model writes. The package was written from documents: no store was at hand.
package crush

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is Crush. The zero value is ready.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Modifier = Harness{}
)

// ID is "crush".
func (Harness) ID() string { return "crush" }

// Name is "Crush".
func (Harness) Name() string { return "Crush" }

// Seen is "": no store of it was at hand.
func (Harness) Seen() string { return "" }

// Roots is the data directory, which names the projects.
func (Harness) Roots(m harness.Machine) []string {
	data := m.XDGData("crush")
	if m.GOOS == "windows" {
		data = m.Variable("XDG_DATA_HOME", m.Variable("LOCALAPPDATA", m.Below("AppData", "Local")), "crush")
	}
	return harness.Places(m.Variable("CRUSH_GLOBAL_DATA", data))
}

// Resume is `crush --session` with the id.
func (Harness) Resume(sessionID string) []string { return []string{"crush", "--session", sessionID} }

var tools = turn.Tools{
	"bash":      {Commands: []string{"command"}},
	"view":      {Paths: []string{"file_path"}},
	"edit":      {Paths: []string{"file_path"}, Code: []string{"old_string", "new_string"}, Changes: true},
	"multiedit": {Paths: []string{"file_path"}, Code: []string{"edits.old_string", "edits.new_string"}, Changes: true},
	"write":     {Paths: []string{"file_path"}, Code: []string{"content"}, Changes: true},
	"download":  {Paths: []string{"file_path"}, Changes: true},
	"grep":      {Paths: []string{"path"}, Code: []string{"pattern"}},
	"glob":      {Paths: []string{"path"}, Code: []string{"pattern"}},
	"ls":        {Paths: []string{"path"}},

	"lsp_diagnostics": {Paths: []string{"file_path"}},
	"lsp_references":  {Code: []string{"symbol"}},
}

// Modifies is true of the tools that edit or write a file.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }

const (
	projectsFile = "projects.json"
	databaseFile = "crush.db"
	maxProjects  = 8 << 20 // bytes of the list of projects, many times what a person has
)

// Discover lists the sessions of each project that a root's projects.json names, and of a
// database in the root itself.
func (h Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		seen := map[string]bool{}
		for _, root := range env.Roots {
			projects, err := projectsOf(root)
			if err != nil && !yield(harness.Transcript{}, err) {
				return
			}
			for _, p := range projects {
				if p.path != "" && env.PathExcluded != nil && env.PathExcluded(p.path) {
					continue
				}
				file, err := files.At(filepath.Join(p.data, databaseFile))
				switch {
				case errors.Is(err, fs.ErrNotExist):
				case err != nil:
					if !yield(harness.Transcript{}, err) {
						return
					}
				case seen[file.Path]:
				default:
					seen[file.Path] = true
					if !h.database(ctx, file.Path, p.path, yield) {
						return
					}
				}
			}
		}
	}
}

// A project is a directory and where Crush keeps what belongs to it.
type project struct{ path, data string }

func projectsOf(root string) ([]project, error) {
	all := []project{{"", root}}
	path := filepath.Join(root, projectsFile)
	data, err := files.Read(path, maxProjects)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return all, &harness.Problem{Path: path, Err: err}
	}
	doc, ok := transcript.ParseValue(data)
	if !ok {
		return all, &harness.Problem{Path: path, Err: errors.New("it is not one whole JSON document")}
	}
	for p := range doc.Get("projects").Elements() {
		one := project{p.Get("path").String(), p.Get("data_dir").String()}
		if !filepath.IsAbs(one.path) {
			continue
		}
		switch {
		case one.data == "":
			one.data = filepath.Join(one.path, ".crush")
		case !filepath.IsAbs(one.data):
			one.data = filepath.Join(one.path, one.data)
		}
		all = append(all, one)
	}
	return all, nil
}

// database lists the sessions of a database. The rows do not name the project: the stamp
// begins with it, so that Tail knows it and a project that moved is read again.
func (h Harness) database(ctx context.Context, path, directory string, yield func(harness.Transcript, error) bool) bool {
	var found []harness.Transcript
	_, err := rows.With(ctx, path, func(db *rows.DB) error {
		f, err := formOf(ctx, db)
		if err != nil {
			return err
		}
		return db.Each(ctx, func(r rows.Row) bool {
			t := harness.Transcript{
				Key: h.key(r.Text("id")), Source: path + "#" + r.Text("id"), Path: path, Kind: harness.Rows,
				Stamp: directory + "\n" + r.Text("stamp"),
			}
			if parent := r.Text("parent"); parent != "" {
				t.Parent = h.key(parent)
			}
			if r.Text("id") != "" {
				found = append(found, t)
			}
			return true
		}, f.listing())
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

// A form is which columns a database has that not every version has.
type form struct{ updated, marked bool }

func formOf(ctx context.Context, db *rows.DB) (f form, err error) {
	has := func(table string, columns ...string) bool {
		ok, e := db.Has(ctx, table, columns...)
		err = errors.Join(err, e)
		return ok
	}
	sessions := has("sessions", "id", "parent_session_id", "title", "created_at", "updated_at", "summary_message_id")
	messages := has("messages", "id", "session_id", "role", "parts", "created_at")
	f = form{updated: has("messages", "updated_at"), marked: has("messages", "is_summary_message")}
	switch {
	case err != nil:
		return f, err
	case !sessions:
		return f, db.Changed("table sessions with the columns id, parent_session_id, title, created_at, updated_at and summary_message_id")
	case !messages:
		return f, db.Changed("table messages with the columns id, session_id, role, parts and created_at")
	}
	return f, nil
}

// lateWindow is how far before the newest change of a database a session's messages are still
// looked at one by one, in seconds: a message that was being written when its session was
// changed last is finished within it.
const lateWindow = 7 * 24 * 60 * 60

// listing is the query of the sessions. Times are whole seconds, and a message is written many
// times in one of them: how long it is tells more. Messages of a session that nothing happened
// to for long are only counted, in an index.
func (f form) listing() string {
	updated := "0"
	if f.updated {
		updated = "coalesce(max(updated_at), 0)"
	}
	return fmt.Sprintf(`SELECT s.id, s.parent_session_id AS parent, concat_ws('.', s.updated_at, s.title, s.summary_message_id,
			(SELECT concat(count(*), '/', max(rowid)) FROM messages WHERE session_id = s.id),
			CASE WHEN s.updated_at >= (SELECT max(updated_at) FROM sessions) - %d THEN
				(SELECT concat(%s, '/', sum(octet_length(parts))) FROM messages WHERE session_id = s.id) END) AS stamp
		FROM sessions s ORDER BY s.created_at, s.id`, lateWindow, updated)
}

// Tail yields the row of the session and those of its messages.
func (h Harness) Tail(ctx context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return rows.Tail(ctx, t, func(db *rows.DB, id string, give rows.Give) error {
		f, err := formOf(ctx, db)
		if err != nil {
			return err
		}
		directory, _, _ := strings.Cut(t.Stamp, "\n")
		head, err := db.All(ctx, []string{"todos"}, `SELECT 'sessions' AS "table", ? AS directory, s.* FROM sessions s WHERE id = ?`, directory, id)
		if err != nil || len(head) == 0 {
			return err
		}
		if err := give(headID, head[0].Object); err != nil {
			return err
		}
		ids, err := db.All(ctx, nil, `SELECT id FROM messages WHERE session_id = ? ORDER BY created_at, rowid`, id)
		if err != nil {
			return err
		}
		digest := "m.id = (SELECT summary_message_id FROM sessions WHERE id = m.session_id)"
		if f.marked {
			digest = "m.is_summary_message"
		}
		for _, one := range ids {
			m, err := db.All(ctx, []string{"parts"}, `SELECT 'messages' AS "table", coalesce(`+digest+`, 0) + 0 AS digest, m.*
				FROM messages m WHERE id = ?`, one.Text("id"))
			if err != nil {
				return err
			}
			for _, row := range m {
				if err := give(one.Text("id"), row.Object); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// headID is the id of the record of the session's row.
const headID = "session"
