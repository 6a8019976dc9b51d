// Package harnesstest holds every harness to the same properties, over a made-up home of its
// agent in its testdata. Use it from a package `x_test`: it imports all harnesses.
//
// testdata/<id>/home is what the agent leaves in a home directory of Linux. Of a file that
// ends with `.db.sql` or `.sqlite.sql` a database in WAL mode is made, of one that ends with
// `.zst.txt` a zstd frame. testdata/<id>/want.txt is every session and turn that is read of
// it; `go test -update` writes it anew.
package harnesstest

import (
	"bytes"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

var update = flag.Bool("update", false, "write want.txt anew")

// written is when every file of a made-up home was written last.
var written = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Options say what is peculiar about an agent.
type Options struct {
	// Variables are environment variables; {HOME} stands for the home directory.
	Variables map[string]string
	// Prepare, if not nil, completes a home that was copied.
	Prepare func(t *testing.T, home string)
	// Absent are words that stand in the store and are not to be found: what is no part of the
	// conversation, and what search would find twice.
	Absent []string
	// Mask, if not nil, takes out of want.txt what hangs on where the home is.
	Mask func(want string) string
	// PathKeys says that the session keys are paths, as those of Claude Code are.
	PathKeys bool
}

// A Home is a home directory with an agent's store, and an archive of it.
type Home struct {
	t       *testing.T
	h       harness.Harness
	Dir     string
	cfg     *config.Config
	environ config.Environ
}

// Open copies the made-up home of a harness.
func Open(t *testing.T, h harness.Harness, o Options) *Home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := &Home{t: t, h: h, Dir: filepath.Join(dir, "home")}
	home.copy(filepath.Join("testdata", h.ID(), "home"))
	if o.Prepare != nil {
		o.Prepare(t, home.Dir)
	}
	vars := map[string]string{
		"TERMINUS_DATA_DIR": filepath.Join(dir, "data"), "TERMINUS_CONFIG_DIR": filepath.Join(dir, "config"),
	}
	for name, value := range o.Variables {
		vars[name] = strings.ReplaceAll(value, "{HOME}", home.Dir)
	}
	home.environ = config.Environ{Get: func(name string) string { return vars[name] }, Home: home.Dir, WorkDir: home.Dir, GOOS: "linux"}
	home.Configure("")
	return home
}

// Configure reads a terminus.toml of that content.
func (home *Home) Configure(toml string) {
	home.t.Helper()
	dir := home.environ.Get("TERMINUS_CONFIG_DIR")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, config.FileName), []byte(toml), 0o600)
	}
	if err == nil {
		home.cfg, err = config.Load(home.environ)
	}
	if err != nil {
		home.t.Fatal(err)
	}
}

func (home *Home) copy(from string) {
	t := home.t
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(home.Dir, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		data = bytes.ReplaceAll(data, []byte("{HOME}"), []byte(filepath.ToSlash(home.Dir)))
		switch {
		case strings.HasSuffix(to, ".db.sql"), strings.HasSuffix(to, ".sqlite.sql"):
			to = strings.TrimSuffix(to, ".sql")
			Database(t, to, string(data))
		case strings.HasSuffix(to, ".zst.txt"):
			to = strings.TrimSuffix(to, ".txt")
			e, err := zstd.NewWriter(nil)
			if err != nil {
				return err
			}
			data = e.EncodeAll(data, nil)
			fallthrough
		default:
			if err := os.WriteFile(to, data, 0o600); err != nil {
				return err
			}
		}
		return os.Chtimes(to, written, written)
	})
	if err != nil {
		t.Fatalf("the made-up home of %s: %v", home.h.ID(), err)
	}
}

// Database makes a database in WAL mode by a script, or runs a script over one that is there,
// and closes it.
func Database(t *testing.T, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=journal_mode(wal)")
	if err == nil {
		_, err = db.Exec(script)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// Pass takes in what is new.
func (home *Home) Pass() ingest.Result {
	home.t.Helper()
	res, err := ingest.Run(context.Background(), ingest.Options{
		Config: home.cfg, Harnesses: []harness.Harness{home.h}, Now: time.Now,
	})
	if err != nil {
		home.t.Fatal(err)
	}
	return res
}

// Found lists what the harness discovers.
func (home *Home) Found() []harness.Transcript {
	home.t.Helper()
	var all []harness.Transcript
	for t, err := range home.h.Discover(context.Background(), home.env()) {
		if err != nil {
			home.t.Errorf("discovery: %v", err)
			continue
		}
		all = append(all, t)
	}
	return all
}

func (home *Home) env() harness.Env {
	return harness.Env{
		Roots: ingest.Roots(home.cfg, home.h), PathExcluded: home.cfg.Exclude.Covers, FolderExcluded: home.cfg.Exclude.Folder, Excluding: len(home.cfg.Exclude.List()) > 0,
	}
}

// Records gives the stream of a transcript, a line each, as a first pass makes it.
func (home *Home) Records(tr harness.Transcript) [][]byte {
	home.t.Helper()
	var all [][]byte
	if tr.Kind == harness.Rows {
		for rec, err := range home.h.Tail(context.Background(), tr) {
			if err != nil {
				home.t.Fatalf("%s: %v", tr.Key, err)
			}
			all = append(all, bytes.Clone(rec.Bytes))
		}
		return all
	}
	data, err := os.ReadFile(tr.Path)
	if err == nil && tr.Zstd {
		var d *zstd.Decoder
		if d, err = zstd.NewReader(nil); err == nil {
			data, err = d.DecodeAll(data, nil)
		}
	}
	if err != nil {
		home.t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		if bytes.HasSuffix(line, []byte("\n")) {
			all = append(all, line)
		}
	}
	return all
}

// DataDir is where the archive is.
func (home *Home) DataDir() string { return home.cfg.DataDir }

// Reader opens the archive.
func (home *Home) Reader() *store.DB {
	home.t.Helper()
	db, err := store.OpenReader(context.Background(), store.Path(home.cfg.DataDir))
	if err != nil {
		home.t.Fatal(err)
	}
	home.t.Cleanup(func() { _ = db.Close() })
	return db
}

// Rows runs a query over the archive and gives each row as text.
func (home *Home) Rows(query string, args ...any) []string {
	home.t.Helper()
	db := home.Reader()
	defer db.Close()
	rows, err := db.Query(query, args...)
	if err != nil {
		home.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var all []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			home.t.Fatal(err)
		}
		var parts []string
		for _, v := range values {
			parts = append(parts, fmt.Sprint(*v.(*any)))
		}
		all = append(all, strings.Join(parts, "|"))
	}
	return all
}

// Finds counts the turns that hold a word.
func (home *Home) Finds(word string) int {
	home.t.Helper()
	return len(home.Rows(`SELECT rowid FROM turns_fts WHERE turns_fts MATCH ?`, `"`+word+`"`))
}

// facts are what must be the same however often and in which way it is derived.
func (home *Home) facts() []string {
	return slices.Concat(
		home.Rows(`SELECT * FROM sessions ORDER BY session_no`),
		home.Rows(`SELECT session_key, session_id, turns, project, cwd, branch, parent_session_key, continues_from, stream_len, hex(checksum) FROM session_meta ORDER BY session_key`),
		home.Rows(`SELECT * FROM turns ORDER BY id`),
		home.Rows(`SELECT session_no, native_id, stream_offset, byte_len FROM line_index ORDER BY 1, 2`),
	)
}

// Verify fails the test where the archive is not whole.
func (home *Home) Verify() {
	home.t.Helper()
	report, err := ingest.Verify(context.Background(), home.cfg.DataDir, nil)
	if err != nil || len(report.Failures) > 0 {
		home.t.Errorf("verify: %v %v", report.Failures, err)
	}
}

// Stream is what the archive holds of a session.
func (home *Home) Stream(key string) []byte {
	home.t.Helper()
	db := home.Reader()
	defer db.Close()
	s, ok, err := archive.Load(context.Background(), db, key)
	if err != nil || !ok {
		home.t.Fatalf("session %s: %t, %v", key, ok, err)
	}
	data, err := archive.ReadRange(context.Background(), db, s.No, 0, s.Tail.StreamLen)
	if err != nil {
		home.t.Fatal(err)
	}
	return data
}

// Newest is the newest state of the transcript of a source.
func (home *Home) Newest(source string) []byte {
	home.t.Helper()
	db := home.Reader()
	defer db.Close()
	ctx := context.Background()
	mark, err := archive.LoadWatermark(ctx, db, source)
	var rev archive.Revision
	if err == nil {
		rev, err = archive.LoadRevision(ctx, db, mark.Revision)
	}
	var b bytes.Buffer
	if err == nil {
		err = archive.WriteRevision(ctx, db, rev, &b)
	}
	if err != nil {
		home.t.Fatalf("the newest state of %s: %v", source, err)
	}
	return b.Bytes()
}

// turnsOf reads records as a pass does.
func turnsOf(h harness.Harness, tr harness.Transcript, records [][]byte) (transcript.State, [][]transcript.Turn) {
	s := transcript.State{Key: tr.Key, CWD: tr.Dir}
	var all [][]transcript.Turn
	for _, r := range records {
		turns := h.Turns(r, &s)
		for i := range turns { // they alias the record, and may alias what the next call uses
			turns[i].Pieces = slices.Clone(turns[i].Pieces)
			for k := range turns[i].Pieces {
				turns[i].Pieces[k].Text = bytes.Clone(turns[i].Pieces[k].Text)
			}
		}
		all = append(all, turns)
	}
	return s, all
}

// files are the regular files of a home that belong to roots of the harness.
func (home *Home) files() []string {
	var all []string
	for _, root := range ingest.Roots(home.cfg, home.h) {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				all = append(all, path)
			}
			return nil
		})
	}
	slices.Sort(all)
	return slices.Compact(all)
}
