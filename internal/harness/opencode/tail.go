package opencode

import (
	"context"
	"iter"

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
	return rows.Tail(ctx, t, func(db *rows.DB, id string, give rows.Give) error {
		f, err := formOf(ctx, db)
		if err != nil {
			return err
		}
		r := reader{ctx: ctx, db: db, form: f, id: id, give: give}
		return r.session()
	})
}

// A reader gives the records of one session.
type reader struct {
	ctx  context.Context
	db   *rows.DB
	form form
	id   string
	give rows.Give
}

func (r *reader) session() error {
	for _, table := range r.form.sessions {
		columns, err := r.db.Select(r.ctx, "s", table, "summary_diffs")
		if err != nil {
			return err
		}
		head, err := r.read(`SELECT '`+table+`' AS "table", `+columns+` FROM `+table+` s WHERE id = ?`, r.id)
		if err != nil {
			return err
		}
		if len(head) == 0 {
			continue
		}
		if err := r.give(headID, head[0].Object); err != nil {
			return err
		}
		if err := r.diffs(table); err != nil {
			return err
		}
		return r.messages(table)
	}
	return nil // it was deleted since it was discovered
}

// diffs gives what the session changed so far, which is as large as the files are: it is no
// part of the session's row, which changes with every message.
func (r *reader) diffs(table string) error {
	if has, err := r.db.Has(r.ctx, table, "summary_diffs"); err != nil || !has {
		return err
	}
	found, err := r.read(`SELECT 'summary_diffs' AS "table", summary_diffs AS data FROM `+table+`
		WHERE id = ? AND summary_diffs IS NOT NULL`, r.id)
	if err != nil || len(found) == 0 {
		return err
	}
	return r.give(diffsID, found[0].Object)
}

func (r *reader) messages(table string) error {
	if r.form.entries {
		said, err := r.read(`SELECT id FROM session_message WHERE session_id = ? AND type IN ('user', 'assistant', 'compaction') LIMIT 1`, r.id)
		if err != nil {
			return err
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

// all gives the rows of a table of messages in an order, before each what before gives.
func (r *reader) all(sessions, table, order string, before func(message transcript.Value, copied any) error) error {
	ids, err := r.read(`SELECT id, time_created FROM `+table+` WHERE session_id = ? ORDER BY `+order, r.id)
	if err != nil {
		return err
	}
	copies, err := r.copies(sessions, table)
	if err != nil {
		return err
	}
	for _, one := range ids {
		var copied any
		if source, ok := copies[one.Text("time_created")]; ok {
			copied = source
		}
		id := one.Text("id")
		found, err := r.read(`SELECT '`+table+`' AS "table", ? AS copied, m.* FROM `+table+` m WHERE id = ?`, copied, id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			continue // it was deleted since its id was read
		}
		if before != nil {
			if err := before(found[0].Object, copied); err != nil {
				return err
			}
		}
		if err := r.give(id, found[0].Object); err != nil {
			return err
		}
	}
	return nil
}

// parts gives the parts of a message.
func (r *reader) parts(message transcript.Value, copied any) error {
	var digest any
	if message.Get("data", "summary").Bool() {
		digest = 1
	}
	found, err := r.read(`SELECT 'part' AS "table", ? AS role, ? AS digest, ? AS copied, p.*
		FROM part p WHERE message_id = ? ORDER BY id`,
		message.Get("data", "role").String(), digest, copied, message.Get("id").String())
	if err != nil {
		return err
	}
	for _, p := range found {
		if err := r.give(p.Text("id"), p.Object); err != nil {
			return err
		}
	}
	return nil
}

// copies are the messages of a session that are those of another, by their time: the agent
// forks a session by copying its messages, with new ids and their old times, into one that is
// made later. It gives for each the id of the session that it was copied from last. Where that
// one is gone, nothing tells that they are copies, and they are not: nobody else has them.
func (r *reader) copies(sessions, table string) (map[string]string, error) {
	out := map[string]string{}
	// To look for them costs a walk over the messages of all sessions: few sessions need it.
	older, err := r.read(`SELECT 1 FROM `+table+` WHERE session_id = ?1
		AND time_created < (SELECT time_created FROM `+sessions+` WHERE id = ?1) LIMIT 1`, r.id)
	if err != nil || len(older) == 0 {
		return nil, err
	}
	err = r.db.Each(r.ctx, func(row rows.Row) bool {
		out[row.Text("at")] = row.Text("source")
		return true
	}, `SELECT o.time_created AS at, o.session_id AS source
		FROM `+sessions+` s
		JOIN `+table+` mine ON mine.session_id = s.id AND mine.time_created < s.time_created
		JOIN `+table+` o ON o.time_created = mine.time_created AND o.session_id <> s.id
		JOIN `+sessions+` os ON os.id = o.session_id AND os.time_created < s.time_created
		WHERE s.id = ? ORDER BY os.time_created, os.id`, r.id)
	return out, err
}

// read reads the rows of a query, of which some columns are JSON.
func (r *reader) read(query string, args ...any) ([]rows.Kept, error) {
	return r.db.All(r.ctx, []string{"data", "permission", "model", "revert", "metadata"}, query, args...)
}
