package ingest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/observe"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// recorded is when the records of the fixture were written.
var recorded = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// alter changes the store behind the program's back.
func (f *fixture) alter(stmt string) {
	f.t.Helper()
	db, err := sql.Open("sqlite", "file:"+store.Path(f.cfg.DataDir))
	if err != nil {
		f.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(stmt); err != nil {
		f.t.Fatalf("%s: %v", stmt, err)
	}
}

// Sessions that cannot be read are tried after all others, so that they never keep
// those waiting.
func TestAPassObservesAHundredSessionsAndTheUnreadableOnesLast(t *testing.T) {
	const readable, damaged = 150, 3
	f := newFixture(t)
	for i := range readable + damaged {
		f.write(fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", i), user(i, "hello"))
	}
	f.now = recorded.Add(time.Hour)
	f.pass()
	if n := f.count(`SELECT count(*) FROM session_meta WHERE is_final IS NOT NULL`) + f.count(`SELECT count(*) FROM observations`); n > 0 {
		t.Fatalf("after an hour %d sessions are closed or observed", n)
	}
	f.alter(fmt.Sprintf(`UPDATE blocks SET hash = zeroblob(32) WHERE session_no < %d`, damaged))

	f.now = recorded.Add(24 * time.Hour)
	for i, want := range []struct{ observed, unreadable, waiting int }{
		{97, 3, 53}, {150, 3, 0}, {150, 3, 0},
	} {
		res := f.pass()
		unreadable, waiting := 0, 0
		for _, note := range res.Notes {
			if strings.HasPrefix(note, "not observed: ") {
				unreadable++
			} else if _, err := fmt.Sscanf(note, "sessions that are finished and wait for the next pass to observe them: %d", &waiting); err != nil {
				t.Errorf("pass %d notes %q", i, note)
			}
		}
		if observed := f.count(`SELECT count(*) FROM observations`); observed != want.observed || unreadable != want.unreadable || waiting != want.waiting {
			t.Errorf("after pass %d %d are observed, %d unreadable, %d wait; want %+v", i, observed, unreadable, waiting, want)
		}
	}
	if n := f.count(`SELECT count(*) FROM observations JOIN sessions USING (session_key) WHERE session_no < ?`, damaged); n > 0 {
		t.Errorf("%d unreadable sessions have a row", n)
	}
}

func TestABackfillAndAPassOverOneTranscriptCloseNothing(t *testing.T) {
	f := newFixture(t)
	path := f.write("a.jsonl", user(1, "hello"))
	o := f.options()
	o.Backfill = true
	if _, err := Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	o = f.options()
	o.Path = path
	if _, err := Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if n := f.count(`SELECT count(*) FROM session_meta WHERE is_final IS NULL AND unobserved IS NULL`); n != 1 {
		t.Error("the session is closed")
	}
}

func TestAnObservationGoesWithASessionThatIsRenamed(t *testing.T) {
	const key = "aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x1.jsonl"
	f := newFixture(t)
	path := f.write("agent-x1.jsonl", user(0, "one"))
	f.pass()
	if n := f.count(`SELECT count(*) FROM observations WHERE session_key = ?`, canonical(t, path)); n != 1 {
		t.Fatalf("%d observations", n)
	}
	if err := os.MkdirAll(filepath.Dir(f.path(key)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, f.path(key)); err != nil {
		t.Fatal(err)
	}
	f.pass()
	if n := f.count(`SELECT count(*) FROM observations WHERE session_key = ?`, key); n != 1 {
		t.Error("the observation is lost")
	}
}

// shellRows is a rowHarness whose texts are commands.
type shellRows struct{ rowHarness }

func (h shellRows) Turns(record []byte, s *transcript.State) []transcript.Turn {
	turns := h.rowHarness.Turns(record, s)
	for i := range turns {
		s.FirstTS, s.LastTS = turns[i].TS, turns[i].TS
		turns[i].Mentions = []transcript.Mention{
			{Origin: transcript.ToolName, Text: []byte("shell")},
			{Origin: transcript.ShellLine, Text: turns[i].Pieces[0].Text},
		}
	}
	return turns
}

func TestOfARowOnlyTheNewestStateIsAFact(t *testing.T) {
	f := newFixture(t)
	h := shellRows{rowHarness{path: filepath.Join(t.TempDir(), "agent.db")}}
	f.harnesses = []harness.Harness{h}
	agent, err := sql.Open("sqlite", "file:"+h.path)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	do := func(stmt string) {
		t.Helper()
		if _, err := agent.Exec(stmt); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE TABLE message(id TEXT, conversation TEXT, position REAL, body TEXT)`)
	do(`INSERT INTO message VALUES ('m1', 'a', 1, json_object('role', 'assistant', 'text', 'make te')),
		('m2', 'a', 2, json_object('role', 'assistant', 'text', 'ls'))`)
	f.now = time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)
	f.pass()
	do(`UPDATE message SET body = json_object('role', 'assistant', 'text', 'make test') WHERE id = 'm1'`)
	f.now = f.now.Add(24 * time.Hour)
	f.pass()
	var text string
	if err := f.reader().QueryRow(`SELECT mechanical FROM observations`).Scan(&text); err != nil {
		t.Fatal(err)
	}
	facts, ok := observe.Decode([]byte(text))
	if want := []string{"ls", "make test"}; !ok || !slices.Equal(facts.Commands, want) || facts.Turns != 2 {
		t.Errorf("%s; want the commands %q of 2 turns", text, want)
	}
}
