package recall_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/store"
)

const work = "/work/app"

// A machine has a home with Claude Code's transcripts, and an archive of them.
type machine struct {
	t    testing.TB
	home string
	cfg  *config.Config
}

func newMachine(t testing.TB, exclude ...string) *machine {
	t.Helper()
	home := t.TempDir()
	cfg, err := config.Load(config.Environ{
		Get: func(name string) string {
			return map[string]string{"TERMINUS_DATA_DIR": filepath.Join(home, "data")}[name]
		},
		Home: home, WorkDir: home, GOOS: "linux",
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Exclude = config.NewExclusions(home, exclude)
	return &machine{t: t, home: home, cfg: cfg}
}

// sessionID is a session's id that begins with n.
func sessionID(n int) string { return fmt.Sprintf("%08d-1111-4111-8111-111111111111", n) }

func (m *machine) transcript(n int) string {
	return filepath.Join(m.home, ".claude", "projects", "-work-app", sessionID(n)+".jsonl")
}

// session puts records at the end of the transcript of session n, or of a
// subagent of it, and archives them.
func (m *machine) session(n int, records ...string) { m.append(m.transcript(n), records...) }

func (m *machine) subagent(n int, records ...string) {
	m.append(strings.TrimSuffix(m.transcript(n), ".jsonl")+"/subagents/agent-a1.jsonl", records...)
}

func (m *machine) append(path string, records ...string) {
	m.t.Helper()
	m.write(path, records...)
	m.ingest()
}

func (m *machine) write(path string, records ...string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		m.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(records, "\n") + "\n"); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) ingest() {
	m.t.Helper()
	res, err := ingest.Run(m.t.Context(), ingest.Options{Config: m.cfg, Now: time.Now})
	if err != nil || len(res.Failures) > 0 {
		m.t.Fatalf("ingest: %v, %v", err, res.Failures)
	}
}

func (m *machine) reader() *search.Reader {
	m.t.Helper()
	r, err := search.Open(m.t.Context(), m.cfg)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = r.Close() })
	return r
}

func (m *machine) brief() recall.Brief { return m.briefWithin(work, 6000) }

func (m *machine) briefWithin(dir string, budget int) recall.Brief {
	m.t.Helper()
	b, err := recall.MakeBrief(m.t.Context(), m.reader(), recall.BriefRequest{Dir: dir, Budget: budget})
	if err != nil {
		m.t.Fatal(err)
	}
	return b
}

// prompt looks up a prompt typed in session n.
func (m *machine) prompt(n int, text string, state recall.State) recall.Lookup {
	m.t.Helper()
	return m.ask(recall.LookupRequest{Transcript: m.transcript(n), Prompt: text, State: state})
}

func (m *machine) ask(q recall.LookupRequest) recall.Lookup {
	m.t.Helper()
	if q.Dir == "" {
		q.Dir = work
	}
	if q.Budget == 0 {
		q.Budget = 4000
	}
	if q.Limits == (recall.Limits{}) {
		q.Limits = recall.DefaultLimits
	}
	l, err := recall.LookUp(m.t.Context(), m.reader(), q)
	if err != nil {
		m.t.Fatal(err)
	}
	return l
}

// ids are the turns that were handed over.
func ids(l recall.Lookup) []int64 {
	var out []int64
	for _, x := range l.Injected {
		out = append(out, x.TurnID)
	}
	return out
}

// turn is the id of a turn of the n-th session that was archived.
func turn(session, seq int64) int64 { return session<<search.TurnBits | seq }

// A record of a transcript. Members override those of the usual frame.
type members map[string]any

var uuids int

func record(kind string, m members) string {
	uuids++
	all := members{
		"type": kind, "uuid": fmt.Sprintf("00000000-0000-4000-8000-%012d", uuids), "cwd": work,
		"timestamp": "2026-08-12T21:00:00.000Z",
	}
	for k, v := range m {
		all[k] = v
	}
	doc, err := json.Marshal(all)
	if err != nil {
		panic(err) // the values of the tests have a JSON form
	}
	return string(doc)
}

func with(m members, more ...members) members {
	for _, x := range more {
		for k, v := range x {
			m[k] = v
		}
	}
	return m
}

func typed(text string, more ...members) string {
	return record("user", with(members{"message": members{"role": "user", "content": text}}, more...))
}

func answer(text string, more ...members) string {
	return record("assistant", with(members{"message": members{"role": "assistant", "content": []members{{"type": "text", "text": text}}}}, more...))
}

// call is an assistant's call of a tool.
func call(tool string, input members, more ...members) string {
	return record("assistant", with(members{"message": members{"role": "assistant", "content": []members{
		{"type": "tool_use", "id": "t", "name": tool, "input": input},
	}}}, more...))
}

// result is what a tool answered about a file.
func result(text, path string, more ...members) string {
	return record("user", with(members{
		"message":       members{"role": "user", "content": []members{{"type": "tool_result", "tool_use_id": "t", "content": text}}},
		"toolUseResult": members{"filePath": path},
	}, more...))
}

func boundary(preserved ...string) string {
	about := members{"trigger": "auto"}
	if preserved != nil {
		about["preservedMessages"] = members{"uuids": preserved}
	}
	return record("system", members{"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": about})
}

func at(ts string) members { return members{"timestamp": ts} }

func uuid(n int) members { return members{"uuid": namedUUID(n)} }

func namedUUID(n int) string {
	return "aaaaaaaa-0000-4000-8000-" + fmt.Sprintf("%012s", strconv.Itoa(n))
}

// exec runs a statement on the store.
func (m *machine) exec(query string) {
	m.t.Helper()
	db, err := store.OpenWriter(m.t.Context(), m.cfg.DataDir)
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(m.t.Context(), query); err != nil {
		m.t.Fatal(err)
	}
}
