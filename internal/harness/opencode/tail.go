package opencode

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// The ids of the records of which a session has one.
const (
	headID  = "session"
	diffsID = "session/summary_diffs"
)

// Tail yields the row of the session, then message for message its parts and, behind them,
// its own row, which is final later than they are.
func (h Harness) Tail(ctx context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		db, err := rows.Open(ctx, t.Path)
		if db == nil || err != nil {
			if err == nil {
				err = gone(t.Path)
			}
			yield(transcript.Record{}, err)
			return
		}
		closed := false
		defer func() {
			if !closed {
				_ = db.Close()
			}
		}()
		f, err := formOf(ctx, db)
		if err != nil {
			yield(transcript.Record{}, err)
			return
		}
		r := reader{ctx: ctx, db: db, form: f, id: strings.TrimPrefix(t.Source, t.Path+"#"), yield: yield}
		more := r.session()
		closed = true
		if err := db.Close(); more && err != nil {
			yield(transcript.Record{}, err)
		}
	}
}

// A reader yields the records of one session. Its methods report whether more are wanted.
type reader struct {
	ctx   context.Context
	db    *rows.DB
	form  form
	id    string
	yield func(transcript.Record, error) bool
}

func (r *reader) session() bool {
	for _, table := range r.form.sessions {
		columns, ok := r.columns("s", table, "summary_diffs")
		if !ok {
			return false
		}
		head, ok := r.read(`SELECT '`+table+`' AS "table", `+columns+` FROM `+table+` s WHERE id = ?`, r.id)
		switch {
		case !ok:
			return false
		case len(head) > 0:
			return r.give(headID, head[0].json) && r.diffs(table) && r.messages(table)
		}
	}
	return true // it was deleted since it was discovered
}

// diffs yields what the session changed so far, which is as large as the files are: it is no
// part of the session's row, which changes with every message.
func (r *reader) diffs(table string) bool {
	if has, err := r.db.Has(r.ctx, table, "summary_diffs"); err != nil || !has {
		return r.failed(err)
	}
	found, ok := r.read(`SELECT 'summary_diffs' AS "table", summary_diffs AS data FROM `+table+`
		WHERE id = ? AND summary_diffs IS NOT NULL`, r.id)
	return ok && (len(found) == 0 || r.give(diffsID, found[0].json))
}

func (r *reader) messages(table string) bool {
	if r.form.entries {
		said, ok := r.read(`SELECT id FROM session_message WHERE session_id = ? AND type IN ('user', 'assistant', 'compaction') LIMIT 1`, r.id)
		if !ok {
			return false
		}
		if len(said) > 0 || !r.form.parts {
			order := "time_created, id"
			if r.form.entrySeq {
				order = "seq"
			}
			return r.all(table, "session_message", order, nil)
		}
	}
	return r.all(table, "message", "time_created, id", r.parts)
}

// all yields the rows of a table of messages in an order, before each what before gives.
func (r *reader) all(sessions, table, order string, before func(message transcript.Value, copied any) bool) bool {
	ids, ok := r.read(`SELECT id, time_created AS at FROM `+table+` WHERE session_id = ? ORDER BY `+order, r.id)
	if !ok {
		return false
	}
	copies, ok := r.copies(sessions, table)
	if !ok {
		return false
	}
	columns, ok := r.columns("m", table)
	if !ok {
		return false
	}
	for _, one := range ids {
		var copied any
		if source, ok := copies[one.at]; ok {
			copied = source
		}
		found, ok := r.read(`SELECT '`+table+`' AS "table", ? AS copied, `+columns+` FROM `+table+` m WHERE id = ?`, copied, one.id)
		if !ok {
			return false
		}
		for _, m := range found {
			if before != nil && !before(m.json, copied) || !r.give(m.id, m.json) {
				return false
			}
		}
	}
	return true
}

// parts yields the parts of a message.
func (r *reader) parts(message transcript.Value, copied any) bool {
	columns, ok := r.columns("p", "part")
	if !ok {
		return false
	}
	var digest any
	if message.Get("data", "summary").Bool() {
		digest = 1
	}
	found, ok := r.read(`SELECT 'part' AS "table", ? AS role, ? AS digest, ? AS copied, `+columns+`
		FROM part p WHERE message_id = ? ORDER BY id`,
		message.Get("data", "role").String(), digest, copied, message.Get("id").String())
	if !ok {
		return false
	}
	for _, p := range found {
		if !r.give(p.id, p.json) {
			return false
		}
	}
	return true
}

// copies are the messages of a session that are those of another, by their time: the agent
// forks a session by copying its messages, with new ids and their old times, into one that is
// made later. It gives for each the id of the session that it was copied from last. Where that
// one is gone, nothing tells that they are copies, and they are not: nobody else has them.
func (r *reader) copies(sessions, table string) (map[any]string, bool) {
	out := map[any]string{}
	err := r.db.Each(r.ctx, func(row rows.Row) bool {
		out[row.Value("at")] = row.Text("source")
		return true
	}, `SELECT o.time_created AS at, o.session_id AS source
		FROM `+sessions+` s
		JOIN `+table+` mine ON mine.session_id = s.id AND mine.time_created < s.time_created
		JOIN `+table+` o ON o.time_created = mine.time_created AND o.session_id <> s.id
		JOIN `+sessions+` os ON os.id = o.session_id AND os.time_created < s.time_created
		WHERE s.id = ? ORDER BY os.time_created, os.id`, r.id)
	if err != nil {
		return nil, r.failed(err)
	}
	return out, true
}

// failed yields an error, if there is one, and reports whether there was none.
func (r *reader) failed(err error) bool {
	if err != nil {
		r.yield(transcript.Record{}, err)
	}
	return err == nil
}

// columns are the columns of a table but some, as a query names them.
func (r *reader) columns(alias, table string, but ...string) (string, bool) {
	all, err := r.db.Columns(r.ctx, table)
	if err != nil {
		return "", r.failed(err)
	}
	var b strings.Builder
	for _, c := range all {
		if slices.Contains(but, c) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(alias + `."` + strings.ReplaceAll(c, `"`, `""`) + `"`)
	}
	return b.String(), true
}

// A row is one row of a query: its column id, its column at, and all of it as JSON.
type row struct {
	id   string
	at   any
	json []byte
}

// read reads all rows of a query, few or small, before any of them is given on, so that the
// agent's database is not held while the archive is busy. ok is false after an error, which
// was yielded.
func (r *reader) read(query string, args ...any) (all []row, ok bool) {
	err := r.db.Each(r.ctx, func(one rows.Row) bool {
		all = append(all, row{one.Text("id"), one.Value("at"), one.JSON("data", "permission", "model", "revert", "metadata")})
		return true
	}, query, args...)
	return all, r.failed(err)
}

func (r *reader) give(id string, row []byte) bool { return r.yield(rows.Record(id, row), nil) }
