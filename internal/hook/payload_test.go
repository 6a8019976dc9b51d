package hook

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func text(s string) *string { return &s }

func (p payload) equals(q payload) bool {
	if (p.prompt == nil) != (q.prompt == nil) || p.prompt != nil && *p.prompt != *q.prompt {
		return false
	}
	p.prompt, q.prompt = nil, nil
	return p == q
}

func TestPayloadHoldsTheStringsAndNothingElse(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		want       payload
	}{
		{"nothing", ``, payload{}},
		{"no JSON", `hello`, payload{}},
		{"an array", `["session_id","x"]`, payload{}},
		{"a string", `"session_id"`, payload{}},
		{"cut short", `{"session_id":"x","prompt":"y`, payload{}},
		{"two objects", `{"cwd":"/a"}{"cwd":"/b"}`, payload{}},
		{"something behind", `{"cwd":"/a"} x`, payload{}},
		{
			"a real one", `{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/w","permission_mode":"default","hook_event_name":"SessionStart","source":"startup","effort":{"level":"high"},"x":[{"cwd":"/no"}]}`,
			payload{session: "s", transcript: "/t.jsonl", cwd: "/w", source: "startup"},
		},
		{"white space", " {\t\"cwd\" : \"/a\" } \r", payload{cwd: "/a"}},
		{"escapes", `{"prompt":"a\nb\u00e9\ud83d\ude00"}`, payload{prompt: text("a\nbé😀")}},
		{"half a pair", `{"prompt":"a\ud83dz"}`, payload{prompt: text("a\uFFFDz")}},
		{"an empty prompt is one", `{"prompt":""}`, payload{prompt: text("")}},
		{"wrong types", `{"session_id":7,"transcript_path":null,"cwd":["/a"],"source":{},"prompt":["look at a/b.go"]}`, payload{}},
		{"a number as a prompt", `{"cwd":"/a","prompt":1}`, payload{cwd: "/a"}},
		{"the last of equal keys", `{"cwd":"/a","cwd":"/b","prompt":"x","prompt":null}`, payload{cwd: "/b"}},
		{"a key in another case", `{"CWD":"/a"}`, payload{}},
		{"a NUL", `{"session_id":"a\u0000b"}`, payload{session: "a\x00b"}},
	} {
		if got := parsePayload([]byte(tc.data)); !got.equals(tc.want) {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestNotifications(t *testing.T) {
	for prompt, want := range map[string]bool{
		"<task-notification>\n<task-id>b1</task-id>": true,
		"\n  <task-notification>":                    true,
		"what is a <task-notification>?":             false,
		"<task-notifications>":                       false,
		"":                                           false,
	} {
		if got := isNotification(prompt); got != want {
			t.Errorf("%q: %v", prompt, got)
		}
	}
}

func TestALineEndsWhereItEnds(t *testing.T) {
	long := strings.Repeat("x", payloadLimit)
	for _, tc := range []struct {
		name, in, want string
		err            error
	}{
		{"a line", "{\"a\":1}\n", `{"a":1}`, nil},
		{"only the first", "{\"a\":1}\n{\"a\":2}\n", `{"a":1}`, nil},
		{"an empty one", "\n{\"a\":1}\n", "", nil},
		{"no newline", `{"a":1}`, `{"a":1}`, nil},
		{"nothing", "", "", nil},
		{"no object", "hello", "hello", nil},
		{"as long as may be", long + "\n", long, nil},
		{"longer", long + "x\n", "", errLongLine},
		{"longer without an end", long + long, "", errLongLine},
	} {
		for _, r := range []io.Reader{strings.NewReader(tc.in), iotest.HalfReader(strings.NewReader(tc.in)), iotest.DataErrReader(strings.NewReader(tc.in))} {
			got, err := readPayload(r, time.Minute)
			if string(got) != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%s: %d bytes, %v", tc.name, len(got), err)
			}
		}
	}
	broken := errors.New("broken")
	if _, err := readPayload(iotest.ErrReader(broken), time.Minute); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

// C84: the agent writes one object and keeps the pipe open.
func TestAnObjectNeedsNoEndOfLine(t *testing.T) {
	for _, in := range []string{"{\"cwd\":\"}\"}\n", `{"cwd":"}"}`} {
		r, w := io.Pipe()
		t.Cleanup(func() { _ = w.Close() })
		go func() {
			for i := range len(in) {
				_, _ = io.WriteString(w, in[i:i+1])
			}
		}()
		got, err := readPayload(r, time.Minute)
		if string(got) != strings.TrimSpace(in) || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func TestAWriterThatIsStuckIsGivenUp(t *testing.T) {
	for _, in := range []string{"", `{"cwd":"/a"`} {
		r, w := io.Pipe()
		t.Cleanup(func() { _ = w.Close() })
		go func() { _, _ = io.WriteString(w, in) }()
		if got, err := readPayload(r, 20*time.Millisecond); !errors.Is(err, errStuck) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

// FuzzPayload holds the reader to: however the bytes arrive, the line is the
// same; and what is parsed are strings of it, or nothing.
func FuzzPayload(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","cwd":"/w","prompt":"a/b.go","x":{"y":[1,null]}}`), uint8(3))
	f.Add([]byte("{\"prompt\":\"\\ud800\"}\nmore"), uint8(1))
	f.Add([]byte(`{"cwd":7}{`), uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		want, err := readLine(iotest.DataErrReader(bytes.NewReader(data)))
		if err != nil {
			return
		}
		// A reader that gives little at a time may stop at an object that more
		// follows: then the line begins with it.
		got, err := readLine(&slowly{data, int(step)%16 + 1})
		if err != nil || !bytes.Equal(got, want) && !(isObject(got) && bytes.HasPrefix(want, got)) {
			t.Fatalf("%q, %v; all at once %q", got, err, want)
		}
		p := parsePayload(want)
		if !isObject(want) && !p.equals(payload{}) {
			t.Fatalf("%q says %+v", want, p)
		}
		for _, s := range []string{p.session, p.transcript, p.cwd, p.source} {
			if len(s) > 3*len(want) { // a byte that is not UTF-8 becomes three
				t.Fatalf("%q has a field of %d bytes", want, len(s))
			}
		}
	})
}

// slowly gives a few bytes at a time.
type slowly struct {
	data []byte
	step int
}

func (r *slowly) Read(p []byte) (int, error) {
	n := copy(p, r.data[:min(r.step, len(r.data))])
	r.data = r.data[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
