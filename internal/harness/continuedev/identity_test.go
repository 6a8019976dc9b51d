package continuedev

import (
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestAMessageIsKnownByWhatItKeeps(t *testing.T) {
	head := strings.Repeat("olive ", 20)
	message := func(role, content, more string) string {
		return `{"message":{"role":"` + role + `","content":` + content + more + `}}`
	}
	call := func(id string) string { return `,"toolCalls":[{"id":"` + id + `"}]` }
	for _, c := range []struct {
		name, one, other string
		same             bool
	}{
		{"what the model says grows", message("assistant", `"`+head+`"`, ""), message("assistant", `"`+head+`and more"`, ""), true},
		{"its calls come", message("assistant", `"I build it."`, ""), message("assistant", `"I build it."`, call("c")), true},
		{"its calls come behind a list", message("assistant", `[{"type":"text","text":"So"}]`, ""), message("assistant", `[{"type":"text","text":"So"}]`, call("c")), true},
		{"it calls and says nothing", message("assistant", `""`, call("c")), message("assistant", `""`, call("d")), false},
		{"prompts begin alike", message("user", `"`+head+`one"`, ""), message("user", `"`+head+`two"`, ""), false},
		{"prompts go on in another part", message("user", `[{"text":"see"},{"text":"one"}]`, ""), message("user", `[{"text":"see"},{"text":"two"}]`, ""), false},
		{"results begin alike", message("tool", `"`+head+`one"`, ""), message("tool", `"`+head+`two"`, ""), false},
		{"results of two calls", message("tool", `"ok"`, `,"toolCallId":"c"`), message("tool", `"ok"`, `,"toolCallId":"d"`), false},
	} {
		if one, other := identity(transcript.Value(c.one)), identity(transcript.Value(c.other)); (one == other) != c.same {
			t.Errorf("%s: the ids are %q and %q", c.name, one, other)
		}
	}
}
