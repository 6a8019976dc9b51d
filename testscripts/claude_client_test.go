package testscripts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/modeltest"
)

// claudeVar names the program of a real Claude Code. `make test-claude` installs
// some with npm and sets this.
const claudeVar = "TERMINUS_CLAUDE"

const (
	// claudePatience is how long one run of Claude Code may take: two seconds are
	// usual, and a machine may have other things to do.
	claudePatience = 2 * time.Minute
	// claudeTries is how often a prompt is sent until no hook was too late. Claude
	// Code's own start takes both cores of a small machine.
	claudeTries = 8
	// lateHook is what a hook says that was.
	lateHook = "nothing is handed over: it took longer than"
)

// A claude is a real Claude Code in a home of its own, with a model that answers
// by script.
type claude struct {
	t       *testing.T
	program string
	home    string
	work    string // the project's directory
	terms   string // the program terminus
	model   *modeltest.Server
	env     []string
	runs    int

	given []string // every recall text that the model got, in order
}

// newClaude is one with Terminus connected by hand, as the pages say.
func newClaude(t *testing.T) *claude {
	t.Helper()
	c := bareClaude(t)
	c.configure("hooks.md", c.dir(".claude"), "settings.json")
	c.configure("mcp.md", c.home, ".claude.json")
	return c
}

// bareClaude is one that knows nothing of Terminus.
func bareClaude(t *testing.T) *claude {
	t.Helper()
	program := os.Getenv(claudeVar)
	if program == "" {
		t.Skip("needs a real Claude Code: make test-claude runs this")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the client's home is only told where HOME is")
	}
	home := resolved(t.TempDir())
	c := &claude{
		t: t, program: program, home: home, work: filepath.Join(home, "src", "demo"),
		terms: filepath.Join(binDir, "terminus"), model: modeltest.Start(t),
	}
	c.env = []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + c.dir("tmp"), "TERM=dumb", "LANG=C.UTF-8", "USER=dev", "SHELL=/bin/sh", "TZ=UTC",
		"ANTHROPIC_BASE_URL=" + c.model.URL, "ANTHROPIC_API_KEY=sk-none", "IS_SANDBOX=1",
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		// Whatever else the client might ask for over a network ends at the model.
		"HTTP_PROXY=" + c.model.URL, "HTTPS_PROXY=" + c.model.URL, "NO_PROXY=127.0.0.1",
	}
	c.dir("src", "demo")
	c.command("git", "init", "-q", "-b", "main").mustRun()
	t.Logf("Claude Code %s", c.version())
	return c
}

// dir makes a directory of the home.
func (c *claude) dir(name ...string) string {
	dir := filepath.Join(append([]string{c.home}, name...)...)
	c.check(os.MkdirAll(dir, 0o700))
	return dir
}

func (c *claude) check(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// configure writes what a page says that a person would: its first JSON, with the
// path of the program under test.
func (c *claude) configure(page, dir, name string) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", page))
	c.check(err)
	_, rest, found := strings.Cut(string(text), "```json\n")
	block, _, closed := strings.Cut(rest, "```")
	const path = "/home/me/.local/bin/terminus"
	if !found || !closed || !strings.Contains(block, path) {
		c.t.Fatalf("%s shows no configuration", page)
	}
	c.check(os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(block, path, c.terms)), 0o600))
}

// with sets a variable for what is run from here on, until undo.
func (c *claude) with(variable string) (undo func()) {
	before := c.env
	c.env = append(slices.Clone(before), variable)
	return func() { c.env = before }
}

type claudeCommand struct {
	*exec.Cmd
	c *claude
}

// command runs a program as the client would: in the project, with nothing of
// the caller's environment but the path.
func (c *claude) command(program string, args ...string) claudeCommand {
	ctx, cancel := context.WithTimeout(context.Background(), claudePatience)
	c.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = c.work, slices.Clone(c.env)
	return claudeCommand{cmd, c}
}

func (cmd claudeCommand) mustRun() string {
	cmd.c.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		cmd.c.t.Fatalf("%v: %v\n%s%s", cmd.Args, err, &out, &errs)
	}
	return out.String()
}

func (c *claude) version() string {
	return strings.TrimSpace(c.command(c.program, "--version").mustRun())
}

// A spoken is a prompt, and what became of it.
type spoken struct {
	session  string
	requests []modeltest.Request // for turns, all of this prompt
	summary  bool                // the model was asked for a compaction's summary
	briefs   []string            // what came with this prompt, not what a resumed session replays
	recalls  []string
	debug    string
}

// The arguments that resume a session, and that fork it.
func resumed(session string) []string { return []string{"--resume", session} }
func forkOf(session string) []string  { return []string{"--resume", session, "--fork-session"} }

// say sends one prompt, waits until the client and every pass that its hooks
// started have ended, and sends it again where the hook was too late that matters:
// in a new session each, else that of the prompt. The last of these is returned.
func (c *claude) say(prompt string, args ...string) spoken {
	c.t.Helper()
	matters := "hook UserPromptSubmit: " + lateHook
	if len(args) == 0 {
		matters = lateHook
	}
	for range claudeTries {
		s := c.sayOnce(prompt, args...)
		if !strings.Contains(s.debug, matters) {
			return s
		}
		c.t.Logf("a hook was too late for %q", prompt)
	}
	c.t.Fatalf("%q: a hook was too late %d times", prompt, claudeTries)
	return spoken{}
}

func (c *claude) sayOnce(prompt string, args ...string) spoken {
	c.t.Helper()
	c.runs++
	debug := c.debugLog(c.runs)
	before := len(c.model.Requests())
	args = append([]string{"-p", prompt, "--output-format", "json", "--dangerously-skip-permissions", "--debug-file", debug}, args...)
	out := c.command(c.program, args...).mustRun()
	passesEnd(c.home)
	var result struct {
		SessionID string `json:"session_id"`
		IsError   bool   `json:"is_error"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || result.IsError || result.SessionID == "" {
		c.t.Fatalf("%q: %v %s", prompt, err, out)
	}
	s := spoken{session: result.SessionID}
	for _, r := range c.model.Requests()[before:] {
		switch r.Kind {
		case modeltest.KindSummary:
			s.summary = true
		case modeltest.KindPlayed:
			s.requests = append(s.requests, r)
		case modeltest.KindOther:
			if r.Method == "CONNECT" {
				c.t.Logf("the client asked for %s", r.Path)
			}
		}
	}
	text, err := os.ReadFile(debug)
	c.check(err)
	s.debug = string(text)
	if len(s.requests) > 0 {
		s.briefs, s.recalls = handedOver(newest(&s.requests[0]))
		c.given = append(c.given, s.recalls...)
	}
	return s
}

var handed = regexp.MustCompile(`(?s)Terminus (resume brief|recall) - [^\n]*\n<terminus-recall>\n.*?\n</terminus-recall>`)

// handedOver are the whole texts of Terminus in what a model was told.
func handedOver(text string) (briefs, recalls []string) {
	for _, m := range handed.FindAllStringSubmatch(text, -1) {
		if m[1] == "recall" {
			recalls = append(recalls, m[0])
		} else {
			briefs = append(briefs, m[0])
		}
	}
	return briefs, recalls
}

// newest is what a request says after the last answer.
func newest(r *modeltest.Request) string {
	tail := *r
	for i, m := range r.Messages {
		if m.Role == "assistant" {
			tail.Messages = r.Messages[i+1:]
		}
	}
	return tail.Text()
}

var hookTook = regexp.MustCompile(`Hooks: (SessionStart|UserPromptSubmit|PostCompact)\S* \[\S+terminus hook \w+\] finished with status 0 \((\d+)ms\)`)

// hookTimes are how long the client says that its hooks took, by event: in its
// debug log or, where it is an older one, in the transcripts, of those that they
// mention.
func (c *claude) hookTimes() map[string][]time.Duration {
	c.t.Helper()
	times := map[string][]time.Duration{}
	took := func(event string, ms int) { times[event] = append(times[event], time.Duration(ms)*time.Millisecond) }
	for run := range c.runs {
		text, err := os.ReadFile(c.debugLog(run + 1))
		c.check(err)
		for _, m := range hookTook.FindAllStringSubmatch(string(text), -1) {
			ms, err := strconv.Atoi(m[2])
			c.check(err)
			took(m[1], ms)
		}
	}
	if len(times) > 0 {
		return times
	}
	found, err := filepath.Glob(c.transcripts("*"))
	c.check(err)
	seen := map[string]bool{}
	for _, path := range found {
		text, err := os.ReadFile(path)
		c.check(err)
		for line := range bytes.Lines(text) {
			var r struct {
				UUID       string
				Attachment struct {
					Event      string `json:"hookEvent"`
					Command    string
					DurationMS *int `json:"durationMs"`
				}
			}
			if json.Unmarshal(line, &r) == nil && r.Attachment.DurationMS != nil && strings.HasPrefix(r.Attachment.Command, c.terms) && !seen[r.UUID] {
				seen[r.UUID] = true
				took(r.Attachment.Event, *r.Attachment.DurationMS)
			}
		}
	}
	return times
}

func (c *claude) debugLog(run int) string {
	return filepath.Join(c.home, "debug-"+strconv.Itoa(run)+".txt")
}

// transcripts are the paths of the transcripts of a session, as a pattern.
func (c *claude) transcripts(session string) string {
	return filepath.Join(c.home, ".claude", "projects", "*", session+".jsonl")
}

// transcript is the path of a session's transcript.
func (c *claude) transcript(session string) string {
	c.t.Helper()
	found, err := filepath.Glob(c.transcripts(session))
	if err == nil && len(found) != 1 {
		err = errors.New("no, or more than one, transcript")
	}
	if err != nil {
		c.t.Fatalf("%s: %v", session, err)
	}
	return found[0]
}

// terminus runs a data command in the project and reads its document.
func (c *claude) terminus(data any, args ...string) {
	c.t.Helper()
	out := c.command(c.terms, append(args, "--json")...).mustRun()
	doc := struct{ Data any }{data}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		c.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

type claudeHit struct {
	TurnID     int64  `json:"turn_id"`
	SessionKey string `json:"session_key"`
	RecordType string `json:"record_type"`
	Excerpt    string
}

func (h claudeHit) String() string {
	return fmt.Sprintf("turn %d of %s (%s): %q", h.TurnID, h.SessionKey, h.RecordType, h.Excerpt)
}

// search finds turns of the project, with further flags of the command.
func (c *claude) search(words string, flags ...string) []claudeHit {
	c.t.Helper()
	var found struct{ Hits []claudeHit }
	c.terminus(&found, append([]string{"search", "--limit", "50", words}, flags...)...)
	return found.Hits
}

// body is the archived record of a turn.
func (c *claude) body(turn int64) string {
	c.t.Helper()
	var shown struct{ Records []struct{ Body string } }
	c.terminus(&shown, "show", strconv.FormatInt(turn, 10))
	if len(shown.Records) != 1 || shown.Records[0].Body == "" {
		c.t.Fatalf("terminus show %d: %+v", turn, shown)
	}
	return shown.Records[0].Body
}

type claudeDecision struct {
	SessionID  string `json:"session_id"`
	Compacted  bool
	Text       *string
	Reason     *string
	Candidates []struct {
		TurnID    int64 `json:"turn_id"`
		MatchedOn []any `json:"matched_on"`
	}
	Injected []struct {
		TurnID int64 `json:"turn_id"`
	}
	Suppressed []struct {
		TurnID int64 `json:"turn_id"`
		Reason string
	}
}

// decisions is the log, the newest first.
func (c *claude) decisions() []claudeDecision {
	c.t.Helper()
	var log struct{ Decisions []claudeDecision }
	c.terminus(&log, "log", "-n", "1000")
	return log.Decisions
}

// decided is what the log says of a session's newest prompt.
func (c *claude) decided(session string) claudeDecision {
	c.t.Helper()
	for _, d := range c.decisions() {
		if d.SessionID == session {
			return d
		}
	}
	c.t.Fatalf("no prompt of %s is logged", session)
	return claudeDecision{}
}
