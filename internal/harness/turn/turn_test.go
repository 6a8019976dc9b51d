package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func value(t *testing.T, text string) transcript.Value {
	t.Helper()
	v, ok := transcript.ParseValue([]byte(text))
	if !ok {
		t.Fatalf("no JSON: %s", text)
	}
	return v
}

func texts(t transcript.Turn) string {
	var all []string
	for _, p := range t.Pieces {
		all = append(all, string(p.Text))
	}
	return strings.Join(all, "|")
}

func TestWhoSpeaksInATurn(t *testing.T) {
	tests := []struct {
		name   string
		kind   string
		build  func(b *turn.Builder)
		nature transcript.Nature
		result bool
		texts  string
	}{
		{"a prompt", "user", func(b *turn.Builder) { b.Say([]byte("kestrel")) }, transcript.Typed, false, "kestrel"},
		{"a tool's result", "user", func(b *turn.Builder) { b.Output(false, []byte("ok")) }, transcript.Machine, true, "ok"},
		{"a prompt with a result", "user", func(b *turn.Builder) { b.Output(false, []byte("ok")); b.Say([]byte("go on")) }, transcript.Typed, true, "ok|go on"},
		{"blanks are no prompt", "user", func(b *turn.Builder) { b.Say([]byte(" \n")) }, transcript.Machine, false, ""},
		{"what the agent wrote", "user", func(b *turn.Builder) { b.Machine().Say([]byte("kestrel")) }, transcript.Machine, false, "kestrel"},
		{"a model", "assistant", func(b *turn.Builder) { b.Say([]byte("merganser")) }, transcript.NatureNone, false, "merganser"},
		{"a note", "system", func(b *turn.Builder) { b.Note([]byte("plover")) }, transcript.NatureNone, false, "plover"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := turn.New(tt.kind, []byte("{}\n"))
			tt.build(b)
			var s transcript.State
			got := b.IDs("n", "u", "p").Done("2026-03-01T10:00:00Z", &s)
			if got.Type != tt.kind || got.Nature != tt.nature || got.ToolResult != tt.result || texts(got) != tt.texts || got.Len != 2 {
				t.Errorf("%+v, texts %q", got, texts(got))
			}
			if s.Turns != 1 || s.FirstTS != got.TS || s.FirstParent != "p" {
				t.Errorf("state %+v", s)
			}
		})
	}
}

func TestWhatTerminusGaveIsNotSaidAgain(t *testing.T) {
	own := transcript.RecallIntro + "\n" + transcript.RecallOpen + "\nmerganser\n" + transcript.RecallClose
	answer := `{"records":[],"absent":[],"reason":null}`
	b := turn.New("user", nil)
	b.Say([]byte(own))
	b.Say([]byte(own + "\nkestrel"))
	b.Output(false, []byte(answer), []byte("plover"))
	var s transcript.State
	if got := texts(b.Done("", &s)); got != "\nkestrel|plover" {
		t.Errorf("%q", got)
	}
}

func TestWhatACallNames(t *testing.T) {
	tools := turn.Tools{
		"shell": {Commands: []string{"command", "script"}},
		"edit":  {Paths: []string{"path", "files.path", "list"}, Code: []string{"old", "edits.new"}, Changes: true},
		"patch": {Patch: "input", Changes: true},
		"raw":   {Patch: "*"},
	}
	patch := `*** Begin Patch\n*** Update File: a.go\n@@\n-old line\n+new line\n*** Move to: b.go\n*** End Patch`
	tests := []struct{ name, tool, input, want string }{
		{"a command", "shell", `{"command":"go test"}`, "shell go test"},
		{"a command of words", "shell", `{"command":["go","test"]}`, "shell go test"},
		{"a command for a shell", "shell", `{"script":["bash","-lc","go test | tail"]}`, "shell go test | tail"},
		{"paths of every form", "edit", `{"path":"a","files":[{"path":"b"},{"path":["c","d"]}],"list":["e"]}`, "path a, path b, path c, path d, path e"},
		{"code of every form", "edit", `{"old":"x","edits":[{"new":"y"},7]}`, "code x, code y"},
		{"a patch", "patch", `{"input":"` + patch + `"}`, "path a.go, path b.go, code old line\nnew line"},
		{"a patch that is the input", "raw", `"` + patch + `"`, "path a.go, path b.go, code old line\nnew line"},
		{"our own search", "mcp__terminus__recall_search", `{"query":"kestrel","paths":["a.go"]}`, "query kestrel, path a.go"},
		{"a tool that nobody knows", "other", `{"path":"a"}`, ""},
		{"wrong types", "edit", `{"path":7,"files":"x","list":{},"old":[],"edits":null}`, ""},
		{"no input", "edit", `null`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := turn.New("assistant", nil)
			b.Call([]byte(tt.tool), value(t, tt.input), tools)
			var s transcript.State
			got := b.Done("", &s)
			var names []string
			for _, m := range got.Mentions {
				switch m.Origin {
				case transcript.FilePath:
					names = append(names, "path "+string(m.Text))
				case transcript.ShellLine:
					names = append(names, "shell "+string(m.Text))
				case transcript.Identifiers:
					names = append(names, "code "+string(m.Text))
				case transcript.RecallQuery:
					names = append(names, "query "+string(m.Text))
				}
			}
			if all := strings.Join(names, ", "); all != tt.want || got.ToolName != tt.tool {
				t.Errorf("%q of %s, want %q", all, got.ToolName, tt.want)
			}
		})
	}
	if !tools.Modifies("edit") || tools.Modifies("shell") || tools.Modifies("none") {
		t.Error("which tools change files is not told")
	}
}

func TestATurnIsBoundedWhateverItIsMadeOf(t *testing.T) {
	b := turn.New("assistant", nil)
	long := []byte(strings.Repeat("x", transcript.TextRoom/2))
	for range 100 {
		b.Say(long)
		b.Output(true, long)
	}
	input := `{"path":[` + strings.Repeat(`"a",`, 100_000) + `"b"]}`
	b.Call([]byte(strings.Repeat("name", 1000)), value(t, input), turn.Tools{})
	for i := range 100_000 {
		b.Names(fmt.Append(nil, i))
	}
	var s transcript.State
	got := b.Done("", &s)
	size := 0
	for _, p := range got.Pieces {
		size += len(p.Text)
	}
	if size > 2*transcript.TextRoom || len(got.Mentions) > 5000 || len(got.ToolName) > 300 {
		t.Errorf("%d bytes of text, %d mentions, a name of %d bytes", size, len(got.Mentions), len(got.ToolName))
	}
}

func TestAnEmptyTurnSaysSo(t *testing.T) {
	b := turn.New("user", nil)
	b.Say([]byte("  "))
	if !b.Empty() {
		t.Error("blanks are something")
	}
	b.Output(false)
	if b.Empty() {
		t.Error("a result without text is nothing")
	}
}
