package testscripts

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/corpus"
)

// Whatever one row of the archive loses or gains, verify names the session, and
// the block where one is at fault; put back, the archive is whole again.
func TestEveryDamagedRowIsNamed(t *testing.T) {
	s := damageStore(t)
	before := dump(t, s.path)
	perSession := s.damages(t)
	rounds, total := 0, 0
	for _, list := range perSession {
		rounds, total = max(rounds, len(list)), total+len(list)
	}
	// Each round damages one row of every session: what is found of a session
	// can only come from its own row.
	for i := range rounds {
		var round []*rowDamage
		for _, key := range s.keys {
			if list := perSession[key]; i < len(list) {
				round = append(round, list[i])
			}
		}
		for _, d := range round {
			d.do(t, s)
		}
		report := s.verify(t)
		for _, d := range round {
			d.check(t, report)
			d.undo(t, s)
		}
		if n := len(round); len(report.sessions()) > n {
			t.Errorf("round %d: %d rows were damaged, and these sessions are named: %v", i, n, report.sessions())
		}
	}
	if report := s.verify(t); len(report.Failures) > 0 {
		t.Errorf("put back, it still says %v", report.Failures)
	}
	differ(t, "put back", dump(t, s.path), before)
	t.Logf("%d damaged rows of %d sessions", total, len(s.keys))
}

// A row that is gone leaves others without the row that they belong to: that is
// named, too, for the store as a whole.
func TestLostParentRowsAreNamed(t *testing.T) {
	s := damageStore(t)
	for _, table := range []string{"sessions", "revisions", "companions"} {
		d := &rowDamage{key: "terminus.db", what: "a row of " + table, table: table}
		var id int64
		if err := s.db.QueryRow(`SELECT max(rowid) FROM ` + table).Scan(&id); err != nil {
			t.Fatal(err)
		}
		d.rowid = fmt.Sprintf("rowid = %d", id)
		d.do(t, s)
		d.check(t, s.verify(t))
		d.undo(t, s)
	}
	if report := s.verify(t); len(report.Failures) > 0 {
		t.Errorf("put back, it still says %v", report.Failures)
	}
}

// damageStore makes an archive with something of everything: sessions of one
// block and of several, blocks that are compressed and blocks that are not yet,
// rewound and copied transcripts, companions of one part and of several.
func damageStore(t *testing.T) *damaged {
	t.Helper()
	root := filepath.Join(t.TempDir(), "claude")
	if _, err := corpus.Generate(root, corpus.Options{Seed: 11, Bytes: 2 << 20, Projects: 2}); err != nil {
		t.Fatal(err)
	}
	write := func(name string, lines ...string) {
		t.Helper()
		path := filepath.Join(root, "projects", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := func(i int) string { return fmt.Sprintf(recordForm, i, fmt.Sprintf("damage test, record %d", i)) }
	var long []string
	for i := range 12_000 {
		long = append(long, line(i))
	}
	const (
		rewound = "d0000000-0000-4000-8000-000000000001"
		large   = "d0000000-0000-4000-8000-000000000002"
		copied  = "d0000000-0000-4000-8000-000000000003"
	)
	write("-p/"+rewound+".jsonl", line(1), line(2), line(3), line(4))
	write("-p/"+large+".jsonl", long...)
	write("-p/"+large+"/tool-results/large.txt", strings.Repeat("output that a client spilled\n", 6<<20/29))
	write("-p/"+large+"/tool-results/small.txt", "small")
	write("-p/"+copied+".jsonl", line(1), line(2))
	write("-q/"+copied+".jsonl", line(1), line(3))
	h := home(t, root)
	mustRun(t, h, "ingest")
	write("-p/"+rewound+".jsonl", line(1), line(2), line(9))
	mustRun(t, h, "ingest")
	write("-p/"+rewound+".jsonl", line(4), line(1), line(9), line(3), line(10))
	write("-p/"+large+".jsonl", append(long, line(20_000))...)
	mustRun(t, h, "ingest")

	s := &damaged{home: h, path: filepath.Join(dataDir(h), "terminus.db")}
	if report := s.verify(t); len(report.Failures) > 0 {
		t.Fatalf("undamaged: %v", report.Failures)
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: s.path}).EscapedPath()+"?_pragma=foreign_keys(0)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	s.db = db
	s.keys = strs(t, db, `SELECT session_key FROM sessions ORDER BY session_no`)
	for query, least := range map[string]int{
		`SELECT count(*) FROM blocks WHERE codec = 0`:                                             2,
		`SELECT count(*) FROM blocks WHERE codec = 1`:                                             5,
		`SELECT max(n) FROM blocks`:                                                               2,
		`SELECT max(seq) FROM extents`:                                                            2,
		`SELECT max(n) FROM companion_parts`:                                                      1,
		`SELECT count(*) FROM revisions WHERE cause = 'changed'`:                                  2,
		`SELECT count(*) FROM revisions WHERE cause = 'copy'`:                                     1,
		`SELECT count(*) FROM session_meta WHERE settled_blocks > 0 AND length(settled_hash) > 0`: 1,
	} {
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil || n < least {
			t.Fatalf("the archive that is to be damaged has too little in it: %s: %d, %v", query, n, err)
		}
	}
	return s
}

type damaged struct {
	home, path string
	db         *sql.DB
	keys       []string // by session_no
}

// A rowDamage is one change of one row.
type rowDamage struct {
	key   string
	what  string
	block *int64 // the block that must be named; nil for any finding about the session

	table, column string
	rowid         string // a condition that holds for the one row
	change        func(old any) any
	old           any    // of column
	deleted       []any  // the whole row, where it is deleted
	columns       string // its columns
}

func (d *rowDamage) do(t *testing.T, s *damaged) {
	t.Helper()
	if d.change != nil {
		if err := s.db.QueryRow(fmt.Sprintf(`SELECT %s FROM %s WHERE %s`, d.column, d.table, d.rowid)).Scan(&d.old); err != nil {
			t.Fatalf("%s: %v", d.what, err)
		}
		d.old = stored(d.old)
		d.set(t, s, d.change(d.old))
		return
	}
	rows, err := s.db.Query(fmt.Sprintf(`SELECT * FROM %s WHERE %s`, d.table, d.rowid))
	if err != nil {
		t.Fatalf("%s: %v", d.what, err)
	}
	columns, _ := rows.Columns()
	d.columns, d.deleted = strings.Join(columns, ","), make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range into {
		into[i] = &d.deleted[i]
	}
	if !rows.Next() {
		t.Fatalf("%s: there is no such row", d.what)
	}
	if err := errors.Join(rows.Scan(into...), rows.Close()); err != nil {
		t.Fatalf("%s: %v", d.what, err)
	}
	for i, v := range d.deleted {
		d.deleted[i] = stored(v)
	}
	s.exec(t, fmt.Sprintf(`DELETE FROM %s WHERE %s`, d.table, d.rowid))
}

// stored is a value as it is to be written back: the driver reads an empty blob
// as nil, which it would write as null.
func stored(v any) any {
	if p, ok := v.([]byte); ok && p == nil {
		return []byte{}
	}
	return v
}

func (d *rowDamage) set(t *testing.T, s *damaged, value any) {
	t.Helper()
	s.exec(t, fmt.Sprintf(`UPDATE %s SET %s = ? WHERE %s`, d.table, d.column, d.rowid), value)
}

func (d *rowDamage) undo(t *testing.T, s *damaged) {
	t.Helper()
	if d.change != nil {
		d.set(t, s, d.old)
		return
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(d.deleted)), ",")
	s.exec(t, fmt.Sprintf(`INSERT INTO %s(%s) VALUES (%s)`, d.table, d.columns, marks), d.deleted...)
}

func (d *rowDamage) check(t *testing.T, r verified) {
	t.Helper()
	for _, f := range r.Failures {
		if f.SessionKey == d.key && f.Detail != "" && (d.block == nil || f.Block != nil && *f.Block == *d.block) {
			return
		}
	}
	t.Errorf("%s: not named among %v", d.what, r.Failures)
}

func (s *damaged) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	res, err := s.db.Exec(statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	if n, _ := res.RowsAffected(); n != 1 {
		t.Fatalf("%s: %d rows", statement, n)
	}
}

// flipped turns every bit of the byte in the middle of a blob.
func flipped(old any) any {
	p, ok := old.([]byte)
	if !ok || len(p) == 0 {
		return []byte{0}
	}
	p = bytes.Clone(p)
	p[len(p)/2] ^= 0xff
	return p
}

// flippedFirst and flippedLast do the same at its ends.
func flippedFirst(old any) any {
	p := bytes.Clone(old.([]byte))
	p[0] ^= 0xff
	return p
}

func flippedLast(old any) any {
	p := bytes.Clone(old.([]byte))
	p[len(p)-1] ^= 0xff
	return p
}

func more(old any) any { return old.(int64) + 1 }
func less(old any) any { return old.(int64) - 1 }

// otherCodec makes a raw block a compressed one, and the reverse.
func otherCodec(old any) any { return 1 - old.(int64) }

// rows runs a query for one session; each of its rows begins with a condition
// that holds for that row alone.
func (s *damaged) rows(t *testing.T, query string, no int64, take func(where string, n int64)) {
	t.Helper()
	rows, err := s.db.Query(query, no)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var where string
		var n int64
		if err := rows.Scan(&where, &n); err != nil {
			t.Fatal(err)
		}
		take(where, n)
	}
}

// turnsDamaged is how many turns of a session are damaged, spread over it.
const turnsDamaged = 6

// damages lists every damage of a row that there is to be, by session key.
func (s *damaged) damages(t *testing.T) map[string][]*rowDamage {
	t.Helper()
	all := map[string][]*rowDamage{}
	for no, key := range s.keys {
		add := func(block *int64, table, where, column string, change func(any) any) {
			all[key] = append(all[key], &rowDamage{
				key: key, what: fmt.Sprintf("%s: %s.%s of %s", key, table, column, where), block: block,
				table: table, rowid: where, column: column, change: change,
			})
		}
		each := func(query string, take func(where string, n int64)) { s.rows(t, query, int64(no), take) }
		each(`SELECT printf('session_no = %d AND n = %d', session_no, n), n FROM blocks WHERE session_no = ?`, func(where string, n int64) {
			for _, flip := range []func(any) any{flipped, flippedFirst, flippedLast} {
				add(&n, "blocks", where, "bytes", flip)
			}
			add(&n, "blocks", where, "hash", flipped)
			add(&n, "blocks", where, "byte_len", more)
			add(&n, "blocks", where, "byte_len", less)
			add(&n, "blocks", where, "stream_offset", more)
			add(&n, "blocks", where, "codec", otherCodec)
			add(nil, "blocks", where, "row", nil)
		})
		each(`SELECT printf('revision = %d AND seq = %d', revision, seq), seq FROM extents
			WHERE revision IN (SELECT id FROM revisions WHERE session_no = ?)`, func(where string, _ int64) {
			add(nil, "extents", where, "stream_offset", more)
			add(nil, "extents", where, "length", more)
			add(nil, "extents", where, "length", less)
			add(nil, "extents", where, "row", nil)
		})
		each(`SELECT printf('id = %d', id), id FROM revisions WHERE session_no = ?`, func(where string, _ int64) {
			add(nil, "revisions", where, "file_hash", flipped)
			add(nil, "revisions", where, "file_len", more)
		})
		each(`SELECT printf('id = %d', id), id FROM companions WHERE session_no = ?`, func(where string, _ int64) {
			add(nil, "companions", where, "hash", flipped)
			add(nil, "companions", where, "byte_len", more)
			add(nil, "companions", where, "byte_len", less)
		})
		each(`SELECT printf('companion = %d AND n = %d', companion, n), n FROM companion_parts
			WHERE companion IN (SELECT id FROM companions WHERE session_no = ?)`, func(where string, _ int64) {
			add(nil, "companion_parts", where, "bytes", flipped)
			add(nil, "companion_parts", where, "byte_len", more)
			add(nil, "companion_parts", where, "row", nil)
		})
		each(`SELECT printf('session_key = %Q', session_key), session_no FROM sessions WHERE session_no = ?`, func(where string, _ int64) {
			add(nil, "session_meta", where, "checksum", flipped)
			add(nil, "session_meta", where, "settled_hash", flipped)
			add(nil, "session_meta", where, "settled_blocks", more)
			add(nil, "session_meta", where, "stream_len", more)
			add(nil, "session_meta", where, "stream_len", less)
			add(nil, "session_meta", where, "row", nil)
			add(nil, "sessions", where, "harness", func(any) any { return "nobody" })
		})
		var turns []string
		each(`SELECT printf('id = %d', id), id FROM turns WHERE id >> 24 = ? ORDER BY id`, func(where string, _ int64) {
			turns = append(turns, where)
		})
		for i := range min(turnsDamaged, len(turns)) {
			where := turns[i*(len(turns)-1)/max(1, turnsDamaged-1)]
			add(nil, "turns", where, "stream_offset", more)
			add(nil, "turns", where, "byte_len", less)
			add(nil, "turns", where, "row", nil)
		}
	}
	return all
}

// A verified is the data of verify's document.
type verified struct {
	Checked  int
	Failures []struct {
		SessionKey string `json:"session_key"`
		Block      *int64
		Detail     string
	}
	ok     bool
	reason *string
}

func (v verified) sessions() []string {
	var keys []string
	for _, f := range v.Failures {
		if !slices.Contains(keys, f.SessionKey) {
			keys = append(keys, f.SessionKey)
		}
	}
	return keys
}

// verify runs the real binary and holds it to the contract: one document, an
// exit code that agrees with it, nothing on stderr.
func (s *damaged) verify(t *testing.T) verified {
	t.Helper()
	stdout, stderr, code := s.run(t, "verify", "--json")
	if stderr != "" {
		t.Errorf("stderr: %s", stderr)
	}
	var doc struct {
		Data   verified
		OK     bool
		Reason *string
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("the document: %v\n%.1000s", err, stdout)
	}
	doc.Data.ok, doc.Data.reason = doc.OK, doc.Reason
	if doc.OK != (code == 0) || doc.OK && len(doc.Data.Failures) > 0 || !doc.OK && doc.Reason == nil {
		t.Errorf("exit code %d with %.1000s", code, stdout)
	}
	return doc.Data
}

func (s *damaged) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs strings.Builder
	c := command(s.home, args...)
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), code
}

// pagesDamaged is how many pages of the database are damaged, one at a time.
const pagesDamaged = 40

// A page of the database that became garbage is found, or makes the store
// unusable with a reason; no command panics over it, and none is silent.
func TestEveryDamagedPageIsFound(t *testing.T) {
	s := damageStore(t)
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	const headerSize, sizeAt = 100, 16
	pageSize := int(binary.BigEndian.Uint16(whole[sizeAt:]))
	pages := len(whole) / pageSize
	free := freePages(whole, pageSize)
	for i := range pagesDamaged {
		page := i * pages / pagesDamaged
		if i < 12 {
			page = i // the schema and the roots of the tables
		}
		if free[page] {
			continue
		}
		bad := bytes.Clone(whole)
		from := page * pageSize
		if page == 0 {
			from += headerSize
		}
		for at := from; at < (page+1)*pageSize; at++ {
			bad[at] = byte(at*7 + i)
		}
		if err := os.WriteFile(s.path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if report := s.verify(t); report.ok {
			t.Errorf("page %d of %d: nothing is found", page+1, pages)
		}
		for _, args := range [][]string{
			{"status", "--json"},
			{"sessions", "--project", "*", "--json"},
			{"search", "--project", "*", "--json", "record"},
			{"show", "--project", "*", "--json", "0"},
			{"ingest"},
		} {
			stdout, stderr, code := s.run(t, args...)
			if code > 1 || strings.Contains(stderr, "internal error") || strings.Contains(stderr, "goroutine") {
				t.Errorf("page %d of %d: %s: exit code %d\n%s", page+1, pages, args[0], code, stderr)
			}
			if args[0] != "ingest" && !json.Valid([]byte(stdout)) {
				t.Errorf("page %d of %d: %s: no document: %.300q", page+1, pages, args[0], stdout)
			}
		}
		// Readers may have left files beside it that belong to the damaged state.
		for _, suffix := range []string{"-wal", "-shm"} {
			_ = os.Remove(s.path + suffix)
		}
	}
	// Cut short, and empty beyond its first page.
	for _, size := range []int{len(whole) / 2, pageSize, headerSize, 50} {
		if err := os.WriteFile(s.path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if report := s.verify(t); report.ok {
			t.Errorf("cut to %d bytes: nothing is found", size)
		}
	}
	if err := os.WriteFile(s.path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if report := s.verify(t); !report.ok {
		t.Errorf("put back: %v", report.Failures)
	}
}

// freePages are the pages, counted from 0, that no table uses and whose
// contents mean nothing.
func freePages(file []byte, pageSize int) map[int]bool {
	const firstTrunkAt = 32
	free := map[int]bool{}
	for trunk := binary.BigEndian.Uint32(file[firstTrunkAt:]); trunk != 0; {
		p := file[(int(trunk)-1)*pageSize:]
		n := int(binary.BigEndian.Uint32(p[4:]))
		for i := range n {
			free[int(binary.BigEndian.Uint32(p[8+4*i:]))-1] = true
		}
		trunk = binary.BigEndian.Uint32(p)
	}
	return free
}
