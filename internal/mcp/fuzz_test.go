package mcp

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// seeds are lines of every kind.
var seeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":"a","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
	`{"jsonrpc":"2.0","id":2.5,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`,
	`[{"jsonrpc":"2.0","id":3,"method":"ping"},7,[],{"jsonrpc":"2.0","method":"x"}]`,
	`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"recall_search","arguments":{"query":"a","limit":1e2,"paths":["x"],"since":"2026-08-12"}}}`,
	`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"recall_get","arguments":{"turn_ids":[1,1.0,-0,1e30]}}}`,
	`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"recall_context","arguments":{"turn_id":9,"before":null}}}`,
	`{"jsonrpc":"2.0","id":"\ud800","method":"tools/list","params":[]}`,
	`{"id":{}}`, `null`, `not JSON`, "\xff\xfe", `{"a":`, "  \t ", "\r",
}

const lastPing = `{"jsonrpc":"2.0","id":"the last","method":"ping"}`

// FuzzServe holds the loop to: whatever the input, every request is answered once,
// by its id and in its place, notifications are not, every answer is one line of
// JSON, and what comes behind is answered still.
func FuzzServe(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Add([]byte(strings.Join(seeds, "\n")))
	dir := filepath.Join(f.TempDir(), "none")
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		in := append(append(bytes.Clone(input), '\n'), lastPing...)
		if err := New(options(dir)).Serve(t.Context(), bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
			t.Fatalf("no newline at the end: %q", out.Bytes())
		}
		var got []string
		for _, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
			got = append(got, idsOf(t, line))
		}
		if strings.Contains(out.String(), `"protocolVersion":"2025-03-26"`) {
			if last := got[len(got)-1]; last != `"the last"` {
				t.Fatalf("the last answer is %s", last)
			}
			return // arrays have answers from here on
		}
		if want := expected(in); strings.Join(want, " ") != strings.Join(got, " ") {
			t.Fatalf("%q\nis answered for %q, want %q", in, got, want)
		}
	})
}

// idsOf is the id of one answer; of an array of them it is theirs.
func idsOf(t *testing.T, line string) string {
	var many []json.RawMessage
	if json.Unmarshal([]byte(line), &many) == nil && len(many) > 0 {
		var ids []string
		for _, one := range many {
			ids = append(ids, idsOf(t, string(one)))
		}
		return strings.Join(ids, ",")
	}
	m, ok := objectOf([]byte(line))
	_, result := m["result"]
	_, failure := m["error"]
	version, _ := m.text("jsonrpc")
	if !ok || len(m) != 3 || result == failure || version != "2.0" {
		t.Fatalf("not an answer: %q", line)
	}
	return string(m["id"])
}

// expected are the ids of the answers to lines, read the plain way.
func expected(input []byte) []string {
	var want []string
	for _, line := range bytes.Split(input, []byte("\n")) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
		var m map[string]json.RawMessage
		err := json.Unmarshal(line, &m)
		id, hasID := m["id"]
		switch {
		case len(bytes.TrimSpace(line)) == 0, err == nil && m != nil && !hasID:
		case err == nil && hasID && strings.ContainsRune(`"-0123456789`, rune(id[0])):
			want = append(want, string(id))
		default:
			want = append(want, "null")
		}
	}
	return want
}

// FuzzIDOfALongLine holds the look-up in a line that is not parsed to what a
// parser finds, however the line is cut into pieces.
func FuzzIDOfALongLine(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), 7)
	}
	f.Add([]byte(`{"a":{"id":1},"id":"x\"}","b":[{"id":2}],"id":-1e5 , "c":"\\"}`), 20)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		var whole, pieces idFinder
		whole.read(text)
		cut = min(max(cut, 0), len(text))
		pieces.read(text[:cut])
		pieces.read(text[cut:])
		if whole.found() != pieces.found() || whole.notification() != pieces.notification() {
			t.Fatalf("cut at %d: %q and %q", cut, whole.found(), pieces.found())
		}
		m, ok := objectOf(text)
		if !ok || bytes.Contains(text, []byte(`\u`)) || len(m["id"]) > maxID {
			return // a name may be spelled in ways that are not looked for
		}
		id, hasID := m["id"]
		id = bytes.ToValidUTF8(id, []byte("\uFFFD"))
		if want := idOf(id); whole.found() != want {
			t.Fatalf("found %q, want %q", whole.found(), want)
		}
		if whole.notification() == hasID {
			t.Fatalf("a notification: %v", !hasID)
		}
	})
}
