package opencode

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
)

// Discover lists the sessions of every database: those of a root that is a directory, and a
// root that is a database itself.
func (h Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		walk := files.Walk{Match: h.isDatabase}
		seen := map[string]bool{}
		for _, root := range env.Roots {
			visit := func(f files.File, err error) bool {
				switch {
				case err != nil:
					return yield(harness.Transcript{}, err)
				case seen[f.Path]:
					return true
				}
				seen[f.Path] = true
				return h.database(ctx, env, f.Path, yield)
			}
			if info, err := os.Stat(root); err == nil && !info.IsDir() {
				if !visit(files.At(root)) {
					return
				}
				continue
			}
			if !walk.Each(ctx, root, visit) {
				return
			}
		}
	}
}

// database lists the sessions of one database.
func (h Harness) database(ctx context.Context, env harness.Env, path string, yield func(harness.Transcript, error) bool) bool {
	found, err := list(ctx, path)
	if err != nil && !yield(harness.Transcript{}, err) {
		return false
	}
	diffs := diffsBeside(path)
	for _, s := range found {
		if env.PathExcluded != nil && env.PathExcluded(s.directory) {
			continue
		}
		t := harness.Transcript{
			Key: h.key(s.id), Source: path + "#" + s.id, Path: path, Kind: harness.Rows, Stamp: s.stamp,
		}
		if s.parent != "" {
			t.Parent = h.key(s.parent)
		}
		if diff, ok := diffs[s.id]; ok {
			if f, err := files.At(diff); err == nil {
				t.Companions = []harness.Companion{{Path: f.Path, Name: "session_diff.json", Stat: f.Stat}}
			}
		}
		if !yield(t, nil) {
			return false
		}
	}
	return true
}

func (h Harness) key(id string) string { return h.ID() + ":" + id }

// diffsBeside are the files in which some versions keep what a session changed, by its id.
func diffsBeside(path string) map[string]string {
	dir := filepath.Join(filepath.Dir(path), "storage", "session_diff")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return nil
	}
	out := make(map[string]string, len(entries))
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && e.Type().IsRegular() {
			out[id] = filepath.Join(dir, e.Name())
		}
	}
	return out
}

// A session is what discovery knows of one.
type session struct{ id, parent, directory, stamp string }

// list reads the sessions of a database. What was read before an error is given with it: a
// stamp of a state that the database never had costs that the session is read again.
func list(ctx context.Context, path string) (found []session, err error) {
	_, err = rows.With(ctx, path, func(db *rows.DB) error {
		f, err := formOf(ctx, db)
		if err != nil {
			return err
		}
		for _, table := range f.sessions {
			err := db.Each(ctx, func(r rows.Row) bool {
				if id := r.Text("id"); id != "" {
					found = append(found, session{id, r.Text("parent"), r.Text("directory"), stampOf(r)})
				}
				return true
			}, f.listing(table))
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

func stampOf(r rows.Row) string {
	var b strings.Builder
	for _, c := range stampColumns {
		fmt.Fprintf(&b, "%v.", r.Value(c))
	}
	return b.String()
}

// stampColumns are the columns of a listing of which a stamp is made.
var stampColumns = []string{"updated", "seq", "part", "message", "entry", "late"}

// A form is which of the known tables and columns a database has.
type form struct {
	sessions   []string // the tables of sessions
	parts      bool     // message and part
	partOf     bool     // part.session_id
	entries    bool     // session_message
	entrySeq   bool     // session_message.seq
	events     bool     // event_sequence
	parent     bool
	updatedRow bool // message.time_updated, part.time_updated
}

// formOf tells the form of a database. One that has none of the tables of messages is a
// Problem; one without any table is a store that is just being made.
func formOf(ctx context.Context, db *rows.DB) (form, error) {
	var f form
	var err error
	has := func(table string, columns ...string) bool {
		ok, e := db.Has(ctx, table, columns...)
		err = errors.Join(err, e)
		return ok
	}
	for _, table := range []string{"session", "session_v2"} {
		if has(table, "id", "directory", "time_updated") {
			f.sessions = append(f.sessions, table)
			f.parent = has(table, "parent_id")
		}
	}
	f.parts = has("message", "id", "session_id", "time_created", "data") && has("part", "id", "message_id", "data")
	f.partOf = has("part", "session_id")
	f.updatedRow = has("message", "time_updated") && has("part", "time_updated")
	f.entries = has("session_message", "id", "session_id", "type", "time_created", "data")
	f.entrySeq = has("session_message", "seq")
	f.events = has("event_sequence", "aggregate_id", "seq")
	switch {
	case err != nil:
		return f, err
	case len(f.sessions) == 0:
		return f, db.Changed("table session with id, directory and time_updated")
	case !f.parts && !f.entries:
		return f, db.Changed("table of messages with the columns id, session_id, time_created and data")
	}
	return f, nil
}

// lateWindow is how far before the newest change of a store a session's rows are still
// looked at one by one where the store counts no events, in milliseconds: a tool that ran
// when a session was touched last has ended within it.
const lateWindow = 7 * 24 * 60 * 60 * 1000

// listing is the query of the sessions of a table, with all that a stamp is made of.
//
// The time at which a session was updated says nothing of a part that is written later, as
// the end of a tool is. A store that counts events counts those. Rows that come without one,
// as by an import, are told by the last of each table. All of these are looked up in indexes;
// the size of the store does not matter. A store that counts none is older: there the newest
// time of the rows is taken, of sessions that may still change.
func (f form) listing(table string) string {
	column := func(ok bool, expression string) string {
		if ok {
			return expression
		}
		return "NULL"
	}
	late := "NULL"
	switch {
	case f.events || !f.parts || !f.updatedRow:
	case f.partOf:
		late = fmt.Sprintf(`CASE WHEN s.time_updated >= (SELECT max(time_updated) FROM %s) - %d THEN
			(SELECT max(time_updated) FROM part WHERE session_id = s.id) || '/' ||
			(SELECT max(time_updated) FROM message WHERE session_id = s.id) END`, table, lateWindow)
	default:
		late = `(SELECT max(p.time_updated) || '/' || max(m.time_updated) FROM message m
			JOIN part p ON p.message_id = m.id WHERE m.session_id = s.id)`
	}
	entry := "NULL"
	switch {
	case f.entries && f.entrySeq:
		entry = `(SELECT max(seq) FROM session_message WHERE session_id = s.id)`
	case f.entries:
		entry = `(SELECT count(*) || '/' || max(time_created) FROM session_message WHERE session_id = s.id)`
	}
	if f.entries && !f.events {
		entry += ` || '/' || (SELECT sum(octet_length(data)) FROM session_message WHERE session_id = s.id)`
	}
	return `SELECT s.id, s.directory, s.time_updated AS updated,
		` + column(f.parent, "s.parent_id") + ` AS parent,
		` + column(f.events, "(SELECT seq FROM event_sequence WHERE aggregate_id = s.id)") + ` AS seq,
		` + column(f.parts && f.partOf, "(SELECT max(rowid) FROM part WHERE session_id = s.id)") + ` AS part,
		` + column(f.parts, "(SELECT id FROM message WHERE session_id = s.id ORDER BY time_created DESC, id DESC LIMIT 1)") + ` AS message,
		` + entry + ` AS entry, ` + late + ` AS late
		FROM ` + table + ` s ORDER BY s.time_created, s.id`
}
