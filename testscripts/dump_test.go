package testscripts

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // stores are dumped as they stand, without the code under test
)

// notDumped are the columns that tell when something was done; two runs over
// the same input differ in nothing else.
var notDumped = map[string]bool{
	"runs.*": true, "revisions.made_at": true, "companions.seen_at": true, "watermarks.updated_at": true,
	"watermarks.checked_at": true,
	// Their ids depend on the order in which values were met; dump shows them joined.
	"entity_values.*": true, "entities.*": true,
	// A pass notes the facts of so many sessions at most: two passes note more.
	"observations.*": true, "session_meta.unobserved": true,
}

// dump renders every archival and derived table of a store, row by row in a
// fixed order, the words of the search index included.
func dump(t testing.TB, store string) []string {
	t.Helper()
	// A copy: the dump needs a table of its own, and must not disturb the store.
	dir := t.TempDir()
	for _, suffix := range []string{"", "-wal"} {
		if p, err := os.ReadFile(store + suffix); err == nil {
			if err := os.WriteFile(filepath.Join(dir, "copy.db"+suffix), p, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.Join(dir, "copy.db")}).EscapedPath())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var out []string
	strs(t, db, `DELETE FROM meta WHERE key = 'last_snapshot_at'`) // a time, too
	for _, table := range strs(t, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'turns_fts%'
		AND name NOT LIKE 'sqlite_%' ORDER BY name`) {
		if notDumped[table+".*"] {
			continue
		}
		var columns []string
		for _, c := range strs(t, db, fmt.Sprintf(`SELECT name FROM pragma_table_info('%s')`, table)) {
			if !notDumped[table+"."+c] {
				columns = append(columns, fmt.Sprintf("quote(%s)", c))
			}
		}
		rows := strs(t, db, fmt.Sprintf(`SELECT %s FROM %s`, strings.Join(columns, "||'|'||"), table))
		sort.Strings(rows)
		for _, r := range rows {
			out = append(out, table+": "+r)
		}
	}
	for _, r := range strs(t, db, `SELECT e.turn || '|' || v.kind || '|' || quote(v.value) FROM entities e
		JOIN entity_values v ON v.id = e.value ORDER BY e.turn, v.kind, v.value`) {
		out = append(out, "entities: "+r)
	}
	if _, err := db.Exec(`CREATE VIRTUAL TABLE words USING fts5vocab(turns_fts, instance)`); err != nil {
		t.Fatal(err)
	}
	for _, r := range strs(t, db, `SELECT term || ' ' || doc || ' ' || offset FROM words ORDER BY 1`) {
		out = append(out, "turns_fts: "+r)
	}
	return out
}

func strs(t testing.TB, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

// differ reports where two dumps part.
func differ(t testing.TB, what string, got, want []string) {
	t.Helper()
	for i := 0; i < len(got) || i < len(want); i++ {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("%s: row %d of %d (undisturbed %d) is\n%.400s\nwithout the disturbance it is\n%.400s", what, i, len(got), len(want), g, w)
		}
	}
}
