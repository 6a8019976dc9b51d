package claude

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// mentions shows what a record with that body mentions.
func mentions(t *testing.T, body string) string {
	t.Helper()
	turns := turnsOf(`{` + frame + `,` + body + `}`)
	if len(turns) != 1 {
		t.Fatalf("%d turns", len(turns))
	}
	names := []string{"tool", "path", "shell", "identifiers", "query", "failure"}
	var out []string
	for _, m := range turns[0].Mentions {
		out = append(out, names[m.Origin]+":"+string(m.Text))
	}
	return strings.Join(out, "|")
}

func calls(blocks string) string {
	return `"type":"assistant","message":{"role":"assistant","content":[` + blocks + `]}`
}

func TestMentionsOfCalls(t *testing.T) {
	tests := []struct{ name, blocks, want string }{
		{"Read", `{"type":"tool_use","name":"Read","input":{"file_path":"a.go","limit":5}}`, "tool:Read|path:a.go"},
		{"any tool's paths, in this order", `{"type":"tool_use","name":"X","input":{"notebook_path":"n","path":"p","file_path":"f"}}`, "tool:X|path:f|path:p|path:n"},
		{"input before the name", `{"input":{"command":"ls a/b"},"name":"Bash","type":"tool_use"}`, "tool:Bash|shell:ls a/b"},
		{"Grep", `{"type":"tool_use","name":"Grep","input":{"pattern":"fooBar","path":"src"}}`, "tool:Grep|path:src|identifiers:fooBar"},
		{"Edit", `{"type":"tool_use","name":"Edit","input":{"file_path":"f","new_string":"new","old_string":"old"}}`, "tool:Edit|path:f|identifiers:old|identifiers:new"},
		{"Write: only its path", `{"type":"tool_use","name":"Write","input":{"file_path":"f","content":"fooBar"}}`, "tool:Write|path:f"},
		{"command of another tool", `{"type":"tool_use","name":"BashOutput","input":{"command":"ls a/b"}}`, "tool:BashOutput"},
		{
			"recall_search", `{"type":"tool_use","name":"mcp__terminus__recall_search","input":{"query":"fooBar a/b","paths":["p/q",7,"","r"]}}`,
			"tool:mcp__terminus__recall_search|query:fooBar a/b|path:p/q|path:r",
		},
		{"bare recall_search", `{"type":"tool_use","name":"recall_search","input":{"paths":["x"],"paths":["y"]}}`, "tool:recall_search|path:y"},
		{"another name's end", `{"type":"tool_use","name":"xrecall_search","input":{"query":"fooBar","paths":["p"]}}`, "tool:xrecall_search"},
		{"last of equal keys", `{"type":"tool_use","name":"R","input":{"path":"a","path":"b","file_path":"c","file_path":1}}`, "tool:R|path:b"},
		{"fields below", `{"type":"tool_use","name":"MultiEdit","input":{"file_path":"f","edits":[{"old_string":"fooBar"}],"x":{"path":"p"}}}`, "tool:MultiEdit|path:f"},
		{"input that is no object", `{"type":"tool_use","name":"R","input":"x"}`, "tool:R"},
		{"last of two inputs", `{"type":"tool_use","name":"R","input":{"path":"a"},"input":{}}`, "tool:R"},
		{"name that is no text", `{"type":"tool_use","name":7,"input":{"file_path":"f"}}`, ""},
		{"several calls", `{"type":"tool_use","name":"A","input":{"path":"a"}},{"type":"text","text":"fooBar a/b"},{"type":"tool_use","name":"B","input":{}}`, "tool:A|path:a|tool:B"},
		{"a text that looks like a call", `{"type":"text","name":"Read","input":{"file_path":"f"},"text":"x"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mentions(t, calls(tt.blocks)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestMentionsOfResults(t *testing.T) {
	result := func(block, structured string) string {
		body := `"type":"user","message":{"role":"user","content":[` + block + `]}`
		if structured != "" {
			body += `,"toolUseResult":` + structured
		}
		return body
	}
	const good = `{"type":"tool_result","content":"src/a.go"}`
	tests := []struct{ name, body, want string }{
		{"a good result", result(good, ""), ""},
		{"a failed one", result(`{"type":"tool_result","is_error":true,"content":"no such file"}`, ""), "failure:no such file"},
		{"its parts", result(`{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}],"is_error":true,"type":"tool_result"}`, ""), "failure:a\nb"},
		{"is_error that is no boolean", result(`{"type":"tool_result","is_error":"true","content":"x"}`, ""), ""},
		{"a failed one without text", result(`{"type":"tool_result","is_error":true}`, ""), ""},
		{"file paths and a standard error", result(good, `{"stderr":"warning: x","file":{"content":"y","filePath":"b.go"},"filePath":"a.go"}`), "path:a.go|path:b.go|failure:warning: x"},
		{"the last file", result(good, `{"file":{"filePath":"b.go"},"file":{"content":""}}`), ""},
		{"fields elsewhere", result(good, `{"x":{"filePath":"b.go","stderr":"e"},"file":{"y":{"filePath":"c"}}}`), ""},
		{"not an object", result(good, `"Error: filePath"`), ""},
		{"interrupted", result(good, `{"interrupted":true,"stderr":""}`), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mentions(t, tt.body); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestProseAndAttachmentsMentionNothing(t *testing.T) {
	for _, body := range []string{
		`"type":"user","message":{"content":"look at src/worker/S.ts and fooBar"}`,
		`"type":"attachment","attachment":{"type":"file","filePath":"a.go","filename":"a.go","content":"fooBar"}`,
		`"type":"system","content":"src/a.go"`,
	} {
		if got := mentions(t, body); got != "" {
			t.Errorf("%s mentions %s", body, got)
		}
	}
}

func quoted(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // as Terminus itself writes
	if err := enc.Encode(text); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestWhatHooksOfTerminusSaidIsNotIndexed(t *testing.T) {
	const inner = "\n<terminus-recall>\n- turn 7: zebra\n</terminus-recall>"
	own := quoted(transcript.RecallIntro + inner)
	wrapped := quoted(`{"hookSpecificOutput":{"additionalContext":` + quoted(transcript.BriefIntro+inner) + `}}`)
	for name, tt := range map[string]struct {
		attachment string
		want       bool
	}{
		"its text":                      {`{"type":"hook_additional_context","content":[` + own + `],"hookName":"UserPromptSubmit"}`, true},
		"its output":                    {`{"type":"hook_success","content":"","stdout":` + wrapped + `}`, true},
		"another hook's text":           {`{"type":"hook_additional_context","content":["zebra"]}`, false},
		"the same text from elsewhere":  {`{"type":"file","content":` + own + `}`, false},
		"a queued prompt that holds it": {`{"type":"queued_command","prompt":` + own + `}`, false},
	} {
		turn := turnsOf(`{"type":"attachment",` + frame + `,"attachment":` + tt.attachment + `}`)[0]
		if turn.Unindexed != tt.want {
			t.Errorf("%s: not indexed %v", name, turn.Unindexed)
		}
	}
}

func TestAnswersOfTerminusAreNotIndexedAndItsCallsAre(t *testing.T) {
	answer := `{"hits":[],"reason":"zebra"}`
	block := func(content string) string {
		return `{"type":"tool_result","tool_use_id":"t","content":` + content + `}`
	}
	user := func(blocks, structured string) string {
		return `{"type":"user",` + frame + `,"message":{"content":[` + blocks + `]},"toolUseResult":` + structured + `}`
	}
	for name, tt := range map[string]struct{ line, want string }{
		"a text":                      {user(block(quoted(answer)), quoted(answer)), ""},
		"a part":                      {user(block(`[{"type":"text","text":`+quoted(answer)+`}]`), `[{"type":"text","text":`+quoted(answer)+`}]`), ""},
		"the structured form as well": {user(block(quoted(answer)), answer), ""},
		"beside another result":       {user(block(quoted(answer))+","+block(`"kept"`), `{"x":"also"}`), "kept|*also"},
		"another tool's answer":       {user(block(`"{\"hits\":[{\"id\":1}],\"reason\":\"x\"}"`), `"y"`), `{"hits":[{"id":1}],"reason":"x"}|*y`},
		"an answer that a person typed": {
			`{"type":"user",` + frame + `,"message":{"content":` + quoted(answer) + `}}`, answer,
		},
	} {
		turn := turnsOf(tt.line)[0]
		if got := pieces(turn); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if len(turn.Mentions) != 0 {
			t.Errorf("%s: mentions %v", name, turn.Mentions)
		}
	}
	call := turnsOf(`{` + frame + `,` + calls(`{"type":"tool_use","name":"mcp__terminus__recall_search","input":{"query":"zebraStripes"}}`) + `}`)[0]
	if pieces(call) != "mcp__terminus__recall_search|zebraStripes" || len(call.Mentions) != 2 {
		t.Errorf("call: %s, %v", pieces(call), call.Mentions)
	}
	failed := turnsOf(user(strings.Replace(block(quoted(answer)), `"type"`, `"is_error":true,"type"`, 1), `"x"`))[0]
	if len(failed.Mentions) != 0 || pieces(failed) != "" {
		t.Errorf("failed call: %v", failed.Mentions)
	}
}
