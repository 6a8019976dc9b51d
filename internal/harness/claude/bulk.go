package claude

import (
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// outputFolder is where Claude Code puts what is too long for a record, in the
// directory of the session or of a subagent.
const outputFolder = "tool-results/"

// Bulk names the second, structured form of a tool's result, and what Claude Code
// puts before its model as an attachment. The result that the model read stays: it
// stands in the message. So does a prompt that was typed while Claude Code was
// working, which stands in an attachment alone.
func (Harness) Bulk() harness.Bulk {
	return harness.Bulk{Members: []string{"toolUseResult", "attachment"}, Kept: isQueued}
}

// isQueued reports whether a value is the attachment of a queued command.
func isQueued(member string, value []byte) bool {
	if member != "attachment" {
		return false
	}
	var s transcript.Scanner
	s.Reset(value)
	if !s.EnterObject() {
		return false
	}
	var kind []byte
	for {
		key, ok := s.NextMember()
		if !ok {
			return string(kind) == queuedCommand
		}
		if string(key) == "type" {
			kind, _ = s.TryText()
		} else {
			s.Skip()
		}
	}
}

// isOutput reports whether a companion in a directory below a session's, given by
// its place with a closing slash, is what a tool returned.
func isOutput(prefix string) bool { return strings.Contains("/"+prefix, "/"+outputFolder) }
