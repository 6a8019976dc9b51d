package gemini_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/gemini"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/ingest"
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

func TestALongSnapshotSaysNothingAgain(t *testing.T) {
	const said, added = 1000, 3
	message := func(i int, text string) string {
		return fmt.Sprintf(`{"id":"m%d","type":"user","content":%q}`, i, text)
	}
	s := transcript.State{Key: "gemini:x"}
	var all []string
	for i := range said {
		gemini.Harness{}.Turns([]byte(message(i, "whole")+"\n"), &s)
		all = append(all, message(i, "cut"))
	}
	for i := range added {
		all = append(all, message(said+i, "new"))
	}
	line := `{"$set":{"messages":[` + strings.Join(all, ",") + `]}}`
	want := `user m1000 "new"; user m1001 "new"; user m1002 "new"`
	if got := what(gemini.Harness{}.Turns([]byte(line), &s), line); got != want {
		t.Errorf("it gives %.200s, want %s", got, want)
	}
	// A summary stands above what is known.
	line = `{"$set":{"messages":[{"id":"sum","type":"user","content":"<state_snapshot>s"},` + strings.Join(all[500:], ",") + `]}}`
	if got := what(gemini.Harness{}.Turns([]byte(line), &s), line); got != `user sum "<state_snapshot>s"` {
		t.Errorf("the summary gives %.200s", got)
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

func TestASessionInTwoFilesWhoseMessagesAreWrittenAgainIsOne(t *testing.T) {
	home := harnesstest.Open(t, gemini.Harness{}, harnesstest.Options{})
	home.Pass()
	got := home.Rows(`SELECT turns, cwd, told_cwd FROM session_meta WHERE session_key LIKE 'gemini:6f0e1d2c%'`)
	dir := home.Dir + "/src/shop"
	if want := "17|" + dir + "|" + dir; len(got) != 1 || got[0] != want {
		t.Errorf("the session is %q, want %q", got, want)
	}
	for word, want := range map[string]int{"answeraxolotl": 1, "flourflamingo": 0, "promptpelican": 1, "resumedrook": 1, "turnip": 2} {
		if n := home.Finds(word); n != want {
			t.Errorf("%q is found %d times, want %d", word, n, want)
		}
	}
}

// A newer version goes on with a session of an older one in a file of lines beside the document.
func TestADocumentThatBecomesAFileOfLinesStaysOneSession(t *testing.T) {
	home := harnesstest.Open(t, gemini.Harness{}, harnesstest.Options{})
	home.Pass()
	paths, err := filepath.Glob(filepath.Join(home.Dir, ".gemini", "tmp", "*", "chats", "*aaaa1111.json"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	lines := `{"sessionId":"aaaa1111-0000-4000-8000-000000000001","projectHash":"h"}
{"id":"m1","timestamp":"2026-02-03T10:00:30.000Z","type":"user","content":"moor the boat, oldowl"}
{"id":"m2","timestamp":"2026-02-03T10:00:31.000Z","type":"gemini","content":"Moored, mooredmoose."}
{"id":"m4","timestamp":"2026-02-03T11:00:00.000Z","type":"user","content":"and cast off, newnuthatch"}
`
	if err := os.WriteFile(paths[0]+"l", []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	home.Pass()
	if err := os.Remove(paths[0]); err != nil {
		t.Fatal(err)
	}
	home.Pass()
	for word, want := range map[string]int{"oldowl": 1, "mooredmoose": 1, "knotnewt": 1, "quotaquail": 1, "newnuthatch": 1} {
		if n := home.Finds(word); n != want {
			t.Errorf("%q is found %d times, want %d", word, n, want)
		}
	}
	home.Verify()
	before := home.Rows(`SELECT * FROM turns ORDER BY id`)
	if _, err := ingest.Reindex(context.Background(), ingest.ReindexOptions{DataDir: home.DataDir()}); err != nil {
		t.Fatal(err)
	}
	if after := home.Rows(`SELECT * FROM turns ORDER BY id`); !slices.Equal(after, before) {
		t.Errorf("derived again the turns are\n%q\nthey were\n%q", after, before)
	}
	home.Verify()
}

// A file named after its session before the first line is whole would be another session after.
func TestAFileWhoseFirstLineIsBeingWrittenIsLeftOut(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "tmp", "p", "chats")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, content, want string }{
		{"session-1.jsonl", ``, ""},
		{"session-1.jsonl", `{"sessi`, ""},
		{"session-1.jsonl", `{"sessionId":"x"`, "gemini:x"},
		{"session-1.jsonl", `{"sessi` + "\n", "gemini:session-1"},
		{"session-2.json", `{"messages":[]}`, "gemini:session-2"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		got := ""
		for found, err := range (gemini.Harness{}).Discover(t.Context(), harness.Env{Roots: []string{root}}) {
			if err != nil {
				t.Fatal(err)
			}
			got += found.Key
		}
		if got != c.want {
			t.Errorf("%q gives %q, want %q", c.content, got, c.want)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
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
