package testscripts

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const formatPage = "../docs/format.md"

// A stranger with python3 and zstd reads back what the binary archived, by
// docs/format.md alone: the script that stands there is what runs here.
func TestTheFormatPageReadsEveryByteBack(t *testing.T) {
	for _, name := range []string{"python3", "zstd"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed: the page's promise is not tested on this machine", name)
		}
	}
	a := newFormatArchive(t)
	a.build()
	script := filepath.Join(t.TempDir(), "unpack.py")
	if err := os.WriteFile(script, []byte(codeBlock(t, formatPage, "python")), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	python := exec.Command("python3", script, a.store(), out)
	var stderr bytes.Buffer
	python.Stderr = &stderr
	list, err := python.Output()
	if err != nil {
		t.Fatalf("the page's script fails: %v\n%s%s", err, list, &stderr)
	}
	for line := range bytes.Lines(list) {
		var about struct {
			File, Source string
			N, Version   int
			Newest       bool
		}
		if err := json.Unmarshal(line, &about); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		id := formatID{about.Source, about.N, about.Version}
		want, ok := a.want[id]
		if !ok {
			t.Errorf("unexpected: %s", line)
			continue
		}
		delete(a.want, id)
		got, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(about.File)))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%v comes back as %d bytes that differ from the %d original ones", id, len(got), len(want))
		}
		if newest := about.N > 0 && about.N == a.newest[about.Source]; newest != about.Newest {
			t.Errorf("%v: newest is %v", id, about.Newest)
		}
	}
	for id := range a.want {
		t.Errorf("%v does not come back", id)
	}
}

// A formatID names a state of a transcript (n from 1) or a version of a
// companion (version from 1).
type formatID struct {
	source     string
	n, version int
}

// A formatArchive is a home with transcripts of every kind that the format
// tells apart, and what must come back of them.
type formatArchive struct {
	t      *testing.T
	home   string
	want   map[formatID][]byte
	newest map[string]int
}

func newFormatArchive(t *testing.T) *formatArchive {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &formatArchive{t: t, home: home, want: map[formatID][]byte{}, newest: map[string]int{}}
}

func (a *formatArchive) store() string { return filepath.Join(dataDir(a.home), "terminus.db") }

// write makes a file below the projects folder as it is at the next pass. Its
// last write was an hour and more ago if it is quiet.
func (a *formatArchive) write(name string, content []byte, quiet bool) string {
	a.t.Helper()
	path := filepath.Join(a.home, ".claude", "projects", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		a.t.Fatal(err)
	}
	if quiet {
		then := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(path, then, then); err != nil {
			a.t.Fatal(err)
		}
	}
	return path
}

// state notes that a transcript's n-th state must come back as these bytes.
func (a *formatArchive) state(path string, n int, content []byte) {
	a.want[formatID{source: path, n: n}] = content
	a.newest[path] = max(n, a.newest[path])
}

func (a *formatArchive) version(path string, version int, content []byte) {
	a.want[formatID{source: path, version: version}] = content
}

func (a *formatArchive) pass() { mustRun(a.t, a.home, "ingest") }

func (a *formatArchive) build() {
	const (
		live, sealed = "-work-app/11111111-1111-4111-8111-111111111111", "-work-app/22222222-2222-4222-8222-222222222222"
		rewritten    = "-work-app/33333333-3333-4333-8333-333333333333"
		copied       = "-work-copy/33333333-3333-4333-8333-333333333333"
	)
	head := records(0, 30)
	odd := slices.Concat(head, []byte("\r\n\n\x00\x00\xff\xfe not UTF-8\n"), records(30, 31))
	huge := slices.Concat(records(100, 3000), record(7, strings.Repeat("long ", 300_000)), records(3000, 6000))
	first, second := records(0, 40), slices.Concat(records(0, 10), records(90, 92), records(20, 30))
	spilled := []byte(strings.Repeat("output of a tool\n", 320_000)) // more than one part

	a.write(live+".jsonl", slices.Concat(head, []byte(`{"torn":`)), false)
	a.write(rewritten+".jsonl", first, false)
	quiet := a.write(sealed+".jsonl", huge, true)
	output := a.write(sealed+"/tool-results/toolu_1.txt", []byte("first version\n"), true)
	empty := a.write(sealed+"/tool-results/empty.txt", nil, true)
	a.pass()
	grown := a.write(live+".jsonl", odd, false)
	a.write(rewritten+".jsonl", second, false)
	duplicate := a.write(copied+".jsonl", records(0, 50), false)
	a.write(sealed+"/tool-results/toolu_1.txt", spilled, true)
	a.pass()
	changed := a.write(rewritten+".jsonl", nil, false)
	a.pass()

	a.state(grown, 1, odd)
	a.state(quiet, 1, huge)
	a.state(changed, 1, first)
	a.state(changed, 2, second)
	a.state(changed, 3, nil)
	a.state(duplicate, 1, records(0, 50))
	a.version(output, 1, []byte("first version\n"))
	a.version(output, 2, spilled)
	a.version(empty, 1, nil)

	db := readOnly(a.t, a.store())
	for what, query := range map[string]string{
		"raw rows of the live session":      `SELECT count(*) > 1 FROM blocks WHERE session_no = 0 AND codec = 0`,
		"full blocks of the sealed session": `SELECT min(codec) = 1 AND count(*) > 3 FROM blocks WHERE session_no = 1`,
		"a state of several extents":        `SELECT count(*) > 1 FROM extents WHERE revision = (SELECT id FROM revisions WHERE cause = 'changed' AND file_len > 0)`,
		"a copy":                            `SELECT count(*) = 1 FROM revisions WHERE cause = 'copy'`,
		"a companion of several parts":      `SELECT max(n) > 0 FROM companion_parts`,
		"transcript_path is a source":       `SELECT count(*) = 0 FROM session_meta WHERE transcript_path NOT IN (SELECT source FROM watermarks)`,
	} {
		if got := strs(a.t, db, query); len(got) != 1 || got[0] != "1" {
			a.t.Fatalf("the archive lacks %s", what)
		}
	}
}

func record(n int, text string) []byte {
	return fmt.Appendf(nil, `{"type":"user","uuid":"10000000-0000-4000-8000-%012d","parentUuid":null,"timestamp":"2026-08-12T20:59:00.000Z","cwd":"/work/app","message":{"role":"user","content":"%s"}}`+"\n", n, text)
}

// records are the lines of the numbers from a up to b.
func records(a, b int) []byte {
	var out []byte
	for n := a; n < b; n++ {
		out = append(out, record(n, fmt.Sprintf("line %d: %s", n, strings.Repeat(fmt.Sprint(n*n), 60)))...)
	}
	return out
}

func readOnly(t *testing.T, store string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(store)}).EscapedPath()+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// codeBlock is the one block of a page in that language.
func codeBlock(t *testing.T, page, language string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n```"+language+"\n")
	block, after, closed := strings.Cut(rest, "\n```\n")
	if !ok || !closed || strings.Contains(after, "\n```"+language+"\n") {
		t.Fatalf("%s has no single block of %s", page, language)
	}
	return block + "\n"
}

var (
	tableHeading = regexp.MustCompile("^### `([a-z_]+)`$")
	quotedName   = regexp.MustCompile("`([a-z_]+)`")
)

func TestTheFormatPageNamesEveryTableAndColumn(t *testing.T) {
	h := t.TempDir()
	mustRun(t, h, "ingest")
	db := readOnly(t, filepath.Join(dataDir(h), "terminus.db"))
	have := map[string][]string{}
	for _, table := range strs(t, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'turns\_fts\_%' ESCAPE '\'
		AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`) {
		have[table] = strs(t, db, fmt.Sprintf(`SELECT name FROM pragma_table_info('%s') ORDER BY cid`, table))
	}
	have["turns_fts"] = nil // its one column stands in the text

	described := map[string][]string{}
	f, err := os.Open(formatPage)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if m := tableHeading.FindStringSubmatch(line); m != nil {
			table = m[1]
			described[table] = nil
		} else if strings.HasPrefix(line, "#") {
			table = ""
		}
		if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok && table != "" && strings.HasPrefix(line, "| `") {
			for _, m := range quotedName.FindAllStringSubmatch(cell, -1) {
				described[table] = append(described[table], m[1])
			}
		}
	}
	for name, columns := range have {
		got, ok := described[name]
		slices.Sort(columns)
		slices.Sort(got)
		if !ok {
			t.Errorf("the page does not describe %s", name)
		} else if !slices.Equal(got, columns) {
			t.Errorf("%s has the columns\n%q, the page describes\n%q", name, columns, got)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("the page describes %s, which there is none of", name)
	}
}
