package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/search/searchtest"
)

const testVersion = "1.2.3"

// options are those of a server that looks at one data directory.
func options(dataDir string) Options {
	return Options{
		Version: testVersion,
		WorkDir: "/p",
		Config: func() (*config.Config, error) {
			return &config.Config{DataDir: dataDir, Exclude: config.NewExclusions("", nil)}, nil
		},
		Warn: func(string) {},
	}
}

// serve gives the lines that answer lines.
func serve(t testing.TB, o Options, lines ...string) []string {
	t.Helper()
	var out strings.Builder
	if err := New(o).Serve(t.Context(), strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func callLine(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
}

// documentOf is the tool's document of an answer.
func documentOf(t testing.TB, answer string) string {
	t.Helper()
	var m struct {
		Result struct {
			Content []struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal([]byte(answer), &m); err != nil || len(m.Result.Content) != 1 {
		t.Fatalf("not the answer of a tool (%v): %s", err, answer)
	}
	return m.Result.Content[0].Text
}

// filled is a store with two sessions of /p.
func filled(t testing.TB) (dataDir string) {
	t.Helper()
	s := searchtest.New(t)
	h := s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p", Continues: "11111111"})
	s.Add(h, searchtest.Turn{Text: "zebra one", TS: "2026-08-12T21:00:00.000Z"})
	s.Add(h, searchtest.Turn{Type: "assistant", Text: "zebra two \u2028 <b>", Tool: "Bash"})
	s.Add(s.Session(searchtest.Session{Key: "b.jsonl", Project: "/q"}), searchtest.Turn{Text: "zebra three"})
	return filepath.Dir(s.Path())
}

func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "0.0": "0", "0e5": "0", "0.000e-5": "0", "-0e99999999999999999999": "0",
		"5": "5", "5.0": "5", "-5.00": "-5", "5e0": "5", "0.5e1": "5", "50e-1": "5", "5E+1": "50", "1.50e1": "15", "120e-1": "12",
		"5.5": "", "0.1": "", "1e-1": "", "5e-1": "", "15e-1": "", "1e-400": "", "1e-99999999999999999999": "", "5.00000000000000000000000001": "",
		"10e-9223372036854775808": "",
		"9223372036854775807":     "9223372036854775807", "-9223372036854775808": "-9223372036854775808",
		"9223372036854775808": "9223372036854775808", "0.009223372036854775807e21": "9223372036854775807",
		"1e400": "99999999999999999999", "-1e400": "-99999999999999999999", "1e99999999999999999999": "99999999999999999999",
		"10e9223372036854775807": "99999999999999999999", "1000000000000000000000": "99999999999999999999",
	} {
		got, isNumber := whole(text)
		if !isNumber || got != want {
			t.Errorf("whole(%s) = %q, %v; want %q", text, got, isNumber, want)
		}
	}
	for _, text := range []string{`"5"`, `null`, `true`, `[5]`, `{}`, ``} {
		if got, isNumber := whole(text); isNumber {
			t.Errorf("whole(%s) = %q, a number", text, got)
		}
	}
}

func TestReasonsStayShort(t *testing.T) {
	long := strings.Repeat("ü", 200_000)
	quoted, _ := json.Marshal(long)
	for _, line := range []string{
		callLine("recall_search", `{"query":"a","since":`+string(quoted)+`}`),
		callLine("recall_search", `{"query":"a","project":`+string(quoted)+`}`),
		callLine("recall_get", `{"turn_ids":[1,2,3,`+string(quoted)+`]}`),
		callLine("recall_get", `{"turn_ids":[1,2],"project":`+string(quoted)+`}`),
		callLine("recall_context", `{"turn_id":1,"before":`+string(quoted)+`}`),
		callLine(long, `{}`),
		`{"jsonrpc":"2.0","id":1,"method":` + string(quoted) + `}`,
	} {
		answers := serve(t, options(t.TempDir()), line)
		if n := len(answers[0]); n > 3*maxReason+500 {
			t.Errorf("%.80s... is answered with %d bytes", line, n)
		}
	}
}

// C118: few tools, all of them reading only, whose words are cheap.
func TestDescriptionsAreShortAndNamesAreThree(t *testing.T) {
	const most = 600 // bytes: they are paid for in every session
	var names []string
	for _, tool := range tools {
		names = append(names, tool.name)
		if n := len(tool.description); n == 0 || n >= most {
			t.Errorf("the description of %s has %d bytes", tool.name, n)
		}
	}
	if n := strings.Count(serve(t, options(""), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)[0], `"readOnlyHint":true`); n != len(tools) {
		t.Errorf("%d tools say that they only read", n)
	}
	if want := []string{"recall_search", "recall_context", "recall_get"}; !reflect.DeepEqual(names, want) {
		t.Errorf("tools %v, want %v", names, want)
	}
}

func TestAStoreThatAppearsIsSeenByTheNextCall(t *testing.T) {
	dir := t.TempDir()
	o := options("")
	o.Config = func() (*config.Config, error) {
		return &config.Config{DataDir: dir, Exclude: config.NewExclusions("", nil)}, nil
	}
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- New(o).Serve(t.Context(), in, out) }()
	read := json.NewDecoder(answers)
	ask := func() string {
		if _, err := io.WriteString(requests, callLine("recall_search", `{"query":"zebra","project":"*"}`)+"\n"); err != nil {
			t.Fatal(err)
		}
		var answer json.RawMessage
		if err := read.Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return documentOf(t, string(answer))
	}
	if got := ask(); !strings.Contains(got, "no store at "+dir) {
		t.Errorf("without a store: %s", got)
	}
	dir = filled(t)
	if got := ask(); strings.Count(got, `"turn_id"`) != 3 {
		t.Errorf("with a store of three turns: %s", got)
	}
	requests.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAPanicIsAnswered(t *testing.T) {
	o := options("")
	var warned string
	o.Warn = func(text string) { warned = text }
	o.Config = func() (*config.Config, error) { panic("of a test") }
	got := serve(t, o, callLine("recall_get", `{"turn_ids":[1]}`), `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if len(got) != 2 || !strings.Contains(got[0], `"code":-32603`) || !strings.Contains(got[1], `"result"`) {
		t.Errorf("answered %q", got)
	}
	if !strings.Contains(warned, "of a test") {
		t.Errorf("warned %q", warned)
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestAWriteThatFailsEndsTheLoop(t *testing.T) {
	in := strings.NewReader(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n", 100_000))
	if err := New(options("")).Serve(t.Context(), in, &failing{after: 1}); err == nil {
		t.Error("no error")
	}
	if in.Len() == 0 {
		t.Error("the input was read to its end")
	}
}
