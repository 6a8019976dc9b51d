package modeltest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/modeltest"
)

// tools are what a client offers in a conversation.
const tools = `"tools":[{"name":"Bash","input_schema":{}}]`

func ask(t *testing.T, m *modeltest.Server, path, body string) (int, string) {
	t.Helper()
	res, err := http.Post(m.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// said is an answer that does not stream.
type said struct {
	Content []struct {
		Type, Text, Name string
		Input            map[string]any
	}
	StopReason string `json:"stop_reason"`
	Usage      struct {
		InputTokens int `json:"input_tokens"`
	}
}

func (s said) String() string {
	var parts []string
	for _, c := range s.Content {
		parts = append(parts, strings.TrimSpace(c.Text+" "+c.Name))
	}
	return strings.Join(parts, ", ") + "; " + s.StopReason
}

func converse(t *testing.T, m *modeltest.Server, messages string) said {
	t.Helper()
	code, text := ask(t, m, "/v1/messages?beta=true", `{"model":"m",`+tools+`,"messages":[`+messages+`]}`)
	var s said
	if err := json.Unmarshal([]byte(text), &s); err != nil || code != http.StatusOK {
		t.Fatalf("%d %v %s", code, err, text)
	}
	return s
}

func TestTheScriptIsThatOfTheNewestPromptAndTheStepIsCountedFromIt(t *testing.T) {
	m := modeltest.Start(t)
	m.Script("one", modeltest.Step{Text: "first", Calls: []modeltest.Call{{Tool: "Bash", Input: map[string]any{"command": "ls"}}}}, modeltest.Say("second"))
	m.Script("two", modeltest.Step{Text: "other", InputTokens: 7})
	const (
		one    = `{"role":"user","content":"play:one please"}`
		call   = `{"role":"assistant","content":[{"type":"text","text":"first"},{"type":"tool_use","id":"t","name":"Bash","input":{}}]}`
		result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"play:two"}]}`
		told   = `{"role":"system","content":"it last asked play:two"}`
	)
	for _, tc := range []struct{ name, messages, want string }{
		{"the first step", one, "first, Bash; tool_use"},
		{"after a call", one + "," + call + "," + result, "second; end_turn"},
		{"an answer in two messages", one + "," + call + "," + call + "," + result, "second; end_turn"},
		{"at the end", one + "," + call + "," + result + "," + call + "," + result, "There is nothing to say.; end_turn"},
		{"no script", `{"role":"user","content":"hello"}`, "There is nothing to say.; end_turn"},
		{"a script that there is none of", `{"role":"user","content":"play:three"}`, "There is nothing to say.; end_turn"},
		{"another prompt", one + "," + call + `,{"role":"user","content":[{"type":"text","text":"play:two"}]}`, "other; end_turn"},
		{"what the system quotes", one + "," + told, "first, Bash; tool_use"},
		{"what a reminder quotes", `{"role":"user","content":[{"type":"text","text":"play:one"},{"type":"text","text":"<system-reminder>\nplay:two"}]}`, "first, Bash; tool_use"},
	} {
		if got := converse(t, m, tc.messages).String(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := converse(t, m, `{"role":"user","content":"play:two"}`).Usage.InputTokens; got != 7 {
		t.Errorf("%d tokens, want 7", got)
	}
}

func TestWhatIsNoConversationIsAnsweredAndKept(t *testing.T) {
	m := modeltest.Start(t)
	for _, tc := range []struct {
		path, body, kind string
		code             int
		want             string
	}{
		{"/v1/messages", `{` + tools + `,"messages":[{"role":"user","content":"Your task is to create a detailed summary of it."}]}`, modeltest.KindSummary, 200, modeltest.Summary},
		{"/v1/messages", `{"messages":[{"role":"user","content":"A title?"}]}`, modeltest.KindSide, 200, `"text":"A small program"`},
		{"/v1/messages", `{"output_config":{"format":{"schema":{"properties":{"title":{"type":"string"},"n":{"type":"number"}}}}},"messages":[]}`, modeltest.KindSide, 200, `{\"title\":\"A small program\"}`},
		{"/v1/messages/count_tokens", `{"messages":[]}`, modeltest.KindOther, 200, `{"input_tokens":4}`},
		{"/v1/messages", `{"messages":`, modeltest.KindOther, 400, "unexpected end of JSON input"},
		{"/v1/elsewhere", ``, modeltest.KindOther, 404, "/v1/elsewhere"},
	} {
		code, text := ask(t, m, tc.path, tc.body)
		if code != tc.code || !strings.Contains(text, tc.want) {
			t.Errorf("%s %s: %d %s, want %d %s", tc.path, tc.body, code, text, tc.code, tc.want)
		}
		all := m.Requests()
		if last := all[len(all)-1]; last.Kind != tc.kind || last.Path != tc.path {
			t.Errorf("%s %s: kept as %s %s", tc.path, tc.body, last.Kind, last.Path)
		}
	}
}

// A stream, put together, is the answer that does not stream.
func TestAStreamIsTheSameAnswer(t *testing.T) {
	m := modeltest.Start(t)
	m.Script("one", modeltest.Step{Text: "say <this>\n", Calls: []modeltest.Call{{Tool: "A", Input: map[string]any{"x": "\u2028"}}, {Tool: "B"}}})
	const body = `"model":"m",` + tools + `,"messages":[{"role":"user","content":"play:one"}]}`
	_, text := ask(t, m, "/v1/messages", `{"stream":true,`+body)
	var got []string
	stop := ""
	for _, event := range strings.Split(strings.TrimSpace(text), "\n\n") {
		name, data, _ := strings.Cut(event, "\ndata: ")
		var e struct {
			Type  string
			Index int
			Block struct{ Type, Name, ID string } `json:"content_block"`
			Delta struct {
				Text       string
				Partial    string `json:"partial_json"`
				StopReason string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil || name != "event: "+e.Type {
			t.Fatalf("%v: %q", err, event)
		}
		switch e.Type {
		case "content_block_start":
			got = append(got, e.Block.Type+" "+e.Block.Name+" ")
		case "content_block_delta":
			got[e.Index] += e.Delta.Text + e.Delta.Partial
		case "message_delta":
			stop = e.Delta.StopReason
		}
	}
	if want := []string{"text  say <this>\n", `tool_use A {"x":"\u2028"}`, "tool_use B {}"}; fmt.Sprint(got) != fmt.Sprint(want) || stop != "tool_use" {
		t.Errorf("%q %s, want %q", got, stop, want)
	}
	if whole := converse(t, m, `{"role":"user","content":"play:one"}`).String(); whole != "say <this>, A, B; tool_use" {
		t.Errorf("not streamed: %q", whole)
	}
}

func TestARequestIsReadAsTheModelReadsIt(t *testing.T) {
	m := modeltest.Start(t)
	converse(t, m, `{"role":"user","content":"one"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]},`+
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"two"},{"type":"text","text":"three"}]},{"type":"text","text":"four"}]}`)
	r := m.Requests()[0]
	if text := r.Text(); text != "\none\n\ntwo\nthree\nfour" {
		t.Errorf("text %q", text)
	}
	if results := r.Results(); len(results) != 1 || results[0].Text != "two\nthree" || !results[0].IsError {
		t.Errorf("results %+v", results)
	}
	if call := r.Messages[1].Content[0]; call.Tool != "Bash" || call.Input["command"] != "ls" || fmt.Sprint(r.Tools) != "[Bash]" {
		t.Errorf("call %+v, tools %v", call, r.Tools)
	}
}

// Whatever a client sends is answered, and with one answer.
func FuzzAnyRequestIsAnswered(f *testing.F) {
	f.Add(`{"stream":true,` + tools + `,"messages":[{"role":"user","content":"play:one"}]}`)
	f.Add(`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[["x"]]}]}]}`)
	f.Add(`{"system":7,"tools":{}}`)
	m := modeltest.Start(f)
	m.Script("one", modeltest.Say("first"))
	f.Fuzz(func(t *testing.T, body string) {
		before := len(m.Requests())
		code, text := ask(t, m, "/v1/messages", body)
		if code != http.StatusOK && code != http.StatusBadRequest || text == "" || len(m.Requests()) != before+1 {
			t.Errorf("%d %q, %d requests", code, text, len(m.Requests())-before)
		}
	})
}
