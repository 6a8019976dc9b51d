package claude

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// frame is what every turn of these tests has.
const frame = `"uuid":"u1","timestamp":"2026-08-12T10:00:00.000Z","sessionId":"s1"`

func turnsOf(line string) []transcript.Turn {
	return Harness{}.Turns([]byte(line), new(transcript.State))
}

// pieces shows a turn's pieces, an echo with a star.
func pieces(t transcript.Turn) string {
	var out []string
	for _, p := range t.Pieces {
		text := string(p.Text)
		if p.Echo {
			text = "*" + text
		}
		out = append(out, text)
	}
	return strings.Join(out, "|")
}

func TestWhatIsATurn(t *testing.T) {
	tests := []struct {
		name, line string
		want       int
	}{
		{"user", `{"type":"user",` + frame + `}`, 1},
		{"assistant", `{"type":"assistant",` + frame + `}`, 1},
		{"system", `{"type":"system",` + frame + `}`, 1},
		{"attachment", `{"type":"attachment",` + frame + `}`, 1},
		{"empty uuid and timestamp", `{"type":"user","uuid":"","timestamp":""}`, 1},
		{"any timestamp", `{"type":"user","uuid":"u","timestamp":"t"}`, 1},
		{"white space and NULs around", "\x00 {\"type\":\"user\"," + frame + "}\x00\x00\r\n", 1},
		{"escaped keys and type", `{"\u0074ype":"us\u0065r",` + frame + `}`, 1},
		{"last of equal keys", `{"type":"mode","uuid":1,"type":"user",` + frame + `}`, 1},
		{"invalid UTF-8 in a string", `{"type":"user","x":"` + "\xff" + `",` + frame + `}`, 1},
		{"lone surrogate", `{"type":"user","x":"\ud83d",` + frame + `}`, 1},
		{"huge number", `{"type":"user","x":1e9999,` + frame + `}`, 1},
		{"two on a line", `{"type":"user",` + frame + `}{"type":"user",` + frame + `}`, 2},
		{"one behind a torn one", `{"type":"assistant","message":{"con{"type":"user",` + frame + `}`, 1},
		{"one before a torn one", `{"type":"user",` + frame + `}{"type":"assi`, 1},
		{"torn", `{"type":"attachment","attach`, 0},
		{"number as type", `{"type":1,` + frame + `}`, 0},
		{"other type", `{"type":"progress",` + frame + `}`, 0},
		{"type in upper case", `{"type":"User",` + frame + `}`, 0},
		{"key in upper case", `{"Type":"user",` + frame + `}`, 0},
		{"no uuid", `{"type":"user","timestamp":"t"}`, 0},
		{"null uuid", `{"type":"user","uuid":null,"timestamp":"t"}`, 0},
		{"number as timestamp", `{"type":"user","uuid":"u","timestamp":1752739201}`, 0},
		{"last of equal keys is wrong", `{"type":"user",` + frame + `,"uuid":7}`, 0},
		{"array", `[{"type":"user",` + frame + `}]`, 0},
		{"request copy", `{"type":"api-request-blob","message":{"role":"user","content":"x"},` + frame + `}`, 0},
		{"turn inside another record", `{"type":"progress","data":{"type":"user",` + frame + `}}`, 0},
		{"empty", "\n", 0},
		{"NULs", strings.Repeat("\x00", 400) + "\n", 0},
		{"string", `"user"`, 0},
		{"nested too deep", `{"type":"user",` + frame + `,"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := turnsOf(tt.line); len(got) != tt.want {
				t.Errorf("%d turns, want %d", len(got), tt.want)
			}
		})
	}
}

func TestSpansOfTurns(t *testing.T) {
	one := `{"type":"user",` + frame + `}`
	line := "\x00\x00" + one + "\x00 " + `{"type":"mode"}` + one + `{"type":"assi` + "\n"
	turns := turnsOf(line)
	if len(turns) != 2 {
		t.Fatalf("%d turns, want 2", len(turns))
	}
	for _, turn := range turns {
		if got := line[turn.Off : turn.Off+turn.Len]; got != one {
			t.Errorf("span is %q", got)
		}
	}
}

func TestFieldsOfATurn(t *testing.T) {
	turn := turnsOf(`{"parentUuid":"p1","type":"assistant","message":{"content":[{"type":"text","text":"x"},` +
		`{"type":"tool_use","name":"Bash","input":{}},{"type":"tool_use","name":"Read"}]},` + frame + `}`)[0]
	want := transcript.Turn{UUID: "u1", ParentUUID: "p1", Type: "assistant", ToolName: "Bash", TS: "2026-08-12T10:00:00.000Z"}
	if turn.UUID != want.UUID || turn.ParentUUID != want.ParentUUID || turn.Type != want.Type || turn.ToolName != want.ToolName || turn.TS != want.TS {
		t.Errorf("turn %+v", turn)
	}
	if turn.Nature != transcript.NatureNone || turn.ToolResult || turn.Boundary || turn.Unindexed {
		t.Errorf("turn %+v", turn)
	}
}

func TestCompactionBoundary(t *testing.T) {
	line := `{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":null,` +
		`"compactMetadata": {"trigger":"manual", "preTokens":13430},"x":{"compactMetadata":{}},` + frame + `}`
	turn := turnsOf(line)[0]
	if !turn.Boundary || string(turn.BoundaryMeta) != `{"trigger":"manual", "preTokens":13430}` {
		t.Errorf("boundary %v, %q", turn.Boundary, turn.BoundaryMeta)
	}
	if pieces(turn) != "Conversation compacted" {
		t.Errorf("pieces %q", pieces(turn))
	}
	if turn := turnsOf(`{"type":"system","subtype":"turn_duration","compactMetadata":{},` + frame + `}`)[0]; turn.Boundary {
		t.Error("another subtype is a boundary")
	}
}

func TestPieces(t *testing.T) {
	tests := []struct{ name, members, want string }{
		{"content as a string", `"message":{"content":"hello"}`, "hello"},
		{"blocks in order", `"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a|b"},
		{"tool call", `"message":{"content":[{"type":"tool_use","id":"toolu","name":"Grep","input":{"pattern":"p","path":"src","n":3}}]}`, "Grep|src|p"},
		{"tool call with its input before its name", `"message":{"content":[{"input":{"a":"x"},"name":"T","type":"tool_use"}]}`, "T|x"},
		{"tool result as a string", `"message":{"content":[{"tool_use_id":"t","type":"tool_result","content":"out"}]}`, "out"},
		{"tool result as parts", `"message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"a"},{"type":"image","text":"no"},{"text":"b","type":"text"},null,"no"]}]}`, "a|b"},
		{"tool result without content", `"message":{"content":[{"type":"tool_result"}]}`, ""},
		{"thinking", `"message":{"content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"text","text":"a"}]}`, "a"},
		{"unknown block", `"message":{"content":[{"type":"new","text":"no","input":{"x":"no"},"content":"no"},3,null,"no",[]]}`, ""},
		{"top-level content", `"content":"note","message":{"content":"m"}`, "m|note"},
		{"top-level content that is no string", `"content":["no"]`, ""},
		{"structured result", `"toolUseResult":{"stdout":"o","stderr":"e","n":1},"message":{"content":"m"}`, "m|*e|*o"},
		{"structured result as a string", `"toolUseResult":"Error: x"`, "*Error: x"},
		{"structured result as a list", `"toolUseResult":[{"type":"text","text":"x"},null]`, "*x|*text"},
		{"attachment", `"attachment":{"type":"file","filename":"/a/b","content":{"text":"t"}}`, "t|/a/b|file"},
		{"all four, whatever their order", `"attachment":"4","toolUseResult":"3","content":"2","message":{"content":"1"}`, "1|2|*3|4"},
		{"last message", `"message":{"content":"first"},"message":{"content":"second"}`, "second"},
		{"last message, though it has none", `"message":{"content":"first"},"message":"x"`, ""},
		{"last content", `"message":{"content":[{"type":"tool_use","name":"T"}],"content":"second"}`, "second"},
		{"last result", `"toolUseResult":"first","toolUseResult":["second"]`, "*second"},
		{"last field of a block", `"message":{"content":[{"type":"text","text":"first","text":"second"}]}`, "second"},
		{"wrong types", `"message":[],"content":{},"toolUseResult":null,"attachment":7`, ""},
		{"wrong types of content", `"message":{"content":{"type":"text","text":"no"}}`, ""},
		{"invalid UTF-8 and lone surrogates", `"content":"a\ud83db` + "\xed\xa0\xbdc\"", "a\ufffdb\ufffd\ufffd\ufffdc"},
		{"nothing else", `"gitBranch":"b","cwd":"/c","rendered":[{"content":"no"}],"slug":"s"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			turns := turnsOf(`{"type":"user",` + tt.members + `,` + frame + `}`)
			if len(turns) != 1 {
				t.Fatalf("%d turns", len(turns))
			}
			if got := pieces(turns[0]); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestTypedText(t *testing.T) {
	content := func(text string) string {
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return `"message":{"content":` + string(b) + `}`
	}
	blocks := func(b ...string) string { return `"message":{"content":[` + strings.Join(b, ",") + `]}` }
	const (
		hello       = `{"type":"text","text":"hello"}`
		image       = `{"type":"image","source":{}}`
		interrupted = `{"type":"text","text":"[Request interrupted by user]"}`
		result      = `{"type":"tool_result","content":"x"}`
	)
	tests := []struct {
		name, members string
		typed, result bool
	}{
		{"text", content("hello"), true, false},
		{"text blocks", blocks(hello), true, false},
		{"no text", `"message":{}`, true, false},
		{"image alone", blocks(image), true, false},
		{"from a program", content("hello") + `,"promptSource":"sdk"`, true, false},
		{"from a person", content("hello") + `,"promptSource":"typed","origin":{"kind":"human"}`, true, false},
		{"shell input", content("<bash-input>ls</bash-input>"), true, false},
		{"another tag", content("<div>"), true, false},
		{"tag that is not closed at once", content("<command-name x>"), true, false},
		{"tag further on", content("see <command-name>"), true, false},
		{"structured result alone", content("hello") + `,"toolUseResult":"x"`, true, false},
		{"interrupted and then text", blocks(interrupted, hello), true, false},
		{"quoted interruption", content("why [Request interrupted by user]?"), true, false},
		{"isMeta that is no boolean", content("hello") + `,"isMeta":"true"`, true, false},
		{"isMeta taken back", content("hello") + `,"isMeta":true,"isMeta":false`, true, false},
		{"last content", `"message":{"content":[` + result + `]},"message":{"content":"hello"}`, true, false},
		{"meta", content("hello") + `,"isMeta":true`, false, false},
		{"compaction summary", content("This session is being continued") + `,"isCompactSummary":true`, false, false},
		{"system prompt source", content("x") + `,"promptSource":"system"`, false, false},
		{"task notification", content("x") + `,"origin":{"kind":"task-notification"}`, false, false},
		{"interrupted", content(" [Request interrupted by user]\n"), false, false},
		{"interrupted in a tool", blocks(`{"type":"text","text":"[Request interrupted by user for tool use]"}`), false, false},
		{"tool result", blocks(result), false, true},
		{"tool result beside text", blocks(hello, result), false, true},
		{"local command caveat", content("<local-command-caveat>Caveat"), false, false},
		{"command name", content("\n  <command-name>/clear</command-name>"), false, false},
		{"command message", content("<command-message>x"), false, false},
		{"local command output", content("<local-command-stdout></local-command-stdout>"), false, false},
		{"shell output", content("\u2003<bash-stdout>x"), false, false},
		{"notification tag", content("<task-notification>\n<task-id>"), false, false},
		{"tag in the first text block", blocks(image, `{"type":"text","text":"<command-name>/x"}`, hello), false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			turn := turnsOf(`{"type":"user",` + tt.members + `,` + frame + `}`)[0]
			want := transcript.Machine
			if tt.typed {
				want = transcript.Typed
			}
			if turn.Nature != want || turn.ToolResult != tt.result {
				t.Errorf("nature %d, result %v", turn.Nature, turn.ToolResult)
			}
		})
	}
}

// C22: a prompt typed while Claude works is an attachment.
func TestQueuedCommandIsTypedUnlessANotification(t *testing.T) {
	tests := []struct {
		name, members string
		want          transcript.Nature
	}{
		{"prompt", `"prompt":"do this too","commandMode":"prompt"`, transcript.Typed},
		{"blocks", `"prompt":[{"type":"text","text":"do this too"},{"type":"image"}]`, transcript.Typed},
		{"from a person", `"prompt":"x","origin":{"kind":"human"}`, transcript.Typed},
		{"notification mode", `"prompt":"x","commandMode":"task-notification"`, transcript.Machine},
		{"notification origin", `"origin":{"kind":"task-notification"},"prompt":"x"`, transcript.Machine},
		{"notification text", `"prompt":"<task-notification>\n<task-id>1"`, transcript.Machine},
		{"notification block", `"prompt":[{"text":"<task-notification>","type":"text"}]`, transcript.Machine},
		{"meta", `"prompt":"x","isMeta":true`, transcript.Machine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			turn := turnsOf(`{"type":"attachment","attachment":{"type":"queued_command",` + tt.members + `},` + frame + `}`)[0]
			if turn.Nature != tt.want || turn.Unindexed {
				t.Errorf("nature %d, want %d; unindexed %v", turn.Nature, tt.want, turn.Unindexed)
			}
		})
	}
}

func TestMachineryIsNotIndexed(t *testing.T) {
	for kind, want := range map[string]bool{
		"prompt_snapshot": true, "skill_listing": true, "task_reminder": true, "date_change": true, "mcp_instructions_delta": true,
		"queued_command": false, "file": false, "edited_text_file": false, "hook_success": false, "hook_additional_context": false,
		"nested_memory": false, "plan_file_reference": false, "brand_new": false,
	} {
		turn := turnsOf(fmt.Sprintf(`{"type":"attachment","attachment":{"content":"x","type":%q},%s}`, kind, frame))[0]
		if turn.Unindexed != want {
			t.Errorf("%s: unindexed %v", kind, turn.Unindexed)
		}
		if pieces(turn) != "x|"+kind {
			t.Errorf("%s: pieces %q", kind, pieces(turn))
		}
	}
	if turnsOf(`{"type":"user","attachment":{"type":"date"},` + frame + `}`)[0].Unindexed {
		t.Error("a user turn is machinery")
	}
}

// C27: a record of any size is one turn, and only so much of it is kept.
func TestHugeToolResult(t *testing.T) {
	line := `{"type":"user","message":{"content":[{"type":"tool_result","content":"` + strings.Repeat(`line\n`, 2<<20) + `"}]},` + frame + `}`
	turns := turnsOf(line)
	if len(turns) != 1 || turns[0].Len != len(line) || len(turns[0].Pieces) != 1 {
		t.Fatalf("%d turns", len(turns))
	}
	if n := len(turns[0].Pieces[0].Text); n != transcript.MaxText {
		t.Errorf("piece of %d bytes", n)
	}
}

// C27: what a record costs in memory is bounded, whatever it consists of.
func TestARecordOfVeryManyTextsIsBounded(t *testing.T) {
	const (
		n      = 400_000
		memory = 160 << 20 // in all, what was let go included
	)
	tests := []struct{ name, before, unit, after string }{
		{"texts", `"message":{"content":[`, `{"type":"text","text":"a"}`, `]}`},
		{"tool calls", `"message":{"content":[`, `{"type":"tool_use","name":"T","input":{"b":"x","a":"y"}}`, `]}`},
		{"an input", `"message":{"content":[{"type":"tool_use","name":"T","input":[`, `"a"`, `]}]}`},
		{"parts", `"message":{"content":[{"type":"tool_result","content":[`, `{"type":"text","text":"a"}`, `]}]}`},
		{"a structured result", `"toolUseResult":[`, `"a"`, `]`},
		{"an attachment", `"attachment":[`, `"a"`, `]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line := `{"type":"user",` + tt.before + strings.Repeat(tt.unit+",", n) + tt.unit + tt.after + `,` + frame + `}`
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			turns := Harness{}.Turns([]byte(line), &transcript.State{})
			runtime.ReadMemStats(&after)
			if len(turns) != 1 || len(turns[0].Pieces) != transcript.TextRoom {
				t.Fatalf("%d turns", len(turns))
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > memory+uint64(len(line)) {
				t.Errorf("%d bytes allocated for %d", used, len(line))
			}
		})
	}
}

// What is behind the room of the projection still tells whose turn it is.
func TestALongMessageIsHeardToItsEnd(t *testing.T) {
	long := strings.Repeat("x", transcript.TextRoom)
	turns := turnsOf(`{"type":"user","message":{"content":[{"type":"tool_use","name":"` + long + `"},{"type":"text","text":"[Request interrupted by user]"},{"type":"tool_result","content":"out"}]},` + frame + `}`)
	if len(turns) != 1 || len(turns[0].Pieces) != 1 || !turns[0].ToolResult || turns[0].Nature != transcript.Machine {
		t.Errorf("%d turns", len(turns))
	}
}

func TestTurnsOutliveTheNextCallOnAnyGoroutine(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var kept []transcript.Turn
			for i := range 1000 {
				kept = append(kept, turnsOf(fmt.Sprintf(`{"type":"user","content":"line\n%d",%s}`, g*1000+i, frame))...)
			}
			for i, turn := range kept {
				if want := fmt.Sprintf("line\n%d", g*1000+i); pieces(turn) != want {
					t.Errorf("turn %d says %q, want %q", i, pieces(turn), want)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzTurns(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","content":"a\nb"}]},"toolUseResult":{"b":"x","a":["y"]},` + frame + `}`))
	f.Add([]byte(`{"type":"attachment","attachment":{"type":"queued_command","prompt":"x"},` + frame + `}{"type":"system","subtype":"compact_boundary","compactMetadata":{},` + frame + `}`))
	f.Add([]byte(`{"type":"custom-title","customTitle":"t"}` + "\x00" + `{"type":"user","x":"torn{"type":"user",` + frame + `}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		s := transcript.State{Key: "/p/agent-1.jsonl"}
		end := 0
		turns := Harness{}.Turns(line, &s)
		for _, turn := range turns {
			if turn.Off < end || turn.Len < 2 || turn.Off+turn.Len > len(line) {
				t.Fatalf("span %d+%d after %d in %d bytes", turn.Off, turn.Len, end, len(line))
			}
			end = turn.Off + turn.Len
			object := map[string]any{}
			if err := json.Unmarshal(line[turn.Off:end], &object); err != nil {
				t.Fatal(err)
			}
			if object["type"] != turn.Type || object["uuid"] != turn.UUID || object["timestamp"] != turn.TS {
				t.Fatalf("turn %+v of %v", turn, object)
			}
			if again := turnsOf(string(line[turn.Off:end])); len(again) != 1 || pieces(again[0]) != pieces(turn) {
				t.Fatal("a turn differs from the turn of its span")
			}
			for _, p := range turn.Pieces {
				if len(p.Text) == 0 || len(p.Text) > transcript.MaxText {
					t.Fatalf("piece of %d bytes", len(p.Text))
				}
			}
		}
		if int(s.Turns) != len(turns) {
			t.Fatalf("%d turns noted, %d read", s.Turns, len(turns))
		}
		for _, text := range []string{s.SessionID, s.CWD, s.Branch, s.ContinuesFrom, s.FirstParent, s.FirstTS, s.LastTS, s.Title} {
			if len(text) > transcript.StateLimit {
				t.Fatalf("state holds %d bytes", len(text))
			}
		}
	})
}
