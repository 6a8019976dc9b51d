// Package hook answers the hooks of an agent: it starts a pass that nobody waits
// for, and gives the session a text where there is one to give.
//
// It promises that once the event is known the agent is never held up and never
// disturbed: the exit code is 0 whatever goes wrong, a payload is waited for half
// a second, an answer 50 milliseconds from then, and stdout is one JSON object or
// nothing. What went wrong is one line on stderr, which an agent shows to nobody
// but who asks for its debug log.
//
// Where an entry of the agent's settings and the agent's plugin both ask, the entry is
// answered, and the plugin gets nothing.
//
// Whatever it notes of a text (that the session was given these turns, that this
// prompt got this text) is taken back where the text comes too late.
package hook

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/terminus-archive/terminus/internal/clock"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/detach"
	"github.com/terminus-archive/terminus/internal/document"
	"github.com/terminus-archive/terminus/internal/wire/claude"
)

// The events that are answered, as Claude Code names them.
const (
	sessionStart     = "SessionStart"
	userPromptSubmit = "UserPromptSubmit"
	sessionEnd       = "SessionEnd"
	postCompact      = "PostCompact"
)

// Name is the command's name, and pass that of the command that it starts.
const (
	Name = "hook"
	pass = "ingest"
)

const (
	// payloadWait is how long the payload is waited for. Agents write it at once;
	// who writes nothing must not hold up a prompt.
	payloadWait = 500 * time.Millisecond
	// answerWait is the contract's time to come up with a text, counted from the
	// payload.
	answerWait = 50 * time.Millisecond
	// recordWait is how long a late answer's traces may take to be put right. It
	// is a file or two; a disk that stalls longer than that is not waited for.
	recordWait = 25 * time.Millisecond
)

// Events names the events.
func Events() []string { return []string{sessionStart, userPromptSubmit, sessionEnd, postCompact} }

// Event is the event that a command line (without the program's name) asks to
// answer, if it asks for that and for nothing else.
func Event(args []string) (string, bool) {
	if len(args) != 2 || args[0] != Name || !slices.Contains(Events(), args[1]) {
		return "", false
	}
	return args[1], true
}

// Run answers one event, which is one of Events, and returns the exit code,
// which is 0. It is meant to be the last thing that a process does: what is too
// late is left running.
func Run(event string, environ config.Environ, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	h := &call{event: event, environ: environ, stdout: stdout, stderr: stderr}
	defer func() {
		if p := recover(); p != nil {
			h.say("%v: %v", errInternal, p)
		}
	}()
	if h.twice() {
		return 0
	}
	h.startPass()
	data, err := readPayload(stdin, payloadWait)
	if err != nil {
		h.say("%v", err)
		return 0
	}
	if event == sessionStart || event == userPromptSubmit {
		h.answer(data)
	}
	return 0
}

// A call is one run of a hook.
type call struct {
	event          string
	environ        config.Environ
	stdout, stderr io.Writer
}

// twice reports whether the plugin asks for what an entry of the settings asks for as
// well. Then only the entry is answered. Settings that cannot be read have no entry, and
// whatever happens here keeps no pass from being started.
func (h *call) twice() (yes bool) {
	defer func() { _ = recover() }()
	if !h.environ.ByPlugin() {
		return false
	}
	places, err := h.environ.Wiring()
	return err == nil && claude.RunsHook(places.ClaudeSettings, h.event)
}

// startPass starts the pass that archives what the session wrote so far.
func (h *call) startPass() {
	exe, err := os.Executable()
	if err == nil {
		err = detach.Start(exe, pass)
	}
	if err != nil {
		h.say("start a pass: %v", err)
	}
}

// An answer is what came of making a text.
type answer struct {
	text string
	err  error
}

// answer hands over the text of an event, if it is ready in time.
func (h *call) answer(data []byte) {
	late := time.NewTimer(answerWait)
	w := &worker{event: h.event, environ: h.environ, received: clock.Now()}
	made := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				made <- answer{err: fmt.Errorf("%w: %v", errInternal, p)}
			}
		}()
		text, err := w.text(context.Background(), data)
		made <- answer{text, err}
	}()
	select {
	case a := <-made:
		if a.err != nil {
			h.say("%v", a.err)
			return
		}
		h.write(a.text)
	case <-late.C:
		h.expire(&w.notes)
		h.say("nothing is handed over: it took longer than %v", answerWait)
	}
}

// expire takes back what was noted of a text that comes too late.
func (h *call) expire(n *notes) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // it is too late to say anything
		n.expire()
	}()
	select {
	case <-done:
	case <-time.After(recordWait):
	}
}

// An output is what an agent reads of a hook.
type output struct {
	Specific struct {
		Context string `json:"additionalContext"`
		Event   string `json:"hookEventName"`
	} `json:"hookSpecificOutput"`
}

// write hands text over; a blank one is none.
func (h *call) write(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	var o output
	o.Specific.Context, o.Specific.Event = text, h.event
	line, err := document.Encode(o)
	if err != nil {
		h.say("%v", err)
		return
	}
	_, _ = h.stdout.Write(append(line, '\n')) // who does not read it needs no telling
}

// say writes one line for the agent's debug log.
func (h *call) say(format string, args ...any) {
	line := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, fmt.Sprintf(format, args...))
	_, _ = fmt.Fprintf(h.stderr, "terminus: %s %s: %s\n", Name, h.event, line)
}
