package testscripts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long the server may take to end once it is asked to.
const patience = time.Second

// A client speaks to a server of the real binary.
type client struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
	id     int
}

func (h *machine) serve(args ...string) *client {
	h.t.Helper()
	c := &client{t: h.t, cmd: h.command(append([]string{"mcp"}, args...)...), stderr: &bytes.Buffer{}}
	in, err := c.cmd.StdinPipe()
	h.check(err)
	out, err := c.cmd.StdoutPipe()
	h.check(err)
	c.cmd.Stderr = c.stderr
	c.in, c.out = in, bufio.NewReader(out)
	h.check(c.cmd.Start())
	h.t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	return c
}

// call calls a tool, and gives its document and whether it is an error.
func (c *client) call(tool, arguments string) (doc string, failed bool) {
	c.t.Helper()
	c.ask(tool, arguments)
	return c.answer()
}

func (c *client) ask(tool, arguments string) {
	c.t.Helper()
	c.id++
	_, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", c.id, tool, arguments)
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) answer() (doc string, failed bool) {
	c.t.Helper()
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("%v %s", err, c.stderr)
	}
	var m struct {
		ID     int
		Result struct {
			Content []struct{ Type, Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal(line, &m); err != nil || m.ID != c.id || len(m.Result.Content) != 1 {
		c.t.Fatalf("%v: %s", err, line)
	}
	return m.Result.Content[0].Text, m.Result.IsError
}

// ends waits for the server to end, and gives how.
func (c *client) ends() error {
	c.t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		c.t.Fatal("the server still runs")
		return nil
	}
}

// converse fills a home with a session of one project.
func converse(t *testing.T, records ...string) *machine {
	t.Helper()
	h := newMachine(t)
	h.write(filepath.Join(h.dir, ".claude", "projects", "-work-app", "11111111-1111-4111-8111-111111111111.jsonl"), strings.Join(records, "\n")+"\n")
	h.ingest()
	return h
}

func said(n int, kind, content string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":"10000000-0000-4000-8000-%012d","parentUuid":null,"sessionId":"11111111-1111-4111-8111-111111111111","timestamp":"2026-08-12T20:00:%02d.000Z","cwd":"/work/app","message":{"role":%q,"content":%s}}`, kind, n, n, kind, content)
}

func quote(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What the tools answer is what the commands answer: a hit without matched_on, a
// record without its context, a context as it is.
func TestToolsAnswerAsTheCommandsDo(t *testing.T) {
	t.Parallel()
	h := converse(t,
		said(1, "user", `"where is the zebra \u2028 <quartz> & src/worker/S.ts?"`),
		said(2, "assistant", `[{"type":"text","text":"zebra here"},{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/work/app/src/worker/S.ts"}}]`),
		said(3, "user", `[{"type":"tool_result","tool_use_id":"t1","content":"export const zebra = 1"}]`),
	)
	c := h.serve()
	data := func(args ...string) map[string]any {
		out, errs, code := h.run(args...)
		if code != 0 || errs != "" {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
		var doc struct{ Data map[string]any }
		h.check(json.Unmarshal([]byte(out), &doc))
		return doc.Data
	}
	answer := func(tool, arguments string) map[string]any {
		text, failed := c.call(tool, arguments)
		if failed {
			t.Fatalf("%s %s: %s", tool, arguments, text)
		}
		var doc map[string]any
		h.check(json.Unmarshal([]byte(text), &doc))
		return doc
	}
	same := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the tool has\n%v\nthe command\n%v", what, got, want)
		}
	}
	for _, words := range []string{"zebra", "src/worker/S.ts", "zebra quartz", "nowhere"} {
		found := data("search", "--project", "*", "--json", words)
		for _, hit := range found["hits"].([]any) {
			delete(hit.(map[string]any), "matched_on")
		}
		recalled := answer("recall_search", `{"project":"*","query":`+quote(t, words)+`}`)
		same("recall_search "+words, recalled, map[string]any{"hits": found["hits"], "reason": nil})
	}
	shown := data("show", "--project", "*", "--json", "--before", "5", "--after", "5", "1")["records"].([]any)[0].(map[string]any)
	same("recall_context", answer("recall_context", `{"project":"*","turn_id":1}`), shown["context"])
	delete(shown, "context")
	same("recall_get", answer("recall_get", `{"project":"*","turn_ids":[1]}`)["records"], []any{shown})
}

// Each tool's answer, as a client writes it into its transcript, is archived and
// is not found again, whether it holds something or nothing.
func TestAnswersAreNoHistory(t *testing.T) {
	t.Parallel()
	h := converse(t, said(1, "user", `"zebra quartz, typed"`), said(2, "assistant", `"zebra quartz, answered"`))
	c := h.serve()
	records := []string{said(1, "user", `"zebra quartz, typed"`), said(2, "assistant", `"zebra quartz, answered"`)}
	for _, call := range []struct{ tool, arguments string }{
		{"recall_search", `{"query":"zebra quartz","project":"*"}`},
		{"recall_search", `{"query":"zebra quartz","project":"/zebra/quartz"}`},
		{"recall_search", `{"query":"zebra quartz","since":"zebra quartz"}`},
		{"recall_context", `{"turn_id":0,"project":"*"}`},
		{"recall_context", `{"turn_id":0,"project":"/zebra/quartz"}`},
		{"recall_context", `{"turn_id":"zebra quartz"}`},
		{"recall_get", `{"turn_ids":[0,1,99],"project":"*"}`},
		{"recall_get", `{"turn_ids":[0],"project":"/zebra/quartz"}`},
		{"recall_get", `{"turn_ids":["zebra quartz"]}`},
	} {
		text, _ := c.call(call.tool, call.arguments)
		if !strings.Contains(text, "zebra") {
			t.Fatalf("%s %s answers %s: nothing to find", call.tool, call.arguments, text)
		}
		quoted := quote(t, text)
		n := len(records) + 1
		block := said(n, "user", `[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":`+quoted+`}]}]`)
		result := `"toolUseResult":[{"type":"text","text":` + quoted + `}]}`
		records = append(records, strings.TrimSuffix(block, "}")+","+result)
	}
	h.write(filepath.Join(h.dir, ".claude", "projects", "-work-app", "11111111-1111-4111-8111-111111111111.jsonl"), strings.Join(records, "\n")+"\n")
	h.ingest()
	text, _ := c.call("recall_search", `{"query":"zebra","project":"*","limit":50}`)
	var doc struct {
		Hits []struct {
			TurnID int `json:"turn_id"`
		}
	}
	h.check(json.Unmarshal([]byte(text), &doc))
	for _, hit := range doc.Hits {
		if hit.TurnID > 1 {
			t.Errorf("turn %d, an answer of a tool, is found", hit.TurnID)
		}
	}
	if len(doc.Hits) != 2 {
		t.Errorf("%d hits, want the 2 turns of the conversation: %s", len(doc.Hits), text)
	}
	if text, _ := c.call("recall_get", fmt.Sprintf(`{"turn_ids":[%d],"project":"*"}`, len(records)-1)); !strings.Contains(text, "zebra") {
		t.Errorf("the record of the last answer is not archived: %s", text)
	}
}

func TestTheServerEndsWhenItIsAskedTo(t *testing.T) {
	t.Parallel()
	h := converse(t, said(1, "user", `"zebra"`))
	end := map[string]func(c *client) error{
		"stdin closes": func(c *client) error { return c.in.Close() },
	}
	if runtime.GOOS != "windows" { // where a process cannot be asked
		end["SIGINT"] = func(c *client) error { return c.cmd.Process.Signal(os.Interrupt) }
		end["SIGTERM"] = func(c *client) error { return terminate(c.cmd.Process) }
	}
	for name, ask := range end {
		t.Run(name, func(t *testing.T) {
			c := h.serve()
			c.t = t
			c.call("recall_search", `{"query":"zebra","project":"*"}`)
			h.check(ask(c))
			err := c.ends()
			if name == "stdin closes" && err != nil {
				t.Error(err)
			}
			if c.stderr.Len() > 0 {
				t.Errorf("stderr %q", c.stderr)
			}
		})
	}
}

// A client that is no longer read from ends the server, quietly.
func TestAClosedStdoutEndsTheServer(t *testing.T) {
	t.Parallel()
	h := newMachine(t)
	cmd := h.command("mcp")
	in, err := cmd.StdinPipe() // stays open
	h.check(err)
	r, w, err := os.Pipe()
	h.check(err)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &errs
	h.check(cmd.Start())
	w.Close()
	r.Close()
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if err != nil && !errors.Is(err, os.ErrClosed) {
		t.Fatal(err)
	}
	c := &client{t: t, cmd: cmd}
	if err := c.ends(); err != nil || errs.Len() > 0 {
		t.Errorf("%v, stderr %q", err, &errs)
	}
}

// C119: the calls of eight servers at once are answered while a backfill writes,
// none of them by a lock, and they see what was archived meanwhile.
func TestCallsAreAnsweredWhileABackfillWrites(t *testing.T) {
	t.Parallel()
	h := converse(t, said(1, "user", `"zebra, the first"`))
	const sessions, records, clients = 40, 500, 8
	for i := range sessions {
		var b strings.Builder
		for n := range records {
			b.WriteString(strings.ReplaceAll(said(n, "user", `"zebra again `+strings.Repeat("and some words more ", 20)+`"`), "11111111-1111", fmt.Sprintf("2222%04d-1111", i)) + "\n")
		}
		h.write(filepath.Join(h.dir, ".claude", "projects", "-work-app", fmt.Sprintf("2222%04d-1111-4111-8111-111111111111.jsonl", i)), b.String())
	}
	backfill := h.command("backfill", "--wait")
	h.check(backfill.Start())
	done := make(chan error, 1)
	go func() { done <- backfill.Wait() }()
	var servers []*client
	for range clients {
		servers = append(servers, h.serve())
	}
	rounds := 0
	for running := true; running; {
		select {
		case err := <-done:
			h.check(err)
			running = false // one more round sees everything
		default:
		}
		for _, call := range []struct{ tool, arguments, want string }{
			{"recall_search", `{"query":"first","project":"/work/app"}`, `"turn_id":0`},
			{"recall_context", `{"turn_id":0,"project":"*"}`, `"turn_id":0`},
			{"recall_get", `{"turn_ids":[0],"project":"*"}`, `"body":"{`},
		} {
			for _, c := range servers {
				c.ask(call.tool, call.arguments)
			}
			for _, c := range servers {
				if text, failed := c.answer(); failed || !strings.Contains(text, call.want) {
					t.Fatalf("%s answers %s", call.tool, text)
				}
			}
		}
		rounds++
	}
	text, _ := servers[0].call("recall_search", `{"query":"again","project":"/work/app","limit":50}`)
	if n := strings.Count(text, `"turn_id"`); n != 50 {
		t.Errorf("%d hits after the backfill, want 50", n)
	}
	if rounds < 2 {
		t.Error("no call was made while the backfill ran")
	}
}
