package testscripts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/store"
)

// Whatever a real client wrote comes back byte for byte: transcripts and the
// files beside them. The clients' files are no part of this repository, so the
// test is given them: TERMINUS_CLIENT_STORE names one configuration directory
// of Claude Code (`make real-clients CLIENT_STORE=...`), TERMINUS_REAL_CLIENTS
// a directory of homes, each with a `.claude` of its own.
func TestRealClientStoresComeBackByteForByte(t *testing.T) {
	roots := clientRoots(t)
	if len(roots) == 0 {
		t.Skip("neither TERMINUS_CLIENT_STORE nor TERMINUS_REAL_CLIENTS names a client's files")
	}
	for _, root := range roots {
		t.Run(filepath.Base(filepath.Dir(root)), func(t *testing.T) {
			h := home(t, root)
			mustRun(t, h, "ingest")
			wantNoErrors(t, h)
			r := realStore{t: t, root: root, home: h, db: openStore(t, h)}
			r.everyFile()
			r.everyWord()
			r.nothingNew()
			if out := mustRun(t, h, "verify", "--json"); !strings.Contains(out, `"failures":[]`) {
				t.Errorf("verify: %s", out)
			}
		})
	}
}

func clientRoots(t *testing.T) []string {
	t.Helper()
	var roots []string
	if dir := os.Getenv("TERMINUS_CLIENT_STORE"); dir != "" {
		if !exists(filepath.Join(dir, "projects")) {
			t.Fatalf("%s holds no projects", dir)
		}
		roots = append(roots, dir)
	}
	if dir := os.Getenv("TERMINUS_REAL_CLIENTS"); dir != "" {
		found, err := filepath.Glob(filepath.Join(dir, "*", ".claude", "projects"))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Fatalf("%s holds no homes with .claude/projects", dir)
		}
		for _, p := range found {
			roots = append(roots, filepath.Dir(p))
		}
	}
	return roots
}

// archiveDir is where the archive of a home lies, also after it was moved.
func archiveDir(t testing.TB, h string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h, ".config", "terminus", config.PointerName))
	if errors.Is(err, fs.ErrNotExist) {
		return dataDir(h)
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\n")
}

// openStore opens the archive of a home for reading.
func openStore(t testing.TB, h string) *store.DB {
	t.Helper()
	db, err := store.OpenReader(context.Background(), store.Path(archiveDir(t, h)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

type realStore struct {
	t    *testing.T
	root string
	home string
	db   *store.DB

	transcripts map[string]string // session key by path
}

// everyFile compares every regular file below `projects` with what the archive
// gives back.
func (r *realStore) everyFile() {
	r.transcripts = map[string]string{}
	var count struct{ transcripts, companions, torn, bytes int }
	var left []string
	err := filepath.WalkDir(filepath.Join(resolved(r.root), "projects"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		back, ok, err := restore(r.db, path)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		case !ok:
			left = append(left, path)
			return nil
		case back.key != "":
			count.transcripts++
			r.transcripts[path] = back.key
			if len(whole(want)) < len(want) {
				count.torn++
				want = whole(want)
			}
		default:
			count.companions++
		}
		got := back.states[len(back.states)-1]
		count.bytes += len(got)
		if !bytes.Equal(got, want) {
			r.t.Errorf("%s comes back as %d other bytes; it has %d", path, len(got), len(want))
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, path := range left {
		if !belongsToNoSession(path) {
			r.t.Errorf("%s is not archived", path)
		} else {
			r.t.Logf("not archived, it belongs to no session: %s", path)
		}
	}
	r.t.Logf("%d transcripts and %d companions, %d bytes, come back; %d torn last lines; %d files belong to no session",
		count.transcripts, count.companions, count.bytes, count.torn, len(left))
}

// belongsToNoSession reports whether a file is none of a session's: what a
// project remembers, and a transcript in which nothing whole was written.
func belongsToNoSession(path string) bool {
	if strings.Contains(filepath.ToSlash(path), "/memory/") {
		return true
	}
	p, err := os.ReadFile(path)
	return err == nil && strings.HasSuffix(path, ".jsonl") && bytes.IndexByte(p, '\n') < 0
}

// clientMarkers are words that the scripts which drive the clients use once
// each, in prompts, answers, a subagent's task, a fork, and a summary.
var clientMarkers = []string{
	"zebra-quartz", "final-pelican-text", "delegated-ibis", "compacted-narwhal", "forked-badger", "resumed-magpie", "walrus-lantern",
}

// everyWord looks for the words of every prompt and every answer, and expects
// the session in which they were said.
func (r *realStore) everyWord() {
	said := r.said()
	reader, err := search.Open(context.Background(), &config.Config{DataDir: archiveDir(r.t, r.home), Exclude: config.NewExclusions("", nil)})
	if err != nil {
		r.t.Fatal(err)
	}
	defer reader.Close()
	texts, words := 0, 0
	for _, s := range said {
		for from := 0; from < len(s.words); from += wordsPerQuery {
			part := s.words[from:min(from+wordsPerQuery, len(s.words))]
			res, err := reader.Find(context.Background(), search.Query{
				Words: strings.Join(part, " "), Scope: search.Scope{Project: search.AllProjects}, Kind: s.kind, Limit: search.MaxLimit,
			})
			if err != nil {
				r.t.Fatalf("%q: %v", part, err)
			}
			words += len(part)
			if len(res.Hits) == search.MaxLimit {
				continue // said all over: which of them is shown is not the question here
			}
			if !slices.ContainsFunc(res.Hits, func(h search.Hit) bool { return h.SessionKey == s.key && h.TurnID == s.turn }) {
				r.t.Errorf("%s: turn %d is not found by its own words %q", s.key, s.turn, part)
			}
		}
		texts++
	}
	marked := 0
	for _, m := range clientMarkers {
		at := slices.IndexFunc(said, func(s utterance) bool { return strings.Contains(s.text, m) })
		if at < 0 {
			continue
		}
		marked++
		if out := mustRun(r.t, r.home, "search", "--project", "*", "--limit", "50", "--json", m); !strings.Contains(out, `"turn_id"`) {
			r.t.Errorf("%s, said in %s, is not found", m, said[at].key)
		}
	}
	r.t.Logf("%d prompts and answers found by their %d words, %d of %d marked words among them", texts, words, marked, len(clientMarkers))
}

// wordsPerQuery stays well below the number of terms that one query uses.
const wordsPerQuery = 12

// An utterance is what one user or assistant record says in plain text.
type utterance struct {
	key, kind, text string
	turn            int64
	words           []string
}

// said reads the transcripts with the standard library's decoder, none of the
// code under test, and looks up only the turn's number.
func (r *realStore) said() []utterance {
	var all []utterance
	for path, key := range r.transcripts {
		data, err := os.ReadFile(path)
		if err != nil {
			r.t.Fatal(err)
		}
		turn := int64(0)
		if err := r.db.QueryRow(`SELECT session_no << 24 FROM sessions WHERE session_key = ?`, key).Scan(&turn); err != nil {
			r.t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var rec struct {
				Type            string
				UUID, Timestamp *string
				Message         struct{ Content json.RawMessage }
			}
			if json.Unmarshal(line, &rec) != nil || rec.UUID == nil || rec.Timestamp == nil {
				continue
			}
			if !slices.Contains([]string{"user", "assistant", "system", "attachment"}, rec.Type) {
				continue
			}
			if text := plainText(rec.Message.Content); text != "" && (rec.Type == "user" || rec.Type == "assistant") {
				terms, _ := derive.Terms(text)
				all = append(all, utterance{key: key, kind: rec.Type, text: text, turn: turn, words: terms})
			}
			turn++
		}
	}
	return all
}

// plainText is a message's text: content that is a string, or its text blocks.
func plainText(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	for _, b := range blocks {
		if b.Type == "text" {
			s += b.Text + "\n"
		}
	}
	return s
}

// nothingNew makes a second pass and expects that it took in nothing.
func (r *realStore) nothingNew() {
	path := store.Path(archiveDir(r.t, r.home))
	before := dump(r.t, path)
	mustRun(r.t, r.home, "ingest")
	run := lastRun(r.t, r.home)
	if run.FilesCommitted != 0 || run.BytesRead != 0 || run.TurnsAdded != 0 || run.FilesSeen == 0 {
		r.t.Errorf("a second pass: %+v", run)
	}
	differ(r.t, "a second pass", dump(r.t, path), before)
}

// A passed is the last pass as status shows it.
type passed struct {
	FilesSeen      int64   `json:"files_seen"`
	FilesCommitted int64   `json:"files_committed"`
	FilesFailed    int64   `json:"files_failed"`
	BytesRead      int64   `json:"bytes_read"`
	TurnsAdded     int64   `json:"turns_added"`
	Error, Notes   *string `json:",omitempty"`
}

func (p passed) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func lastRun(t testing.TB, h string) passed {
	t.Helper()
	var doc struct {
		Data struct {
			LastRun *passed `json:"last_run"`
		}
	}
	out := mustRun(t, h, "status", "--json")
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Data.LastRun == nil {
		t.Fatalf("status: %v\n%s", err, out)
	}
	return *doc.Data.LastRun
}

func wantNoErrors(t testing.TB, h string) {
	t.Helper()
	if run := lastRun(t, h); run.Error != nil || run.Notes != nil || run.FilesFailed != 0 {
		t.Errorf("the pass says %s", fmt.Sprint(run))
	}
}
