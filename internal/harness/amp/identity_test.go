package amp

import (
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestAMessageIsKnownByWhatItKeeps(t *testing.T) {
	head := strings.Repeat("olive ", 20)
	text := func(role, text, more string) string {
		return `{"role":"` + role + `","content":[{"type":"text","text":"` + text + `"}` + more + `]}`
	}
	for _, c := range []struct {
		name, one, other string
		same             bool
	}{
		{"what the model says grows", text("assistant", head, ""), text("assistant", head+"and more", `,{"type":"tool_use","id":"c"}`), true},
		{"prompts begin alike", text("user", head+"one", ""), text("user", head+"two", ""), false},
		{"prompts go on in another text", text("user", "see", `,{"type":"text","text":"one"}`), text("user", "see", `,{"type":"text","text":"two"}`), false},
		{
			"a result comes", `{"role":"user","content":[{"type":"tool_result","toolUseID":"c","run":{"status":"in-progress"}}]}`,
			`{"role":"user","content":[{"type":"tool_result","toolUseID":"c","run":{"status":"done","result":"x"}}]}`, true,
		},
	} {
		if one, other := identity(transcript.Value(c.one)), identity(transcript.Value(c.other)); (one == other) != c.same {
			t.Errorf("%s: the ids are %q and %q", c.name, one, other)
		}
	}
}
