package claude

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

func stateOf(key string, lines ...string) transcript.State {
	s := transcript.State{Key: key}
	for _, line := range lines {
		Harness{}.Turns([]byte(line+"\n"), &s)
	}
	return s
}

func turn(ts, members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"type":"user","uuid":"u","timestamp":"` + ts + `"` + members + `}`
}

func TestStateOfASession(t *testing.T) {
	s := stateOf(sidA+".jsonl",
		`{"type":"mode","sessionId":"s1"}`,
		turn("2", `"cwd":"/a","gitBranch":"main","parentUuid":"p1","sessionId":"s1"`),
		turn("1", `"cwd":"/b","gitBranch":"feature","parentUuid":"p2","sessionId":"s2"`),
		turn("0", `"gitBranch":"","cwd":7,"sessionId":null`),
		`{"type":"last-prompt","cwd":"/c","timestamp":"9"}`,
		`{"type":"user","cwd":"torn`,
	)
	want := transcript.State{Key: sidA + ".jsonl", SessionID: "s1", CWD: "/a", Branch: "feature", FirstParent: "p1", Turns: 3, FirstTS: "2", LastTS: "0", Damaged: 1}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("state %+v, want %+v", s, want)
	}
}

// C25: what looks like a turn and is of a type that nobody knows is counted. State lines come
// and go with the versions, and are not.
func TestRecordsOfTypesThatNobodyKnowsAreCounted(t *testing.T) {
	lines := []string{
		`{"type":"brand-new","uuid":"u","timestamp":"1"}`, `{"type":"brand-new","uuid":"u","timestamp":"1"}`,
		`{"type":"brand-new","x":1}`, `{"type":"progress","uuid":"u","timestamp":"1"}`, turn("1", ""),
		`{"type":7,"uuid":"u","timestamp":"1"}`, `{"type":"","uuid":"u","timestamp":"1"}`,
	}
	want := map[string]int64{"brand-new": 2, "": 1}
	if got := stateOf("k", lines...).Strange; !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	lines = nil
	for n := range 1000 {
		lines = append(lines, fmt.Sprintf(`{"type":"%d%s","uuid":"u","timestamp":"1"}`, n, strings.Repeat("x", 1000)))
	}
	got := stateOf("k", lines...).Strange
	if len(got) != transcript.StrangeLimit {
		t.Errorf("%d types are kept", len(got))
	}
	for name := range got {
		if len(name) > 64 {
			t.Errorf("a name of %d bytes is kept", len(name))
		}
	}
}

func TestStateLinesTell(t *testing.T) {
	s := stateOf("k", `{"type":"worktree-state","sessionId":"s","cwd":"/w","gitBranch":"b"}`)
	if s.SessionID != "s" || s.CWD != "/w" || s.Branch != "b" || s.Turns != 0 {
		t.Errorf("state %+v", s)
	}
}

func TestContinuesFrom(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{"none", []string{turn("1", `"sessionId":"a"`)}, ""},
		{"another session", []string{turn("1", `"sessionId":"a","session_id":"b"`)}, "b"},
		{"the first of two", []string{turn("1", `"sessionId":"a","session_id":"b"`), turn("1", `"sessionId":"a","session_id":"c"`)}, "b"},
		{"the record's own", []string{turn("1", `"sessionId":"a","session_id":"a"`)}, ""},
		{"the file's first", []string{turn("1", `"sessionId":"a"`), turn("1", `"sessionId":"b","session_id":"a"`)}, ""},
		{"in a state line", []string{`{"type":"mode","sessionId":"a","session_id":"b"}`}, "b"},
		{"no string", []string{turn("1", `"sessionId":"a","session_id":3`)}, ""},
		{"empty", []string{turn("1", `"sessionId":"a","session_id":""`)}, ""},
		{"inside a message", []string{turn("1", `"sessionId":"a","message":{"session_id":"b"}`)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := stateOf("k", tt.lines...).ContinuesFrom; got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestParentOfAnAgentThatStandsAlone(t *testing.T) {
	for key, want := range map[string]string{
		"/h/.claude/projects/-p/agent-a1.jsonl":    "s1.jsonl",
		`C:\h\.claude\projects\-p\agent-a1.jsonl`:  "s1.jsonl",
		`\\srv\projects\-p\agent-a1.jsonl`:         "s1.jsonl",
		sidA + "/subagents/agent-a1.jsonl":         "",
		"/h/.claude/projects/-p/" + sidA + ".json": "",
		sidA + ".jsonl":          "",
		"/h/agent-x/notes.jsonl": "",
	} {
		if got := stateOf(key, `{"type":"mode"}`, turn("1", `"sessionId":"s1"`), turn("1", `"sessionId":"s2"`)).ParentKey; got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// C172: an explicit title beats a generated one, and the last of each wins.
func TestTitle(t *testing.T) {
	custom := func(s string) string { return `{"type":"custom-title","customTitle":"` + s + `"}` }
	made := func(s string) string { return `{"type":"ai-title","aiTitle":"` + s + `"}` }
	tests := []struct {
		lines []string
		want  string
	}{
		{[]string{made("a"), made("b")}, "b"},
		{[]string{made("a"), custom("b"), made("c")}, "b"},
		{[]string{custom("a"), custom("b")}, "b"},
		{[]string{custom("a"), custom("")}, "a"},
		{[]string{`{"type":"summary","summary":"x"}`, `{"type":"custom-title","customTitle":1}`, `{"type":"mode","customTitle":"x"}`}, ""},
	}
	for _, tt := range tests {
		if got := stateOf("k", tt.lines...).Title; got != tt.want {
			t.Errorf("%v: %q, want %q", tt.lines, got, tt.want)
		}
	}
}

func TestStateIsBounded(t *testing.T) {
	long := strings.Repeat("é", transcript.StateLimit)
	s := stateOf("k",
		`{"type":"custom-title","customTitle":"`+long+`"}`,
		turn(long, `"sessionId":"x`+long+`","session_id":"y`+long+`","cwd":"`+long+`","gitBranch":"`+long+`","parentUuid":"`+long+`"`),
		turn("2", `"cwd":"/short"`))
	for name, text := range map[string]string{"title": s.Title, "session id": s.SessionID, "continues from": s.ContinuesFrom, "branch": s.Branch, "first parent": s.FirstParent, "first time": s.FirstTS} {
		if len(text) > transcript.StateLimit || len(text) < transcript.StateLimit-1 || !strings.HasSuffix(text, "é") {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
	if s.CWD != "/short" {
		t.Errorf("a working directory of %d bytes was taken", len(s.CWD))
	}
}

func TestDamagedLinesAreCounted(t *testing.T) {
	whole := turn("1", "")
	for line, want := range map[string]int64{
		whole: 0, "": 0, "\t\r": 0, `{"type":"mode"}`: 0, `{"type":"mode","uuid":7}`: 0, " " + whole + "\r": 0,
		whole[:20]: 1, whole + whole: 1, whole[:20] + whole: 1, "text": 1, "7": 1, "{}": 1,
		`{"type":7,"uuid":[]}`: 1, `{"type":"user","uuid":"u"}`: 1, `{"type":"user","uuid":"u","timestamp":7}`: 1, "[" + whole + "]": 1,
		"\x00\x00": 1, whole + "\x00": 1, "\x00" + whole: 1, "\x00" + whole + whole + "\x00": 1,
	} {
		if got := stateOf(sidA+".jsonl", line).Damaged; got != want {
			t.Errorf("%q: %d damaged lines, want %d", line, got, want)
		}
	}
}
