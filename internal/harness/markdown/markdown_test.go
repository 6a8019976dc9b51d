package markdown

import (
	"bytes"
	"strings"
	"testing"
)

func heading(line []byte) bool { return bytes.HasPrefix(line, []byte("# new ")) }

// shape writes `|` for a fenced line and `.` for any other.
func shape(text string) string {
	var b strings.Builder
	for l := range Lines([]byte(text), heading) {
		if l.Fenced {
			b.WriteByte('|')
		} else {
			b.WriteByte('.')
		}
	}
	return b.String()
}

func TestFencesAreToldFromText(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"none", "a\nb", ".."},
		{"closed", "a\n```go\n# new x\n```\nb", ".|||."},
		{"longer ones hold shorter ones", "````\n```\nx\n````\nb", "||||."},
		{"tildes are not closed by backquotes", "~~~\n```\n~~~\nb", "|||."},
		{"with words behind it a fence closes nothing", "```\n```go\n```\nb", "|||."},
		{"code in a line is none", "```x``` y\nb", ".."},
		{"indented code is none", "    ```\nb", ".."},
		{"open to the end", "```\na\nb", "|||"},
		{"open, and something new begins", "```go\na\n# new x\nb", "||.."},
		{"open, and what is new has a fence of its own", "```go\na\n# new x\n```go\nb\n```\nc", "||.|||."},
		{"open, and new things follow each other", "```\n# new x\n# new y\n", "|.."},
		{"quoted headings in one that is closed", "```\n# new x\n# new y\n```\nb", "||||."},
		{"ends of lines of another system", "```\r\na\r\n```\r\nb", "|||."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := shape(tc.text); got != tc.want {
				t.Errorf("lines are %s, want %s", got, tc.want)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n```go\n# new x\n```\r\n~~~\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var joined []byte
		for l := range Lines(text, heading) {
			if l.Off != len(joined) {
				t.Fatalf("a line stands at %d, said to stand at %d", len(joined), l.Off)
			}
			joined = append(joined, l.Text...)
		}
		if !bytes.Equal(joined, text) {
			t.Fatalf("the lines are %q, not the text", joined)
		}
	})
}
