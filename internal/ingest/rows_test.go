package ingest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the store of the harness below is a real database

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// rowHarness keeps conversations as rows of a SQLite database in WAL mode, as
// several agents do.
type rowHarness struct{ path string }

var _ harness.Harness = rowHarness{}

func (rowHarness) ID() string { return "rows" }

func (rowHarness) Name() string                     { return "Rows" }
func (rowHarness) Seen() string                     { return "" }
func (h rowHarness) Roots(harness.Machine) []string { return []string{h.path} }

func (h rowHarness) open() (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+h.path+"?mode=ro")
}

func (h rowHarness) Discover(ctx context.Context, _ harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		db, err := h.open()
		if err != nil {
			yield(harness.Transcript{}, &harness.Problem{Path: h.path, Err: err})
			return
		}
		defer db.Close()
		rows, err := db.QueryContext(ctx, `SELECT conversation, group_concat(id || ':' || body, '|') FROM
			(SELECT * FROM message ORDER BY conversation, position) GROUP BY conversation ORDER BY conversation`)
		if err != nil {
			yield(harness.Transcript{}, &harness.Problem{Path: h.path, Err: err})
			return
		}
		defer rows.Close()
		for rows.Next() {
			t := harness.Transcript{Path: h.path, Kind: harness.Rows}
			var id string
			if err := rows.Scan(&id, &t.Stamp); err != nil {
				yield(t, &harness.Problem{Path: h.path, Err: err})
				return
			}
			t.Key, t.Source = "rows:"+id, h.path+"#"+id
			if !yield(t, nil) {
				return
			}
		}
	}
}

func (h rowHarness) Tail(ctx context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		db, err := h.open()
		if err != nil {
			yield(transcript.Record{}, err)
			return
		}
		defer db.Close()
		rows, err := db.QueryContext(ctx, `SELECT id, body FROM message WHERE 'rows:' || conversation = ? ORDER BY position`, t.Key)
		if err != nil {
			yield(transcript.Record{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var id, body string
			if err := rows.Scan(&id, &body); err != nil {
				yield(transcript.Record{}, err)
				return
			}
			if !yield(transcript.Record{ID: id, Bytes: transcript.Wrap(id, []byte(body))}, nil) {
				return
			}
		}
	}
}

func (rowHarness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	var w struct {
		ID  string `json:"id"`
		Row struct{ Role, Text string }
	}
	if json.Unmarshal(record, &w) != nil || w.Row.Role == "" {
		return nil
	}
	s.CWD = "/home/dev/rows"
	return []transcript.Turn{{
		Len: len(record) - 1, NativeID: w.ID, Type: w.Row.Role, TS: "2026-01-01T00:00:00.000Z",
		Pieces: []transcript.Piece{{Text: []byte(w.Row.Text)}},
	}}
}

// state is what the archive holds of one conversation: its turns by turn_seq,
// with the row that each points at, and the newest state in order.
func (f *fixture) rowState(key string) (turns, order []string) {
	f.t.Helper()
	ctx := context.Background()
	db := f.reader()
	s, _, err := archive.Load(ctx, db, key)
	if err != nil {
		f.t.Fatal(err)
	}
	line := func(off, n int64) string {
		p, err := archive.ReadRange(ctx, db, s.No, off, n)
		if err != nil {
			f.t.Fatal(err)
		}
		var w struct{ Row struct{ Text string } }
		if err := json.Unmarshal(p, &w); err != nil {
			f.t.Fatalf("%q: %v", p, err)
		}
		return w.Row.Text
	}
	rows, err := db.QueryContext(ctx, `SELECT stream_offset, byte_len, in_current FROM turns WHERE id >> 24 = ? ORDER BY id`, s.No)
	if err != nil {
		f.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var off, n, current int64
		if err := rows.Scan(&off, &n, &current); err != nil {
			f.t.Fatal(err)
		}
		text := line(off, n)
		if current == 0 {
			text = "(" + text + ")"
		}
		turns = append(turns, text)
	}
	revisions, err := archive.Revisions(ctx, db, s.No)
	if err != nil {
		f.t.Fatal(err)
	}
	var now jsonLines
	if err := archive.WriteRevision(ctx, db, revisions[len(revisions)-1], &now); err != nil {
		f.t.Fatal(err)
	}
	return turns, now.texts(f.t)
}

type jsonLines struct{ p []byte }

func (j *jsonLines) Write(p []byte) (int, error) { j.p = append(j.p, p...); return len(p), nil }

func (j *jsonLines) texts(t *testing.T) []string {
	t.Helper()
	var out []string
	for dec := json.NewDecoder(newReader(j.p)); dec.More(); {
		var w struct{ Row struct{ Text string } }
		if err := dec.Decode(&w); err != nil {
			t.Fatal(err)
		}
		out = append(out, w.Row.Text)
	}
	return out
}

func TestRowsThatChangeVanishAndAppearKeepTheirTurns(t *testing.T) {
	f := newFixture(t)
	h := rowHarness{path: filepath.Join(t.TempDir(), "agent.db")}
	f.harnesses = []harness.Harness{h}
	// The agent's own connection stays open: what it writes stands in its WAL.
	agent, err := sql.Open("sqlite", "file:"+h.path+"?_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	agent.SetMaxOpenConns(1)
	do := func(stmt string) {
		t.Helper()
		if _, err := agent.Exec(stmt); err != nil {
			t.Fatal(err)
		}
	}
	body := func(text string) string { return fmt.Sprintf(`json_object('role', 'user', 'text', '%s')`, text) }
	do(`CREATE TABLE message(id TEXT, conversation TEXT, position REAL, body TEXT)`)
	for i, text := range []string{"one", "two", "three"} {
		do(fmt.Sprintf(`INSERT INTO message VALUES ('m%d', 'a', %d, %s)`, i+1, i+1, body(text)))
	}
	do(`INSERT INTO message VALUES ('x1', 'b', 1, ` + body("other") + `)`)

	steps := []struct {
		name      string
		change    string
		turns     []string // by turn_seq; in brackets what the newest state lacks
		order     []string
		revisions int
		added     int64
	}{
		{"first", ``, []string{"one", "two", "three"}, []string{"one", "two", "three"}, 1, 4},
		{"nothing new", ``, []string{"one", "two", "three"}, []string{"one", "two", "three"}, 1, 0},
		{
			"appended", `INSERT INTO message VALUES ('m4', 'a', 4, ` + body("four") + `)`,
			[]string{"one", "two", "three", "four"},
			[]string{"one", "two", "three", "four"},
			1, 1,
		},
		{
			"changed", `UPDATE message SET body = ` + body("TWO") + ` WHERE id = 'm2'`,
			[]string{"one", "TWO", "three", "four"},
			[]string{"one", "TWO", "three", "four"},
			2, 0,
		},
		{
			"deleted", `DELETE FROM message WHERE id = 'm3'`,
			[]string{"one", "TWO", "(three)", "four"},
			[]string{"one", "TWO", "four"},
			3, 0,
		},
		{
			"inserted between", `INSERT INTO message VALUES ('m5', 'a', 1.5, ` + body("between") + `)`,
			[]string{"one", "TWO", "(three)", "four", "between"},
			[]string{"one", "between", "TWO", "four"},
			4, 1,
		},
		{
			"reopened", `INSERT INTO message VALUES ('x2', 'b', 2, ` + body("again") + `)`,
			[]string{"one", "TWO", "(three)", "four", "between"},
			[]string{"one", "between", "TWO", "four"},
			4, 1,
		},
		{
			"back", `INSERT INTO message VALUES ('m3', 'a', 3, ` + body("three") + `)`,
			[]string{"one", "TWO", "three", "four", "between"},
			[]string{"one", "between", "TWO", "three", "four"},
			5, 0,
		},
	}
	for _, s := range steps {
		if s.change != "" {
			do(s.change)
		}
		res := f.pass()
		if res.TurnsAdded != s.added || len(res.Failures)+len(res.Unreadable) > 0 {
			t.Fatalf("%s: result %+v, want %d turns added", s.name, res, s.added)
		}
		turns, order := f.rowState("rows:a")
		if fmt.Sprint(turns) != fmt.Sprint(s.turns) || fmt.Sprint(order) != fmt.Sprint(s.order) {
			t.Fatalf("%s: turns %q, order %q; want %q and %q", s.name, turns, order, s.turns, s.order)
		}
		if got := f.count(`SELECT count(*) FROM revisions r JOIN sessions s USING (session_no) WHERE session_key = 'rows:a'`); got != s.revisions {
			t.Fatalf("%s: %d revisions, want %d", s.name, got, s.revisions)
		}
		before := f.dump()
		if again := f.pass(); again.FilesCommitted != 0 || again.TurnsAdded != 0 {
			t.Fatalf("%s: a second pass takes in %+v", s.name, again)
		}
		if after := f.dump(); after != before {
			t.Fatalf("%s: a second pass changes the store", s.name)
		}
		f.verifyClean(h)
	}
	if got := f.find("two"); got != 1 {
		t.Errorf("the changed word is found %d times, want once as TWO", got)
	}
	if got := f.find("again"); got != 1 {
		t.Errorf("a reopened conversation's new row is found %d times", got)
	}
}

func TestARowThatIsTooLongForARecordIsArchivedWhole(t *testing.T) {
	f := newFixture(t)
	h := rowHarness{path: filepath.Join(t.TempDir(), "agent.db")}
	f.harnesses = []harness.Harness{h}
	agent, err := sql.Open("sqlite", "file:"+h.path)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	if _, err := agent.Exec(`CREATE TABLE message(id TEXT, conversation TEXT, position REAL, body TEXT);
		INSERT INTO message VALUES ('m1', 'a', 1, json_object('role', 'user', 'text', hex(zeroblob(?))));
		INSERT INTO message VALUES ('m2', 'a', 2, json_object('role', 'user', 'text', 'merganser'))`, archive.MaxLine/2); err != nil {
		t.Fatal(err)
	}
	if res := f.pass(); res.TurnsAdded != 1 || len(res.Failures) > 0 {
		t.Fatalf("%+v", res)
	}
	if n := len(f.stream("rows:a")); n < archive.MaxLine {
		t.Errorf("%d bytes are archived", n)
	}
	if again := f.pass(); again.FilesCommitted != 0 {
		t.Errorf("a second pass takes in %+v", again)
	}
	f.reindex(h)
	if n := f.count(`SELECT count(*) FROM turns`); n != 1 || f.find("merganser") != 1 {
		t.Errorf("derived again there are %d turns", n)
	}
}
