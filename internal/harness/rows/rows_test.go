package rows_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // what is read is a real database

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shown is every record, one a line.
func shown(t *testing.T, documents ...rows.Document) string {
	t.Helper()
	var b strings.Builder
	for rec, err := range rows.Records(documents...) {
		if err != nil {
			t.Fatal(err)
		}
		id, row := rows.Read(rec.Bytes)
		if id != rec.ID {
			t.Errorf("the id %q is read as %q", rec.ID, id)
		}
		fmt.Fprintf(&b, "%s=%s\n", id, []byte(row))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestADocumentBecomesItsHeadAndItsMessages(t *testing.T) {
	tests := []struct {
		name, content string
		d             rows.Document
		want          string
	}{
		{
			"a list of messages", `{"title":"x","messages":[{"id":"a","n":1},{"id":"b"}],"z":[1]}`,
			rows.Document{List: "messages", ID: "id"},
			`document={"title":"x","messages":[],"z":[1]}` + "\n" + `a={"id":"a","n":1}` + "\n" + `b={"id":"b"}`,
		},
		{
			"ids that are numbers, come again, or lack", `{"m":[{"id":7},{"id":7},{},{"id":"document"},4]}`,
			rows.Document{List: "m", ID: "id"},
			`document={"m":[]}` + "\n" + `7={"id":7}` + "\n" + `#1={"id":7}` + "\n" + `#2={}` + "\n" + `#3={"id":"document"}` + "\n" + `#4=4`,
		},
		{
			"the document is the list", ` [{"role":"user"},{"role":"assistant"}] `,
			rows.Document{Name: "api"},
			`api/#0={"role":"user"}` + "\n" + `api/#1={"role":"assistant"}`,
		},
		{"no list", `{"a":1}`, rows.Document{}, `document={"a":1}`},
		{"a list of another type", `{"m":"text"}`, rows.Document{List: "m"}, `document={"m":"text"}`},
		{"a missing list", `{"a":1}`, rows.Document{List: "m"}, `document={"a":1}`},
		{"a mark of the order of bytes", "\xef\xbb\xbf{}", rows.Document{}, `document={}`},
		{"newlines between tokens", "{\"m\":[\n{\"a\":\n1}\n]}", rows.Document{List: "m"}, `document={"m":[]}` + "\n" + `#0={"a": 1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.d.Path = write(t, "d.json", tt.content)
			if got := shown(t, tt.d); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestADocumentThatIsTornOrMissing(t *testing.T) {
	good := write(t, "good.json", `{"a":1}`)
	none := filepath.Join(t.TempDir(), "none.json")
	if got := shown(t, rows.Document{Path: none, Optional: true}, rows.Document{Path: good}); got != `document={"a":1}` {
		t.Error(got)
	}
	for name, path := range map[string]string{"torn": write(t, "torn.json", `{"m":[{"a":1},`), "empty": write(t, "e.json", ""), "missing": none} {
		n := 0
		for _, err := range rows.Records(rows.Document{Path: path, List: "m"}, rows.Document{Path: good}) {
			n++
			if err == nil {
				t.Errorf("%s: a record", name)
			}
			if missing := errors.Is(err, fs.ErrNotExist); missing != (name == "missing") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d records or errors", name, n)
		}
	}
}

func TestAStampTellsThatAFileChanged(t *testing.T) {
	path := write(t, "a", "1")
	before := rows.Stamp(path, path+"-none")
	if before != rows.Stamp(path, path+"-none") {
		t.Error("two looks differ")
	}
	if err := os.WriteFile(path+"-none", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if before == rows.Stamp(path, path+"-none") {
		t.Error("a file that came to be is not seen")
	}
}

func database(t *testing.T, script string) *rows.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	w, err := sql.Open("sqlite", "file:"+path)
	if err == nil {
		_, err = w.Exec(script)
		_ = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := rows.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestARowIsAnObjectThatSaysAllThatStandsInIt(t *testing.T) {
	db := database(t, `CREATE TABLE m(i INTEGER, r REAL, t TEXT, j TEXT, bad TEXT, b BLOB, n, big INTEGER, d DATETIME, u TEXT);
		INSERT INTO m VALUES(7, 1.5, 'a "quoted"
line', '{"k":[1]}', '{torn', x'00ff', NULL, 9007199254740993, '2026-03-01 10:00:00', CAST(x'ff41' AS TEXT))`)
	var got []byte
	err := db.Each(context.Background(), func(r rows.Row) bool {
		got = r.JSON("j", "bad")
		if r.Text("t") != "a \"quoted\"\nline" || r.Text("i") != "7" || r.Text("n") != "" || r.Text("none") != "" || string(r.Bytes("b")) != "\x00\xff" || r.Bytes("n") != nil {
			t.Errorf("%q %q %q %q", r.Text("t"), r.Text("i"), r.Bytes("b"), r.Bytes("n"))
		}
		return true
	}, `SELECT i, r, t, j, bad, b, n, big, +d AS d, u FROM m`)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"i":7,"r":1.5,"t":"a \"quoted\"\nline","j":{"k":[1]},"bad":"{torn","b":{"base64":"AP8="},"n":null,"big":9007199254740993,"d":"2026-03-01 10:00:00","u":{"base64":"/0E="}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, ok := transcript.ParseValue(got); !ok {
		t.Error("it is no JSON")
	}
}

func TestTheFormOfADatabaseIsAsked(t *testing.T) {
	db := database(t, `CREATE TABLE m(id, text)`)
	ctx := context.Background()
	for _, tt := range []struct {
		table   string
		columns []string
		want    bool
	}{{"m", []string{"id", "text"}, true}, {"m", []string{"id", "other"}, false}, {"none", []string{"id"}, false}} {
		if got, err := db.Has(ctx, tt.table, tt.columns...); got != tt.want || err != nil {
			t.Errorf("%s %v: %t %v", tt.table, tt.columns, got, err)
		}
	}
	var p *harness.Problem
	if err := db.Each(ctx, func(rows.Row) bool { return true }, `SELECT * FROM none`); !errors.As(err, &p) {
		t.Errorf("error %v", err)
	}
	if err := db.Changed("table none"); !errors.As(err, &p) || !strings.Contains(err.Error(), "there is no table none") {
		t.Errorf("error %v", err)
	}
}

func TestADatabaseThatIsNotThereIsNone(t *testing.T) {
	if db, err := rows.Open(context.Background(), filepath.Join(t.TempDir(), "none.db")); db != nil || err != nil {
		t.Errorf("%v %v", db, err)
	}
	path := write(t, "a.db", "no database, but a text of more than a hundred bytes, which is as long as the header of one is, or longer")
	_, err := rows.Open(context.Background(), path)
	if want := path + ": it is not a SQLite database"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// FuzzRecords: whatever a document holds, its records are lines of one JSON value, and what was
// taken out of the head is what the records hold.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"m":[{"id":"a"},2],"x":"\n"}`))
	f.Add([]byte(`[[],{}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "d.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for rec, err := range rows.Records(rows.Document{Path: path, List: "m", ID: "id"}) {
			if err != nil {
				return
			}
			id, row := rows.Read(rec.Bytes)
			if ids[rec.ID] || row == nil || strings.Count(string(rec.Bytes), "\n") != 1 {
				t.Fatalf("record %q: %q", rec.ID, rec.Bytes)
			}
			if got, ok := transcript.WrappedID(rec.Bytes); !ok || got != id {
				t.Fatalf("the id %q is %q in the stream", got, id)
			}
			ids[rec.ID] = true
		}
	})
}

func TestWhatIsNoTableIsNone(t *testing.T) {
	db := database(t, `CREATE VIEW endless AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT n AS id FROM x;
		CREATE VIRTUAL TABLE made USING fts5(id); CREATE TABLE Real(id)`)
	for table, want := range map[string]bool{"endless": false, "made": false, "real": true} {
		if ok, err := db.Has(context.Background(), table, "id"); ok != want || err != nil {
			t.Errorf("%s: %t, %v", table, ok, err)
		}
	}
}

func TestAValueThatIsTooLongCostsOnlyItself(t *testing.T) {
	db := database(t, `CREATE TABLE m(id PRIMARY KEY, data TEXT);
		INSERT INTO m VALUES(2, '{"a":1}'), (1, CAST(zeroblob(70000000) AS TEXT)), (3, '{"a":3}')`)
	all, err := db.All(context.Background(), []string{"data"}, `SELECT 'm' AS "table", ? AS given, m.* FROM m WHERE id < ? ORDER BY id`, 7, 9)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, k := range all {
		got += string(k.Object) + "\n"
	}
	want := `{"table":"m","given":7,"id":1,"data":"(70000000 bytes: too long to be archived)"}
{"table":"m","given":7,"id":2,"data":{"a":1}}
{"table":"m","given":7,"id":3,"data":{"a":3}}
`
	if got != want {
		t.Errorf("got\n%.500s\nwant\n%s", got, want)
	}
}

func TestAColumnThatIsComputedTakesNoMemory(t *testing.T) {
	db := database(t, `CREATE TABLE m(id, boom TEXT GENERATED ALWAYS AS (hex(zeroblob(40000000))) VIRTUAL); INSERT INTO m VALUES(1)`)
	if _, err := db.All(context.Background(), nil, `SELECT * FROM m`); err == nil {
		t.Error("a value of 80 MB was read")
	}
}
