package testscripts

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/corpus"
	"github.com/terminus-archive/terminus/internal/feedback"
)

// erasure is a store of which retention deletes the oldest sessions: their
// transcripts are gone, and each says a word that no other session says.
type erasure struct {
	t    *testing.T
	home string
	db   string
}

const (
	eraseSessions = 120
	eraseRecords  = 24
	wordLen       = 18 // letters and digits after the first
	wordHead      = 8  // what two words may have in common
	erasePaths    = 4  // that a record names
	// eraseEvery is of how many sessions one is deleted: the rows of those that
	// stay lie between theirs.
	eraseEvery = 3
	// eraseKills is how many kills the everyday run makes.
	eraseKills = 4
)

// word is that of a session. The index leaves out of a word what it has in common
// with the one before it: what follows the first letters is unlike any other's.
func (e *erasure) word(n int) string {
	return fmt.Sprintf("w%x", sha256.Sum256([]byte(fmt.Sprint("session ", n))))[:1+wordLen]
}

func (e *erasure) deleted(n int) bool { return n%eraseEvery == 1 }

func (e *erasure) transcript(n int) string {
	return filepath.Join(e.home, ".claude", "projects", "-work-"+e.word(n), corpus.UUID(e.word(n))+".jsonl")
}

// newErasure archives the sessions, closes them, and takes the transcripts away.
func newErasure(t *testing.T) *erasure {
	t.Helper()
	e := &erasure{t: t, home: t.TempDir()}
	e.db = filepath.Join(dataDir(e.home), "terminus.db")
	r := rand.New(rand.NewPCG(3, 4))
	for n := range eraseSessions {
		e.write(n, r)
	}
	e.ingest("2026-08-12T22:00:00Z")
	for n := range eraseSessions {
		id := corpus.UUID(e.word(n))
		if _, err := feedback.Save(dataDir(e.home), feedback.Decision{
			SessionID: id, AtMS: int64(n), CWD: "/work/" + e.word(n), Prompt: "what of " + e.word(n), Spellings: []string{e.word(n)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	e.ingest("2026-08-14T22:00:00Z")
	for n := range eraseSessions {
		if e.deleted(n) {
			e.check(os.RemoveAll(filepath.Dir(e.transcript(n))))
		}
	}
	dir := filepath.Join(e.home, ".config", "terminus")
	e.check(os.MkdirAll(dir, 0o700))
	rule := "[retention]\naction = \"delete\"\nage_days = 30\n[snapshot]\nenabled = false\n"
	e.check(os.WriteFile(filepath.Join(dir, "terminus.toml"), []byte(rule), 0o600))
	return e
}

// write makes a session that says its word in a prompt, in what a tool printed, in
// the paths that tools name, and in a file beside the transcript.
func (e *erasure) write(n int, r *rand.Rand) {
	word, path := e.word(n), e.transcript(n)
	id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	var b bytes.Buffer
	line := func(i int, kind string, content any) {
		said, err := json.Marshal(content)
		e.check(err)
		fmt.Fprintf(&b, `{"type":%q,"uuid":%q,"timestamp":"2026-08-12T20:59:00.000Z","sessionId":%q,"cwd":%q,"gitBranch":%q,"message":{"role":%q,"content":%s}}`+"\n",
			kind, corpus.UUID(fmt.Sprint(word, i)), id, "/work/"+word, word, kind, said)
	}
	for i := range eraseRecords {
		switch i % 3 {
		case 0:
			line(i, "user", fmt.Sprintf("%s asks %x", word, r.Uint64()))
		case 1:
			var uses []any
			for k := range erasePaths {
				uses = append(uses, map[string]any{
					"type": "tool_use", "id": fmt.Sprint("t", i, k), "name": "Read",
					"input": map[string]any{"file_path": fmt.Sprintf("/src/%04d/%s/%s%x.go", r.IntN(5000), word, strings.Repeat("p", r.IntN(150)), r.Uint64())},
				})
			}
			line(i, "assistant", uses)
		default:
			line(i, "user", []any{map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprint("t", i-1, 0), "content": "printed " + word}})
		}
	}
	beside := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "tool-results", word+".txt")
	e.check(os.MkdirAll(filepath.Dir(beside), 0o700))
	e.check(os.WriteFile(path, b.Bytes(), 0o600))
	e.check(os.WriteFile(beside, []byte("beside "+word), 0o600))
}

func (e *erasure) check(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// deletion is when the sessions are due, and a pass deletes them.
const deletion = "2026-10-01T00:00:00Z"

func (e *erasure) ingest(now string) {
	e.t.Helper()
	c := command(e.home, "ingest")
	c.Env = append(c.Env, "TERMINUS_TEST_NOW="+now)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		e.t.Fatalf("ingest: %v\n%s", err, out)
	}
}

func (e *erasure) open() *sql.DB {
	e.t.Helper()
	db, err := sql.Open("sqlite", "file:"+e.db+"?mode=ro")
	e.check(err)
	db.SetMaxOpenConns(1)
	e.t.Cleanup(func() { _ = db.Close() })
	return db
}

func (e *erasure) value(query string) string {
	e.t.Helper()
	db := e.open()
	defer db.Close()
	var v sql.NullString
	if err := db.QueryRow(query).Scan(&v); err != nil && err != sql.ErrNoRows {
		e.t.Fatal(err)
	}
	return v.String
}

// frames are the beginnings of the compressed bytes, by the word of the session:
// what is compressed holds no word.
func (e *erasure) frames() map[string][][]byte {
	e.t.Helper()
	db := e.open()
	defer db.Close()
	rows, err := db.Query(`SELECT m.branch, substr(b.bytes, 20, 64) FROM blocks b JOIN sessions s USING (session_no) JOIN session_meta m USING (session_key)
		UNION ALL SELECT m.branch, substr(p.bytes, 5, 20) FROM companion_parts p JOIN companions c ON c.id = p.companion
		JOIN sessions s USING (session_no) JOIN session_meta m USING (session_key)`)
	e.check(err)
	defer rows.Close()
	out := map[string][][]byte{}
	for rows.Next() {
		var word string
		var frame []byte
		e.check(rows.Scan(&word, &frame))
		out[word] = append(out[word], frame)
	}
	e.check(rows.Err())
	return out
}

// left counts the places in the files at which anything of the sessions that are
// deleted stands, and of how many of the others something stands.
func (e *erasure) left(frames map[string][][]byte, files ...string) (deleted map[string]int, kept int) {
	e.t.Helper()
	deleted = map[string]int{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue
		}
		e.check(err)
		for n := range eraseSessions {
			word := e.word(n)
			places := bytes.Count(data, []byte(word[wordHead:]))
			for _, frame := range frames[word] {
				places += bytes.Count(data, frame)
			}
			switch {
			case places == 0:
			case e.deleted(n):
				deleted[filepath.Base(name)] += places
			default:
				kept++
			}
		}
	}
	return deleted, kept
}

func (e *erasure) files() []string { return []string{e.db, e.db + "-wal", e.db + "-shm"} }

// clean holds the files of the store, and a copy made now, to hold nothing of the
// deleted sessions, and all others.
func (e *erasure) clean(frames map[string][][]byte) {
	e.t.Helper()
	copied := filepath.Join(e.t.TempDir(), "copy.db")
	db := e.open()
	if _, err := db.Exec("VACUUM INTO '" + copied + "'"); err != nil {
		e.t.Fatal(err)
	}
	_ = db.Close()
	for _, files := range [][]string{e.files(), {copied}} {
		deleted, kept := e.left(frames, files...)
		if len(deleted) > 0 {
			e.t.Errorf("of deleted sessions something is left: %v", deleted)
		}
		if want := eraseSessions - eraseSessions/eraseEvery; kept != want {
			e.t.Errorf("%d sessions are still there, want %d", kept, want)
		}
	}
	if pending := e.value(`SELECT value FROM meta WHERE key = 'erase_pending'`); pending != "" {
		e.t.Errorf("a purge is still owed: %s", pending)
	}
	mustRun(e.t, e.home, "verify")
}

// After the pass that deletes sessions, no file of the store holds a word of
// theirs, and no byte of their compressed rows.
func TestWhatIsDeletedIsInNoFile(t *testing.T) {
	t.Parallel()
	e := newErasure(t)
	frames := e.frames()
	before, kept := e.left(frames, e.db)
	if before["terminus.db"] < 1000 || kept == 0 {
		t.Fatalf("before the deletion the store holds %v of the sessions that are to go", before)
	}
	e.ingest(deletion)
	if got := e.value(`SELECT count(*) FROM sessions`); got != fmt.Sprint(eraseSessions-eraseSessions/eraseEvery) {
		t.Fatalf("%s sessions are left", got)
	}
	e.clean(frames)
	// What stays is found, and what went is not.
	if out := mustRun(t, e.home, "search", "--project", "*", "--limit", "1", "--json", e.word(0)); !strings.Contains(out, "turn_id") {
		t.Errorf("a session that stays is not found: %s", out)
	}
	if out := mustRun(t, e.home, "search", "--project", "*", "--json", e.word(1)); strings.Contains(out, "turn_id") {
		t.Errorf("a deleted session is found: %s", out)
	}
}

// A pass that is killed while it deletes or erases leaves a note, and the next
// pass finishes it.
func TestAKilledErasureIsFinished(t *testing.T) {
	t.Parallel()
	kills := eraseKills
	if s := os.Getenv("TERMINUS_CRASH_KILLS"); s != "" {
		if _, err := fmt.Sscan(s, &kills); err != nil {
			t.Fatal(err)
		}
	}
	e := newErasure(t)
	frames := e.frames()
	var before [][]byte
	for _, name := range e.files() {
		data, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		before = append(before, data)
	}
	again := func() {
		for i, name := range e.files() {
			_ = os.Remove(name)
			if before[i] != nil {
				e.check(os.WriteFile(name, before[i], 0o600))
			}
		}
	}
	start := time.Now()
	e.ingest(deletion)
	whole := time.Since(start)
	want := dump(t, e.db)
	r := rand.New(rand.NewPCG(5, uint64(kills)))
	interrupted := 0
	for i := range kills {
		again()
		c := command(e.home, "ingest")
		c.Env = append(c.Env, "TERMINUS_TEST_NOW="+deletion)
		e.check(c.Start())
		time.Sleep(time.Duration(r.Int64N(int64(whole))))
		_ = c.Process.Kill()
		_ = c.Wait()
		if e.value(`SELECT value FROM meta WHERE key = 'erase_pending'`) != "" {
			interrupted++
		}
		e.ingest(deletion)
		e.clean(frames)
		differ(t, fmt.Sprintf("kill %d", i), dump(t, e.db), want)
	}
	t.Logf("%d of %d kills met a purge that was owed", interrupted, kills)
}

// A reader of an earlier state keeps the log, and so the words in it: the pass
// says so, and the next one goes on.
func TestAReaderDelaysAnErasureAndThePassSaysSo(t *testing.T) {
	t.Parallel()
	e := newErasure(t)
	frames := e.frames()
	reader := e.open()
	tx, err := reader.Begin()
	e.check(err)
	var n int
	e.check(tx.QueryRow(`SELECT count(*) FROM sessions`).Scan(&n))
	e.ingest(deletion)
	const want = "words of deleted sessions are still in the log of the store, because it is being read: the next pass goes on"
	if notes := e.value(`SELECT notes FROM runs ORDER BY id DESC LIMIT 1`); !strings.Contains(notes, want) {
		t.Errorf("the pass says %q", notes)
	}
	if e.value(`SELECT value FROM meta WHERE key = 'erase_pending'`) == "" {
		t.Error("nothing tells that a purge is owed")
	}
	if left, _ := e.left(frames, e.files()...); len(left) == 0 {
		t.Error("the reader was in nobody's way")
	}
	e.check(tx.Rollback())
	e.check(reader.Close())
	e.ingest(deletion)
	e.clean(frames)
}
