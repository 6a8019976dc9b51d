package gemini_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/gemini"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestGemini(t *testing.T) {
	harnesstest.Run(t, gemini.Harness{}, harnesstest.Options{Absent: []string{
		"wombatsurroundings", "thoughtmarmot", "injectedibex", "displayotter", "recalledsquirrel", "inwardweevil", "loggedlemur",
		"outputocelot", "supersededstoat", "checkpointchough", "shortened", "masked",
	}})
}

// what is a line that says of each turn its type, the id that it takes over, its span and text.
func what(turns []transcript.Turn, record string) string {
	var all []string
	for _, t := range turns {
		var texts []string
		for _, p := range t.Pieces {
			texts = append(texts, string(p.Text))
		}
		all = append(all, fmt.Sprintf("%s %s %q", t.Type, t.NativeID, strings.Join(texts, "/")))
		if t.Off+t.Len > len(record) || record[t.Off] != '{' || record[t.Off+t.Len-1] != '}' {
			all = append(all, "whose span is no object")
		}
	}
	return strings.Join(all, "; ")
}

func TestASnapshotGivesOnlyWhatWasNotSaid(t *testing.T) {
	s := transcript.State{Key: "gemini:x"}
	for _, c := range []struct{ line, want string }{
		{`{"sessionId":"x","projectHash":"h","messages":[{"id":"a","type":"user","content":"one"}]}`, `user a "one"`},
		{`{"id":"b","type":"gemini","content":"two"}`, `assistant b "two"`},
		{`{"id":"b","type":"gemini","content":"two and more"}`, `assistant b "two and more"`},
		{`{"$set":{"messages":[{"id":"a","type":"user","content":"cut"},{"id":"b","type":"gemini","content":""},{"id":"c","type":"user","content":"three"}]}}`, `user c "three"`},
		{`{"$rewindTo":"b"}`, ``},
		{`{"$set":{"messages":[]}}`, ``},
	} {
		turns := gemini.Harness{}.Turns([]byte(c.line+"\n"), &s)
		if got := what(turns, c.line); got != c.want {
			t.Errorf("%s gives %s, want %s", c.line, got, c.want)
		}
		for _, turn := range turns { // as it is read back: its span alone
			again := transcript.State{Key: "gemini:x"}
			span := c.line[turn.Off : turn.Off+turn.Len]
			if got := what(gemini.Harness{}.Turns([]byte(span), &again), span); !strings.Contains(c.want, got) || got == "" {
				t.Errorf("%s is read back as %q", span, got)
			}
		}
	}
	if s.Damaged != 0 {
		t.Errorf("%d lines are said to be damaged", s.Damaged)
	}
}

func TestWhatIsHandedOverWithAResultIsNotItsOwn(t *testing.T) {
	line := `{"id":"g","type":"gemini","content":"","toolCalls":[` +
		`{"id":"1","name":"a","args":{},"result":[{"functionResponse":{"id":"1","response":{"output":"first"}}},{"functionResponse":{"id":"2","response":{"output":"second"}}}]},` +
		`{"id":"2","name":"b","args":{},"result":[{"functionResponse":{"id":"1","response":{"output":"first"}}},{"functionResponse":{"id":"2","response":{"output":"second"}}}]}]}`
	s := transcript.State{}
	want := `assistant g "a/b"; user result:1 "first"; user result:2 "second"`
	if got := what(gemini.Harness{}.Turns([]byte(line), &s), line); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTheDirectoryOfASessionIsInItsContextWhereNothingElseTellsIt(t *testing.T) {
	line := `{"id":"c","type":"user","content":[{"text":"<session_context>\n- **Workspace Directories:**\n  - /srv/one\n  - /srv/two\n</session_context>"}]}`
	for told, want := range map[string]string{"": "/srv/one", "/srv/told": "/srv/told"} {
		s := transcript.State{CWD: told}
		gemini.Harness{}.Turns([]byte(line), &s)
		if s.CWD != want {
			t.Errorf("with %q told the directory is %q", told, s.CWD)
		}
	}
}

func FuzzTurnsOfGemini(f *testing.F) {
	for _, seed := range []string{
		`{"sessionId":"x","projectHash":"h","directories":["/d"],"messages":[{"id":"a","type":"user","content":["t",{"text":"u"}]}]}`,
		`{"$set":{"summary":"s","messages":[{"id":"a","timestamp":"2026-01-01T00:00:00Z","type":"gemini","content":[{"functionCall":{"name":"n","args":{}}}]}]}}`,
		`{"id":"a","type":"gemini","content":"","toolCalls":[{"id":"1","name":"run_shell_command","args":{"command":"x"},"status":"error","result":[{"functionResponse":{"id":"1","response":{"output":"<untrusted_context>\n{\"hits\":[],\"reason\":\"r\"}\n</untrusted_context>"}}}]}]}`,
		`{"id":"a","row":{"type":"user","content":"<hook_context>a</hook_context>b"}}`,
		`{"id":"document","row":{"sessionId":"x"}}`,
	} {
		f.Add([]byte(seed + "\n"))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		harnesstest.Check(t, gemini.Harness{}, record, transcript.State{Key: "gemini:x"})
	})
}
