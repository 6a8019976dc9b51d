package turn

import (
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestWhatAPatchNames(t *testing.T) {
	tools := Tools{
		"patch": {Patch: "*"},
		"shell": {Commands: []string{"command"}, Patch: "command"},
	}
	patch := `*** Begin Patch\n*** Update File: a.go\n@@\n-old\n+new\n*** End Patch`
	tests := []struct{ name, tool, input, want string }{
		{"as the input", "patch", `"` + patch + `"`, "path a.go, code old\nnew"},
		{"in a command", "shell", `{"command":"apply_patch <<'E'\n` + patch + `\nE"}`, "path a.go, code old\nnew"},
		{"as a word of a command", "shell", `{"command":["apply_patch","` + patch + `"]}`, "path a.go, code old\nnew"},
		{"a command without one", "shell", `{"command":"x \\\n--flag"}`, ""},
		{"a list without one", "shell", `{"command":["bash","-lc","x\n-flag"]}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := New(transcript.Assistant, nil)
			b.Call([]byte(tt.tool), transcript.Value(tt.input), tools)
			var got []string
			for _, m := range b.mentions {
				switch m.Origin {
				case transcript.FilePath:
					got = append(got, "path "+string(m.Text))
				case transcript.Identifiers:
					got = append(got, "code "+string(m.Text))
				}
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("names %q, want %q", strings.Join(got, ", "), tt.want)
			}
		})
	}
}
