// Package goose reads the sessions of Goose.
//
// Goose keeps them in one SQLite database of its data directory; before 1.10 it kept each in
// a file of lines, of which it makes rows once, and which it leaves where they are:
//
//	~/.local/share/goose/sessions/sessions.db     sessions, messages
//	~/.local/share/goose/sessions/<id>.jsonl      a line of metadata, then a message a line
//
// A record is a row, or a line. When Goose compacts a conversation it writes all rows of it
// anew, so that their numbers tell nothing: a row is known by its message's id, and a turn by
// what it says and when. The package was written from documents: no store was at hand.
package goose

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is Goose. The zero value is ready.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Modifier = Harness{}
)

// ID is "goose".
func (Harness) ID() string { return "goose" }

// Name is "Goose".
func (Harness) Name() string { return "Goose" }

// Seen is "": no store of it was at hand.
func (Harness) Seen() string { return "" }

// Roots is the data directory: below GOOSE_PATH_ROOT where that is set.
func (Harness) Roots(m harness.Machine) []string {
	data := m.XDGData("goose")
	if m.GOOS == "windows" {
		data = m.AppData("Block", "goose", "data")
	}
	if own := m.Variable("GOOSE_PATH_ROOT", "", "data"); own != "" {
		data = own
	}
	return harness.Places(data)
}

// Resume is `goose session --resume` with the id.
func (Harness) Resume(sessionID string) []string {
	return []string{"goose", "session", "--resume", "--session-id", sessionID}
}

var tools = turn.Tools{
	"developer__shell":       {Commands: []string{"command"}},
	"developer__text_editor": {Paths: []string{"path"}, Code: []string{"old_str", "new_str", "file_text", "diff"}},
	"developer__analyze":     {Paths: []string{"path"}},
	"shell":                  {Commands: []string{"command"}},
	"developer__write":       {Paths: []string{"path"}, Code: []string{"content"}, Changes: true},
	"developer__edit":        {Paths: []string{"path"}, Code: []string{"before", "after"}, Changes: true},
	"write":                  {Paths: []string{"path"}, Code: []string{"content"}, Changes: true},
	"edit":                   {Paths: []string{"path"}, Code: []string{"before", "after"}, Changes: true},
	"tree":                   {Paths: []string{"path"}},
	"text_editor":            {Paths: []string{"path"}, Code: []string{"old_str", "new_str", "file_text", "diff"}},
}

// Modifies is true of the tools that edit or write a file, and not of the one that does so or
// shows it, as its arguments say.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }

const databaseFile = "sessions.db"

// Discover lists the sessions of the database, and the files of those that are not in it.
func (h Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		for _, root := range env.Roots {
			if !h.root(ctx, env, filepath.Join(root, "sessions"), yield) {
				return
			}
		}
	}
}

func (h Harness) root(ctx context.Context, env harness.Env, dir string, yield func(harness.Transcript, error) bool) bool {
	walk := files.Walk{Match: func(rel string) bool { return rel == databaseFile || files.Suffix(".jsonl")(rel) }}
	stored, broken := map[string]bool{}, false
	var lines []files.File
	if !walk.Each(ctx, dir, func(f files.File, err error) bool {
		switch {
		case err != nil:
			return yield(harness.Transcript{}, err)
		case f.Rel == databaseFile:
			found, err := h.database(ctx, f.Path)
			if err != nil {
				broken = true
				if !yield(harness.Transcript{}, err) {
					return false
				}
			}
			for _, s := range found {
				stored[s.id] = true
				if env.PathExcluded != nil && env.PathExcluded(s.directory) {
					continue
				}
				if !yield(s.Transcript, nil) {
					return false
				}
			}
		default:
			lines = append(lines, f)
		}
		return true
	}) {
		return false
	}
	for _, f := range lines {
		id := files.Base(f.Rel, ".jsonl")
		// While the database cannot be read nobody knows which files are in it.
		if stored[id] || broken {
			continue
		}
		if !yield(harness.Transcript{Key: h.key(id), Source: f.Path, Path: f.Path, Kind: harness.Lines, Stat: f.Stat}, nil) {
			return false
		}
	}
	return true
}

func (h Harness) key(id string) string { return h.ID() + ":" + id }

type stored struct {
	harness.Transcript
	id, directory string
}

// database lists the sessions of a database.
func (h Harness) database(ctx context.Context, path string) (found []stored, err error) {
	_, err = rows.With(ctx, path, func(db *rows.DB) error {
		f, err := formOf(ctx, db)
		if err != nil {
			return err
		}
		return db.Each(ctx, func(r rows.Row) bool {
			id := r.Text("id")
			if id == "" {
				return true
			}
			s := stored{id: id, directory: r.Text("directory"), Transcript: harness.Transcript{
				Key: h.key(id), Source: path + "#" + id, Path: path, Kind: harness.Rows, Stamp: r.Text("stamp"),
			}}
			if parent := r.Text("parent"); parent != "" {
				s.Parent = h.key(parent)
			}
			found = append(found, s)
			return true
		}, f.listing())
	})
	return found, err
}

// A form is which columns a database has that not every version has.
type form struct{ parent, kind, name, named, messageID, metadata bool }

func formOf(ctx context.Context, db *rows.DB) (f form, err error) {
	has := func(table string, columns ...string) bool {
		ok, e := db.Has(ctx, table, columns...)
		err = errors.Join(err, e)
		return ok
	}
	sessions := has("sessions", "id", "working_dir", "created_at", "updated_at")
	messages := has("messages", "id", "session_id", "role", "content_json", "created_timestamp")
	f = form{
		parent: has("sessions", "parent_session_id"), kind: has("sessions", "session_type"), name: has("sessions", "name"),
		named: has("sessions", "user_set_name"), messageID: has("messages", "message_id"), metadata: has("messages", "metadata_json"),
	}
	switch {
	case err != nil:
		return f, err
	case !sessions:
		return f, db.Changed("table sessions with the columns id, working_dir, created_at and updated_at")
	case !messages:
		return f, db.Changed("table messages with the columns id, session_id, role, content_json and created_timestamp")
	}
	return f, nil
}

// lateDays is how far before the newest change of the database a session's messages are still
// looked at one by one: what they say never changes, and what is noted beside it does when
// something happens to the session.
const lateDays = 7

// listing is the query of the sessions. Rows come and go as a whole, so that their numbers,
// which are never used twice, tell most; these stand in an index.
func (f form) listing() string {
	column := func(ok bool, expression string) string {
		if ok {
			return expression
		}
		return "NULL"
	}
	metadata := column(f.metadata, "sum(octet_length(metadata_json))")
	// A subagent says whose it is; that a fork does so as well makes it nobody's subagent.
	parent := "NULL"
	if f.parent && f.kind {
		parent = "CASE WHEN s.session_type IN ('sub_agent', 'subagent') THEN s.parent_session_id END"
	}
	return fmt.Sprintf(`SELECT s.id, s.working_dir AS directory, %s AS parent,
		concat_ws('.', CAST(s.updated_at AS TEXT), %s,
			(SELECT concat(count(*), '/', min(id), '/', max(id)) FROM messages WHERE session_id = s.id),
			CASE WHEN julianday(CAST(s.updated_at AS TEXT)) >= (SELECT max(julianday(CAST(updated_at AS TEXT))) FROM sessions) - %d THEN
				(SELECT concat(sum(octet_length(content_json)), '/', %s) FROM messages WHERE session_id = s.id) END) AS stamp
		FROM sessions s ORDER BY CAST(s.created_at AS TEXT), s.id`, parent, column(f.name, "s.name"), lateDays, metadata)
}

// Tail yields the row of the session and those of its messages.
func (h Harness) Tail(ctx context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return rows.Tail(ctx, t, func(db *rows.DB, id string, give rows.Give) error {
		f, err := formOf(ctx, db)
		if err != nil {
			return err
		}
		head, err := db.All(ctx, []string{"extension_data", "recipe_json", "user_recipe_values_json", "model_config_json"},
			`SELECT 'sessions' AS "table", s.* FROM sessions s WHERE id = ?`, id)
		if err != nil || len(head) == 0 {
			return err
		}
		if err := give(headID, head[0].Object); err != nil {
			return err
		}
		return f.messages(ctx, db, id, give)
	})
}

// headID is the id of the record of the session's row.
const headID = "session"

func (f form) messages(ctx context.Context, db *rows.DB, id string, give rows.Give) error {
	ids, err := db.All(ctx, nil, `SELECT id FROM messages WHERE session_id = ? ORDER BY id`, id)
	if err != nil {
		return err
	}
	copies, err := f.copies(ctx, db, id)
	if err != nil {
		return err
	}
	seen := map[string]int{}
	for _, one := range ids {
		found, err := db.All(ctx, []string{"content_json", "metadata_json"}, `SELECT 'messages' AS "table", m.* FROM messages m WHERE id = ?`, one.Value("id"))
		if err != nil {
			return err
		}
		for _, m := range found {
			name := m.Text("message_id")
			object := m.Object
			if source, ok := copies[name]; ok && name != "" {
				object = withCopied(object, source)
			}
			if name == "" {
				name = saying(object.Get("role"), object.Get("created_timestamp"), object.Get("content_json"))
			}
			// A message that arrived in pieces has a row a piece.
			if seen[name]++; seen[name] > 1 {
				name = fmt.Sprintf("%s/%d", name, seen[name])
			}
			if err := give(name, object); err != nil {
				return err
			}
		}
	}
	return nil
}

// withCopied is a row that says of which session it is a copy.
func withCopied(object transcript.Value, source string) transcript.Value {
	return append(append([]byte(`{"copied":`), quoted(source)...), append([]byte{','}, object[1:]...)...)
}

// copies are the messages of a session that are those of an older one, by their ids: a fork
// takes them over. It gives the session for each.
func (f form) copies(ctx context.Context, db *rows.DB, id string) (map[string]string, error) {
	out := map[string]string{}
	if !f.messageID {
		return out, nil
	}
	err := db.Each(ctx, func(r rows.Row) bool {
		out[r.Text("message_id")] = r.Text("source")
		return true
	}, `SELECT DISTINCT o.message_id, o.session_id AS source FROM messages o JOIN sessions os ON os.id = o.session_id
		WHERE o.message_id IN (SELECT message_id FROM messages WHERE session_id = ?1 AND message_id IS NOT NULL)
			AND o.session_id <> ?1
			AND (CAST(os.created_at AS TEXT), os.id) < (SELECT CAST(created_at AS TEXT), id FROM sessions WHERE id = ?1)
		ORDER BY CAST(os.created_at AS TEXT), os.id`, id)
	return out, err
}
