package rows_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/rows"
)

// made is the path of a database that a script made.
func made(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a#b.db") // the mark between path and id may stand in a path
	w, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(filepath.ToSlash(path), "#", "%23"))
	if err == nil {
		_, err = w.Exec(script)
		_ = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWithReadsADatabaseAndSaysWhetherThereIsOne(t *testing.T) {
	ctx := context.Background()
	never := func(*rows.DB) error { t.Error("it is read"); return nil }
	if found, err := rows.With(ctx, filepath.Join(t.TempDir(), "none.db"), never); found || err != nil {
		t.Errorf("of none: %t, %v", found, err)
	}
	text := write(t, "text.db", strings.Repeat("no database ", 100))
	if found, err := rows.With(ctx, text, func(db *rows.DB) error { _, err := db.Columns(ctx, "m"); return err }); err == nil {
		t.Errorf("of a text: %t, no error", found)
	}
	path, failed := made(t, `CREATE TABLE m(id)`), errors.New("what read says")
	if found, err := rows.With(ctx, path, func(*rows.DB) error { return failed }); !found || !errors.Is(err, failed) {
		t.Errorf("where reading fails: %t, %v", found, err)
	}
	if found, err := rows.With(ctx, path, func(*rows.DB) error { return nil }); !found || err != nil {
		t.Errorf("of a database: %t, %v", found, err)
	}
}

func TestATailGivesTheRecordsOfItsSessionUntilNobodyWantsMore(t *testing.T) {
	path := made(t, `CREATE TABLE m(s, id, n); INSERT INTO m VALUES ('one', 'a', 1), ('two', 'b', 2), ('one', 'c', 3), ('x#y', 'd', 4)`)
	var asked int
	var ended error
	read := func(db *rows.DB, session string, give rows.Give) error {
		found, err := db.All(context.Background(), nil, `SELECT id, n FROM m WHERE s = ? ORDER BY id`, session)
		if err != nil {
			return err
		}
		for _, r := range found {
			asked++
			if err := give(r.Text("id"), r.Object); err != nil {
				ended = err
				return err
			}
		}
		return nil
	}
	tail := func(session string, most int) (got []string) {
		asked, ended = 0, nil
		for rec, err := range rows.Tail(context.Background(), harness.Transcript{Path: path, Source: path + "#" + session}, read) {
			if err != nil {
				t.Errorf("%s: %v", session, err)
			}
			_, row := rows.Read(rec.Bytes)
			if got = append(got, rec.ID+string(row)); len(got) == most {
				break
			}
		}
		return got
	}
	for _, tt := range []struct {
		session string
		most    int
		want    []string
	}{
		{"one", 9, []string{`a{"id":"a","n":1}`, `c{"id":"c","n":3}`}},
		{"x#y", 9, []string{`d{"id":"d","n":4}`}},
		{"none", 9, nil},
		{"one", 1, []string{`a{"id":"a","n":1}`}},
	} {
		if got := tail(tt.session, tt.most); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.session, got, tt.want)
		}
		if asked != len(tt.want) || (ended != nil) != (tt.most == 1) {
			t.Errorf("%s: %d records were given, and giving ended with %v", tt.session, asked, ended)
		}
	}
}

func TestATailThatFailsSaysSoOnceAndLast(t *testing.T) {
	path := made(t, `CREATE TABLE m(id)`)
	failed := errors.New("what read says")
	half := func(_ *rows.DB, _ string, give rows.Give) error {
		return errors.Join(give("a", []byte(`1`)), failed)
	}
	for _, tt := range []struct {
		name, path string
		records    int
		want       error
	}{
		{"reading fails behind a record", path, 1, failed},
		{"the database has gone", path + "-none", 0, fs.ErrNotExist},
	} {
		t.Run(tt.name, func(t *testing.T) {
			records, problems := 0, 0
			for _, err := range rows.Tail(context.Background(), harness.Transcript{Path: tt.path, Source: tt.path + "#s"}, half) {
				if err == nil {
					records++
					continue
				}
				problems++
				if !errors.Is(err, tt.want) {
					t.Error(err)
				}
			}
			if records != tt.records || problems != 1 {
				t.Errorf("%d records and %d errors, want %d and 1", records, problems, tt.records)
			}
			if _, err := os.Stat(tt.path); tt.records == 0 && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it was made: %v", err)
			}
		})
	}
}

func TestAllKeepsWhatStoodInEachRow(t *testing.T) {
	db := database(t, `CREATE TABLE m(id, data TEXT, raw BLOB); INSERT INTO m VALUES (1, '{"k":[1]}', x'00ff'), (2, '{torn', NULL)`)
	all, err := db.All(context.Background(), []string{"data"}, `SELECT * FROM m ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range all { // the first is looked at after the last was read
		got = append(got, r.Text("id")+" "+r.Text("data")+" "+string(r.Bytes("raw"))+" "+string(r.Object))
	}
	want := []string{
		`1 {"k":[1]} ` + "\x00\xff" + ` {"id":1,"data":{"k":[1]},"raw":{"base64":"AP8="}}`,
		`2 {torn  {"id":2,"data":"{torn","raw":null}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if _, err := db.All(context.Background(), nil, `SELECT none FROM m`); err == nil {
		t.Error("a query of no such column is no error")
	}
}

func TestSelectNamesTheColumnsButSome(t *testing.T) {
	db := database(t, `CREATE TABLE m(id, "or""der", big, "a b"); INSERT INTO m VALUES (1, 2, 3, 4)`)
	ctx := context.Background()
	got, err := db.Select(ctx, "x", "m", "big", "none")
	if want := `x."id", x."or""der", x."a b"`; err != nil || got != want {
		t.Fatalf("%s, %v, want %s", got, err, want)
	}
	all, err := db.All(ctx, nil, `SELECT `+got+` FROM m x`)
	if err != nil || len(all) != 1 || string(all[0].Object) != `{"id":1,"or\"der":2,"a b":4}` {
		t.Errorf("%s %v", all, err)
	}
	if got, err := db.Select(ctx, "x", "none"); err != nil || got != "" {
		t.Errorf("of no such table %q, %v", got, err)
	}
}
