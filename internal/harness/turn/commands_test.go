package turn

import (
	"slices"
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestAListOfCommandsNamesEachOfThem(t *testing.T) {
	tools := Tools{"run": {Lines: []string{"commands", "steps.line"}}}
	input, ok := transcript.ParseValue([]byte(`{"commands":["go vet ./...","go test"],"steps":[{"line":"ls"},{"other":1}]}`))
	if !ok {
		t.Fatal("the input is no JSON")
	}
	b := New(transcript.Assistant, []byte("{}\n"))
	b.Call([]byte("run"), input, tools)
	var lines []string
	for _, m := range b.Done("", &transcript.State{}).Mentions {
		if m.Origin == transcript.ShellLine {
			lines = append(lines, string(m.Text))
		}
	}
	if want := []string{"go vet ./...", "go test", "ls"}; !slices.Equal(lines, want) {
		t.Errorf("commands are %q, want %q", lines, want)
	}
}
