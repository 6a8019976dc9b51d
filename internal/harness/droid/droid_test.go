package droid_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/droid"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestDroidKeepsWhatHarnessesPromise(t *testing.T) {
	harnesstest.Run(t, droid.Harness{}, harnesstest.Options{
		Absent: []string{"secretthought", "hooknoise", "contextnoise", "remindernoise", "settingsnoise", "notasecret"},
	})
}

func TestWhatAForkCopiedIsFoundOnceAndWhatItAddsAsWell(t *testing.T) {
	home := harnesstest.Open(t, droid.Harness{}, harnesstest.Options{})
	home.Pass()
	for word, want := range map[string]int{"pipistrelle": 1, "noctule": 1, "leisler": 1} {
		if n := home.Finds(word); n != want {
			t.Errorf("%q is found %d times, want %d", word, n, want)
		}
	}
}

// The first line is written anew when the title changes, and stands in the stream once more.
func TestANewTitleOfAForkHidesNothing(t *testing.T) {
	s := transcript.State{Key: "droid:x"}
	hidden := func(line string) bool {
		turns := droid.Harness{}.Turns([]byte(line+"\n"), &s)
		return len(turns) == 1 && turns[0].Unindexed
	}
	const start = `{"type":"session_start","id":"x","parent":"p","forkedAtMessageId":"m1","title":"t"}`
	const message = `{"type":"message","timestamp":"2026-03-08T10:00:00Z","message":{"role":"user","content":"a"},"id":`
	hidden(start)
	if !hidden(message+`"m0"}`) || !hidden(message+`"m1"}`) {
		t.Error("a copy is found")
	}
	hidden(start)
	if hidden(message + `"m2"}`) {
		t.Error("what the fork added is not found")
	}
	if s.ContinuesFrom != "p" || s.Own != "" {
		t.Errorf("continues %q, carried %q", s.ContinuesFrom, s.Own)
	}
}

func TestWhatAForkAddsIsFoundWhateverBecameOfTheMessageThatItNames(t *testing.T) {
	const start = `{"type":"session_start","id":"x","parent":"p","forkedAtMessageId":"m1"}`
	const dated = `{"type":"session_start","id":"x","parent":"p","forkedAtMessageId":"m1","timestamp":"2026-03-08T10:00:05Z"}`
	message := func(id, parent, second, content string) string {
		return `{"type":"message","id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-03-08T10:00:` + second +
			`Z","message":{"role":"user","content":"` + content + `"}}`
	}
	const hook = `{"type":"message","id":"m1","parentId":"m0","timestamp":"2026-03-08T10:00:02Z","message":{"role":"user","content":[],"hookEventName":"Stop"}}`
	for _, c := range []struct {
		name  string
		lines []string
		found string
	}{
		{"it says nothing", []string{start, message("m0", "", "01", "a"), hook, message("m2", "m0", "09", "new")}, "new"},
		{"it says nothing, and a title follows", []string{start, hook, start, message("m2", "m0", "09", "new")}, "new"},
		{"it is of a type that is no turn", []string{start, message("m0", "", "01", "a"), `{"type":"todo_state","id":"m1"}`, message("m2", "", "09", "new")}, "new"},
		{"it is torn, and answered", []string{start, message("m0", "", "01", "a"), `{"type":"message","id":"m1","mess`, message("m2", "m1", "09", "new")}, "new"},
		{"it is missing, and answered", []string{start, message("m0", "", "01", "a"), message("m2", "m1", "09", "new"), message("m3", "m2", "10", "more")}, "new more"},
		{"it is missing, and the fork tells its time", []string{dated, message("m0", "", "01", "a"), message("m2", "m0", "09", "new"), message("m3", "m2", "03", "more")}, "new more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := transcript.State{Key: "droid:x"}
			var found []string
			for _, line := range c.lines {
				for _, turn := range (droid.Harness{}).Turns([]byte(line+"\n"), &s) {
					if !turn.Unindexed {
						found = append(found, string(turn.Pieces[0].Text))
					}
				}
			}
			if got := strings.Join(found, " "); got != c.found {
				t.Errorf("%q is found, want %q", got, c.found)
			}
		})
	}
}

func TestAPathTellsKeyAndRoot(t *testing.T) {
	path := filepath.FromSlash("/h/.factory/sessions/-w-kiln/d1.jsonl")
	if got := (droid.Harness{}).KeyAt(path); got != "droid:d1" {
		t.Error(got)
	}
	if got := (droid.Harness{}).RootAt(path); filepath.ToSlash(got) != "/h/.factory/sessions" {
		t.Error(got)
	}
	if got := (droid.Harness{}).RootAt(filepath.FromSlash("/h/d1.jsonl")); got != "" {
		t.Error(got)
	}
}

func FuzzTurnsOfDroid(f *testing.F) {
	for _, seed := range []string{
		`{"type":"session_start","id":"x","parent":"p","forkedAtMessageId":"m1","title":"t","callingSessionId":"c"}`,
		`{"type":"message","id":"m","timestamp":"2026-03-08T10:00:00Z","message":{"role":"user","content":[{"type":"tool_result","content":"x\n[Process exited with code 3]"}]}}`,
		`{"type":"compaction_state","summaryText":"s","removedCount":3}{"type":"message"`,
	} {
		f.Add([]byte(seed+"\n"), "m1")
	}
	f.Fuzz(func(t *testing.T, record []byte, own string) {
		own = " " + own
		if len(own) > transcript.StateLimit {
			own = own[:transcript.StateLimit]
		}
		harnesstest.Check(t, droid.Harness{}, record, transcript.State{Key: "droid:x", Own: own})
	})
}
