package derive

import (
	"bytes"
	"database/sql"
	"flag"
	"fmt"
	"go/format"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	_ "modernc.org/sqlite"
)

var update = flag.Bool("update", false, "write unicode61.go anew from the tokenizer")

// searchTable opens an FTS5 table as the store has it, and its vocabulary.
func searchTable(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	exec(t, db, `CREATE VIRTUAL TABLE f USING fts5(body, content='', contentless_delete=1, tokenize='unicode61')`)
	exec(t, db, `CREATE VIRTUAL TABLE v USING fts5vocab(f, instance)`)
	return db
}

func exec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

// tokenizer asks FTS5 for the fate of every code point above ASCII inside a
// word: fold[r] is the character that it becomes, and dropped those that
// vanish. In neither: it ends the word.
func tokenizer(t *testing.T) (fold map[rune]rune, dropped []rune) {
	db := searchTable(t)
	exec(t, db, `CREATE VIRTUAL TABLE words USING fts5vocab(f, row)`)
	const batch = 8192
	var text strings.Builder
	flush := func() {
		exec(t, db, `INSERT INTO f(body) VALUES (?)`, text.String())
		text.Reset()
	}
	exec(t, db, `BEGIN`)
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		fmt.Fprintf(&text, "q%06xz%cz ", r, r)
		if r%batch == 0 {
			flush()
		}
	}
	flush()
	exec(t, db, `COMMIT`)

	rows, err := db.Query(`SELECT term FROM words WHERE term LIKE 'q______z%' ORDER BY term`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	fold = map[rune]rune{}
	for rows.Next() {
		var term string
		if err := rows.Scan(&term); err != nil {
			t.Fatal(err)
		}
		code, err := strconv.ParseInt(term[1:7], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		switch rest := []rune(term[8:]); len(rest) {
		case 0:
		case 1:
			dropped = append(dropped, rune(code))
		default:
			fold[rune(code)] = rest[0]
		}
	}
	return fold, dropped
}

// tables renders unicode61.go.
func tables(fold map[rune]rune, dropped []rune) []byte {
	var ranges, folds [][2]rune
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		to, ok := fold[r]
		if !ok {
			continue
		}
		if n := len(ranges); n > 0 && ranges[n-1][1] == r-1 {
			ranges[n-1][1] = r
		} else {
			ranges = append(ranges, [2]rune{r, r})
		}
		if to != r && unicode.ToLower(r) == r {
			folds = append(folds, [2]rune{r, to})
		}
	}
	var b bytes.Buffer
	b.WriteString("package derive\n\n// Read off the tokenizer by TestTablesAreThoseOfTheTokenizer, which rewrites this\n// file with -update.\n")
	pairs := func(name, doc string, list [][2]rune) {
		fmt.Fprintf(&b, "\n// %s\nvar %s = [...][2]rune{", doc, name)
		for i, p := range list {
			if i%6 == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "{%#x, %#x}, ", p[0], p[1])
		}
		b.WriteString("\n}\n")
	}
	pairs("tokens", "tokens are the ranges above ASCII that are part of a word, in order.", ranges)
	pairs("folded", "folded are the lower-case characters that are indexed as another one, in order.", folds)
	b.WriteString("\n// foldedAway are the marks that leave a word without ending it, in order.\nvar foldedAway = [...]rune{")
	for i, r := range dropped {
		if i%12 == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%#x, ", r)
	}
	b.WriteString("\n}\n")
	src, err := format.Source(b.Bytes())
	if err != nil {
		panic(err)
	}
	return src
}

func TestTablesAreThoseOfTheTokenizer(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the tokenizer for a million code points")
	}
	want := tables(tokenizer(t))
	if *update {
		if err := os.WriteFile("unicode61.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("unicode61.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("unicode61.go differs from the tokenizer; run with -update and look at the difference: the search table is part of the archive format")
	}
}
