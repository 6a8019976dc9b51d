package tasks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// one reads a message and tells of its turn: t for typed, r for a result, h for hidden, and its texts.
func one(t *testing.T, message string) (marks, text string) {
	t.Helper()
	if !json.Valid([]byte(message)) {
		t.Fatalf("%s is no JSON", message)
	}
	turns := Turns(rows.Record("m", []byte(message)).Bytes, &transcript.State{Key: "roo:1"})
	if len(turns) == 0 {
		return "", ""
	}
	for on, mark := range map[string]bool{"t": turns[0].Nature == transcript.Typed, "r": turns[0].ToolResult, "h": turns[0].Unindexed} {
		if mark {
			marks += on
		}
	}
	m := []byte(marks)
	slices.Sort(m)
	var texts []string
	for _, p := range turns[0].Pieces {
		texts = append(texts, string(p.Text))
	}
	return string(m), strings.Join(texts, "|")
}

func TestWhatAPersonTypedIsToldFromWhatTheExtensionWrote(t *testing.T) {
	for _, tc := range []struct{ name, content, marks, text string }{
		{"a task", `"<task>\nmend it\n</task>"`, "t", "mend it"},
		{"a mode in the tag", `"<user_input mode=\"plan\">mend it</user_input>"`, "t", "mend it"},
		{"no tag", `"mend it"`, "t", "mend it"},
		{"a tag that is not closed", `"<task>\nmend it"`, "t", "mend it"},
		{"the tag's own end in the words", `"<task>say </task> twice</task>"`, "t", "say </task> twice"},
		{"surroundings alone", `"<environment_details>x</environment_details>"`, "", ""},
		{"surroundings before the words", `"<environment_details>x</environment_details>\nmend it"`, "t", "mend it"},
		{"a notice alone", `"[ERROR] no tool"`, "h", "[ERROR] no tool"},
		{"an output", `[{"type":"text","text":"[ls] Result:"},{"type":"text","text":"a.go"}]`, "r", "a.go"},
		{"an output on the same line", `"[ls] Result: a.go"`, "r", "[ls] Result: a.go"},
		{"a denial", `[{"type":"tool_result","content":"Denied with feedback:\n<feedback>\nnot so\n</feedback>"}]`, "rt", "Denied with feedback:|not so"},
		{"a tag in a file", `[{"type":"tool_result","content":"line\n<feedback>\nnot so\n</feedback>"}]`, "r", "line\n<feedback>\nnot so\n</feedback>"},
		{"a tag in a file, by words", `[{"type":"text","text":"[read_file for 'x'] Result:"},{"type":"text","text":"x\n<task>\ny\n</task>"}]`, "r", "x\n<task>\ny\n</task>"},
		{"nothing", `[]`, "", ""},
		{"of a wrong type", `7`, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			marks, text := one(t, `{"role":"user","content":`+tc.content+`}`)
			if marks != tc.marks || text != tc.text {
				t.Errorf("it is %q %q, want %q %q", marks, text, tc.marks, tc.text)
			}
		})
	}
}

func TestCallsAreFoundInWhatTheModelSays(t *testing.T) {
	b := turn.New(transcript.Assistant, []byte("{}\n"))
	speak(b, []byte("First.\n<read_file>\n<path>a.go</path>\n</read_file>\nThen <read_file> in a line.\n<unknown>\n<execute_command>\n<command>ls\n-l</command>\n</execute_command>\n<list_files>\n<path>open"))
	got := b.Done("", &transcript.State{})
	var names []string
	for _, m := range got.Mentions {
		names = append(names, string(m.Text))
	}
	if want := []string{"read_file", "a.go", "execute_command", "ls\n-l"}; !slices.Equal(names, want) {
		t.Errorf("calls name %q, want %q", names, want)
	}
}

func TestATextFullOfOpenTagsIsReadInLinearTime(t *testing.T) {
	text := []byte(strings.Repeat("<read_file>\n<path>\n", 50_000))
	start := time.Now()
	speak(turn.New(transcript.Assistant, []byte("{}\n")), text)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestTheEditorsSettingsMoveTheStore(t *testing.T) {
	home := t.TempDir()
	for _, tc := range []struct{ settings, want string }{
		{`{"s": "` + filepath.ToSlash(filepath.Join(home, "x")) + `"}`, filepath.Join(home, "x")},
		{"{\n// \"s\": \"/no\",\n/* \"s\": \"/no\" */ \"url\": \"http://a/*b\", \"s\": \"~/y\",\n}", filepath.Join(home, "y")},
		{`{"s": "relative"}`, ""},
		{`{"s": 7}`, ""},
		{`{"s": "/x"`, ""},
		{`/`, ""},
		{`/*`, ""},
		{`"`, ""},
	} {
		if err := os.WriteFile(filepath.Join(home, "settings.json"), []byte(tc.settings), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := moved(harness.Machine{Home: home}, home, "s"); got != tc.want {
			t.Errorf("%s moves it to %q, want %q", tc.settings, got, tc.want)
		}
	}
}

// written are the ids of the records of a task.
func written(t *testing.T, messages string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), conversation)
	if err := os.WriteFile(path, []byte(messages), 0o600); err != nil {
		t.Fatal(err)
	}
	var out []string
	for r, err := range Records(path, nil) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r.ID)
	}
	return out
}

func TestATaskThatIsCutAndGoesOnKeepsItsMessagesApart(t *testing.T) {
	before := written(t, `[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`)
	after := written(t, `[{"role":"user","content":"a"},{"role":"user","content":"d"}]`)
	if after[0] != before[0] || slices.Contains(before, after[1]) {
		t.Errorf("ids were %q and are %q", before, after)
	}
}

func TestATaskThatIsCutAtTheTopKeepsResultsApartThatBeginAlike(t *testing.T) {
	head := strings.Repeat("olive ", 20)
	for _, c := range []struct{ name, first, second string }{
		{"one text", `"` + head + `one"`, `"` + head + `two"`},
		{
			"a text behind what was called", `[{"type":"text","text":"[ls] Result:"},{"type":"text","text":"one"}]`,
			`[{"type":"text","text":"[ls] Result:"},{"type":"text","text":"two"}]`,
		},
		{"a result", `[{"type":"tool_result","tool_use_id":"c","content":"one"}]`, `[{"type":"tool_result","tool_use_id":"c","content":"two"}]`},
		{
			"a result of texts", `[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"one"}]}]`,
			`[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"two"}]}]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, second := `{"role":"user","content":`+c.first+`}`, `{"role":"user","content":`+c.second+`}`
			before := written(t, "["+first+","+second+"]")
			after := written(t, "["+second+"]")
			if before[0] == before[1] || after[0] != before[1] {
				t.Errorf("ids were %q and are %q", before, after)
			}
		})
	}
}

func TestWhatTheModelSaysStaysOneMessageWhileItGrows(t *testing.T) {
	head := strings.Repeat("olive ", 20)
	before := written(t, `[{"role":"assistant","content":[{"type":"text","text":"`+head+`"}]}]`)
	after := written(t, `[{"role":"assistant","content":[{"type":"text","text":"`+head+`and more"},{"type":"tool_use","id":"c"}]}]`)
	if before[0] != after[0] {
		t.Errorf("ids were %q and are %q", before, after)
	}
}
