package hook

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/detach"
)

// The pass that a hook starts is this program: it is none here.
func TestMain(m *testing.M) {
	if detach.Reparented(os.Args[1:]) {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestOnlyAnEventAloneIsAnEvent(t *testing.T) {
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "SessionEnd", "PostCompact"} {
		if got, ok := Event([]string{"hook", event}); got != event || !ok || !slices.Contains(Events(), event) {
			t.Errorf("%s: %q, %v", event, got, ok)
		}
	}
	for _, args := range [][]string{
		nil,
		{"hook"},
		{"hook", ""},
		{"hook", "Stop"},
		{"hook", "sessionstart"},
		{"hook", "SessionStart", "x"},
		{"hook", "SessionStart", "--help"},
		{"hook", "--help"},
		{"search", "SessionStart"},
		{"SessionStart"},
		{"--", "hook", "SessionStart"},
	} {
		if event, ok := Event(args); ok {
			t.Errorf("%q: %s", args, event)
		}
	}
}

// A panicReader is a stdin that brings the program down.
type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("reading") }

func TestAPanicIsOneLineAndNoExitCode(t *testing.T) {
	bad := config.Environ{Get: func(string) string { panic("looking") }}
	payload := `{"session_id":"5e0a94cf-7a0b-4c1e-9a71-1f6d1a0e5f11","cwd":"/work/app","prompt":"src/a.go"}`
	for name, tc := range map[string]struct {
		stdin io.Reader
		event string
	}{
		"reading":                 {panicReader{}, sessionEnd},
		"looking":                 {strings.NewReader(payload), sessionStart},
		"looking for the prompts": {strings.NewReader(payload), userPromptSubmit},
	} {
		var stdout, stderr bytes.Buffer
		code := Run(tc.event, bad, tc.stdin, &stdout, &stderr)
		what, _, _ := strings.Cut(name, " ")
		if want := "terminus: hook " + tc.event + ": internal error: " + what + "\n"; code != 0 || stdout.Len() > 0 || stderr.String() != want {
			t.Errorf("%s: %d, stdout %q, stderr %q", name, code, &stdout, &stderr)
		}
	}
}

func TestWhatIsSaidIsOneLineThatATerminalShows(t *testing.T) {
	var stderr bytes.Buffer
	h := &call{event: sessionStart, stderr: &stderr}
	h.say("a\nb\x1b[31m\u202e%s", "\xff")
	if got := stderr.String(); got != "terminus: hook SessionStart: a\uFFFDb\uFFFD[31m\uFFFD\uFFFD\n" {
		t.Errorf("%q", got)
	}
}

func TestTextIsWrittenAsItIsAndABlankOneNot(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " \n\t": "",
		"a\n<b> & \"\u2028": `{"hookSpecificOutput":{"additionalContext":"a\n<b> & \"` + "\u2028" + `","hookEventName":"SessionStart"}}` + "\n",
	} {
		var stdout bytes.Buffer
		(&call{event: sessionStart, stdout: &stdout}).write(text)
		if stdout.String() != want {
			t.Errorf("%q: %q", text, &stdout)
		}
	}
}
