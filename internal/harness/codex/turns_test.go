package codex

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// read reads lines, one after another, and shows the turns, one a line: the type, a star for
// what search does not find, and the texts.
func read(s *transcript.State, lines ...string) string {
	var out []string
	for _, line := range lines {
		for _, t := range (Harness{}).Turns([]byte(line), s) {
			var texts []string
			for _, p := range t.Pieces {
				texts = append(texts, string(p.Text))
			}
			mark := ""
			if t.Unindexed {
				mark = "*"
			}
			if t.NativeID != "" {
				mark += " " + t.NativeID
			}
			out = append(out, t.Type+mark+": "+strings.Join(texts, "|"))
		}
	}
	return strings.Join(out, "\n")
}

func at(second int, kind, payload string) string {
	return fmt.Sprintf(`{"timestamp":"2026-02-10T09:00:%02d.000Z","type":%q,"payload":%s}`, second, kind, payload)
}

func asked(second int, text string) string {
	return at(second, "response_item", fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text))
}

func answered(second int, text string) string {
	return at(second, "response_item", fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, text))
}

func shown(second int, kind, text string) string {
	return at(second, "event_msg", fmt.Sprintf(`{"type":%q,"message":%q}`, kind, text))
}

func completed(second int, kind, text string) string {
	return at(second, "event_msg", fmt.Sprintf(`{"type":"item_completed","item":{"type":%q,"content":[{"type":"text","text":%q}]}}`, kind, text))
}

func TestATextIsOneTurnInWhateverFormsItStands(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{"the item first", []string{asked(1, "a b"), shown(1, "user_message", "a  b")}, "user: a b"},
		{"the event first", []string{completed(1, "AgentMessage", "a"), answered(1, "a")}, "assistant: a"},
		{"all three", []string{shown(1, "agent_message", "a"), completed(1, "AgentMessage", "a"), answered(1, "a")}, "assistant: a"},
		{"events alone", []string{shown(1, "user_message", "a"), shown(2, "agent_message", "b")}, "user: a\nassistant: b"},
		{"the same again", []string{asked(1, "a"), completed(1, "UserMessage", "a"), asked(2, "a"), completed(2, "UserMessage", "a")}, "user: a\nuser: a"},
		{"the same again in one form", []string{asked(1, "a"), asked(2, "a"), asked(3, "a")}, "user: a\nuser: a\nuser: a"},
		{"two at once", []string{completed(1, "AgentMessage", "a"), completed(1, "AgentMessage", "b"), answered(1, "a"), answered(1, "b")}, "assistant: a\nassistant: b"},
		{"the same by two", []string{asked(1, "a"), completed(1, "AgentMessage", "a"), answered(1, "a")}, "user: a\nassistant: a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := read(new(transcript.State), tt.lines...); got != tt.want {
				t.Errorf("read\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestWhatAPersonTyped(t *testing.T) {
	tests := []struct{ name, kinds, text, want string }{
		{"by its kind", `"user.text"`, "<environment_context> is a tag", "user: <environment_context> is a tag"},
		{"machinery by its kind", `"environments.environment_context"`, "here", "attachment*: here"},
		{"machinery by its beginning", ``, "<environment_context>here</environment_context>", "attachment*: <environment_context>here</environment_context>"},
		{"rules of a project", ``, "# AGENTS.md instructions for /w", "attachment*: # AGENTS.md instructions for /w"},
		{"what an editor puts around", ``, "# Context from my IDE setup:\nx\n## My request for Codex:\n do it \n", "user: do it"},
		{"a command of the person's own", ``, "<user_shell_command>ls</user_shell_command>", "user: <user_shell_command>ls</user_shell_command>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line := at(1, "response_item", fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}],`+
				`"internal_chat_message_metadata_passthrough":{"content_item_kinds":[%s]}}`, tt.text, tt.kinds))
			if got := read(new(transcript.State), line); got != tt.want {
				t.Errorf("read %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOutputsAndHowTheyEnded(t *testing.T) {
	failed := at(1, "event_msg", `{"type":"item_completed","item":{"type":"McpToolCall","id":"c","status":"failed"}}`)
	tests := []struct {
		name, before, output string
		want                 string
		failure              bool
	}{
		{"plain", "", `"x"`, "x", false},
		{"framed", "", `"Wall time: 1 seconds\nProcess exited with code 0\nOutput:\nx\nOutput:\ny"`, "x\nOutput:\ny", false},
		{"failed", "", `"Process exited with code 3\nOutput:\nx"`, "Process exited with code 3|x", true},
		{"of a patch", "", `"Exit code: 1\nWall time: 0 seconds\nOutput:\nx"`, "Exit code: 1|x", true},
		{"no frame after all", "", `"Exit code: 1\nx"`, "Exit code: 1\nx", false},
		{"with metadata", "", `"{\"output\":\"x\",\"metadata\":{\"exit_code\":2}}"`, "Exit code: 2|x", true},
		{"an object", "", `{"content":"x","success":false}`, "x", true},
		{"a list", "", `[{"type":"input_text","text":"Wall time: 1 seconds\nOutput:"},{"type":"input_text","text":"x"}]`, "x", false},
		{"an event said so", failed, `"x"`, "x", true},
		{"Terminus' own answer", "", `"Wall time: 1 seconds\nOutput:\n{\"hits\":[],\"reason\":null}"`, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s transcript.State
			read(&s, tt.before)
			turns := (Harness{}).Turns([]byte(at(2, "response_item", `{"type":"function_call_output","call_id":"c","output":`+tt.output+`}`)), &s)
			if len(turns) != 1 || !turns[0].ToolResult {
				t.Fatalf("turns %+v", turns)
			}
			var texts []string
			for _, p := range turns[0].Pieces {
				texts = append(texts, string(p.Text))
			}
			failure := false
			for _, m := range turns[0].Mentions {
				failure = failure || m.Origin == transcript.Failure
			}
			if got := strings.Join(texts, "|"); got != tt.want || failure != tt.failure {
				t.Errorf("%q, failed %t; want %q, %t", got, failure, tt.want, tt.failure)
			}
		})
	}
}

func historyLine(second int, text string) string {
	id := fmt.Sprintf("%s%d/0", promptStart, second)
	return string(rows.Record(id, fmt.Appendf(nil, `{"session_id":"s","ts":%d,"text":%q}`, second, text)).Bytes)
}

// nine is 09:00:00 of the day of these tests.
const nine = 1770714000

func TestPromptsAndARolloutThatComesBackAreOne(t *testing.T) {
	meta := at(0, "session_meta", `{"id":"s","cwd":"/w"}`)
	var s transcript.State
	got := read(&s, historyLine(nine+1, "a"), historyLine(nine+5, "b"), meta, asked(1, "a"), answered(2, "x"), asked(5, "b"), asked(9, "a"))
	want := "user prompt/1770714001/0: a\nuser prompt/1770714005/0: b\n" +
		"user prompt/1770714001/0: a\nassistant: x\nuser prompt/1770714005/0: b\nuser: a"
	if got != want {
		t.Errorf("read\n%s\nwant\n%s", got, want)
	}
	if s.CWD != "/w" || s.SessionID != "s" || s.Title != "a" {
		t.Errorf("state %+v", s)
	}
}

func TestPromptsThatARolloutHeldAreNoTurns(t *testing.T) {
	meta := at(0, "session_meta", `{"id":"s"}`)
	got := read(new(transcript.State), meta, asked(1, "a"), answered(2, "x"), historyLine(nine+1, "a"), historyLine(nine+30, "b"))
	if want := "user: a\nassistant: x\nuser prompt/1770714030/0: b"; got != want {
		t.Errorf("read\n%s\nwant\n%s", got, want)
	}
}

func TestTheStateStaysSmallAndComesBack(t *testing.T) {
	o := own{rollout: true, at: "2026-02-10T09:00:00.000Z", copying: "2026-02-10T09:00:00.001Z", start: 1 << 52}
	for i := range 500 {
		o.heard(^uint64(i), asItem)
		o.failed = append(o.failed, ^uint64(i))
		o.typed = append(o.typed, typed{^uint64(i), strings.Repeat("9", maxWord)})
	}
	text := o.String()
	if len(text) > transcript.StateLimit {
		t.Errorf("%d bytes", len(text))
	}
	back := parseOwn(text)
	if again := back.String(); again != text || len(back.typed) != maxTyped {
		t.Errorf("%q is not %q", again, text)
	}
}

func TestKeysOfRollouts(t *testing.T) {
	const id = "0a1b2c3d-0000-7000-8000-000000000001"
	for name, want := range map[string]string{
		"rollout-2026-02-10T09-00-00-" + id + ".jsonl":     "codex:" + id,
		"rollout-2026-02-10T09-00-00-" + id + ".jsonl.zst": "codex:" + id,
		"rollout-2025-04-20-" + id + ".json":               "codex:" + id,
		"rollout-mine.jsonl":                               "codex:mine",
		"history.jsonl":                                    "",
	} {
		if got := (Harness{}).KeyAt(filepath.FromSlash("/h/.codex/sessions/" + name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := (Harness{}).RootAt(filepath.FromSlash("/h/.codex/sessions/2026/02/10/rollout-x.jsonl")); got != filepath.FromSlash("/h/.codex/sessions") {
		t.Errorf("root %q", got)
	}
}
