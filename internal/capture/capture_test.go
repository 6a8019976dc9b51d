package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/claude"
)

func cutter(mode config.CaptureMode) *Cutter { return New(mode, claude.Harness{}, harness.Lines) }

var modes = []config.CaptureMode{config.CaptureFull, config.CaptureLean, config.CaptureMinimal}

// filler is a string of n characters.
func filler(n int) string { return strings.Repeat("x", n) }

func TestWhatEachModeMakesOfALine(t *testing.T) {
	long := `{"b":"` + filler(Limit) + `"}` // Limit+8 bytes
	mark := func(n int) string { return fmt.Sprintf(`{"terminusElided":%d}`, n) }
	cases := []struct{ name, line, lean, minimal string }{
		{name: "no member that is bulky", line: `{"type":"user", "message":{"toolUseResult":"` + filler(9000) + `"}}`},
		{
			name: "short", line: `{"uuid":"u","toolUseResult":"ok"}`,
			minimal: `{"toolUseResult":` + mark(4) + `,"uuid":"u"}`,
		},
		{
			name: "long", line: `{"uuid":"u","toolUseResult":` + long + `,"attachment":1}`,
			lean:    `{"attachment":1,"toolUseResult":` + mark(Limit+8) + `,"uuid":"u"}`,
			minimal: `{"attachment":` + mark(1) + `,"toolUseResult":` + mark(Limit+8) + `,"uuid":"u"}`,
		},
		{
			name: "exactly the limit", line: `{"toolUseResult":"` + filler(Limit-2) + `"}`,
			minimal: `{"toolUseResult":` + mark(Limit) + `}`,
		},
		{
			name: "one byte more", line: `{"toolUseResult":"` + filler(Limit-1) + `"}`,
			lean: `{"toolUseResult":` + mark(Limit+1) + `}`, minimal: `{"toolUseResult":` + mark(Limit+1) + `}`,
		},
		{
			name: "long by white space alone", line: `{"toolUseResult":[` + strings.Repeat(" ", 9000) + `1 , 2]}`,
			minimal: `{"toolUseResult":` + mark(5) + `}`,
		},
		{
			name: "long by escapes alone", line: `{"toolUseResult":"` + strings.Repeat(`\u0041`, 2000) + `"}`,
			minimal: `{"toolUseResult":` + mark(2002) + `}`,
		},
		{
			name: "null, false and numbers are values", line: `{"toolUseResult":null,"attachment":-1.50e+3}`,
			minimal: `{"attachment":` + mark(8) + `,"toolUseResult":` + mark(4) + `}`,
		},
		{name: "a mark", line: `{"z":1,"toolUseResult": {"terminusElided" : 12}}`},
		{
			name: "no mark: another member", line: `{"toolUseResult":{"terminusElided":12,"x":1}}`,
			minimal: `{"toolUseResult":` + mark(27) + `}`,
		},
		{
			name: "no mark: below 0", line: `{"toolUseResult":{"terminusElided":-1}}`,
			minimal: `{"toolUseResult":` + mark(21) + `}`,
		},
		{
			name: "no mark: no whole number", line: `{"toolUseResult":{"terminusElided":1.0}}`,
			minimal: `{"toolUseResult":` + mark(22) + `}`,
		},
		{
			name: "one a mark, one not", line: `{"toolUseResult":{"terminusElided":7},"attachment":[]}`,
			minimal: `{"attachment":` + mark(2) + `,"toolUseResult":{"terminusElided":7}}`,
		},
		{
			name: "keys are sorted by what they say, at every depth", line: `{"toolUseResult":1,"b":{"\u007a":[{"é":1,"z":2,"\"":3,"":4}],"A":1},"\n":2}`,
			minimal: `{"\n":2,"b":{"A":1,"z":[{"":4,"\"":3,"z":2,"é":1}]},"toolUseResult":` + mark(1) + `}`,
		},
		{
			name: "of equal keys the last wins", line: `{"a":1,"toolUseResult":"` + filler(9000) + `","a":{"k":1,"k":2},"toolUseResult":"s"}`,
			minimal: `{"a":{"k":2},"toolUseResult":` + mark(3) + `}`,
		},
		{
			name: "of equal keys the last wins, in what is left out too", line: `{"toolUseResult":{"k":"` + filler(9000) + `","k":1}}`,
			minimal: `{"toolUseResult":` + mark(7) + `}`,
		},
		{
			name: "a key that is spelled with escapes", line: `{"tool\u0055seResult":1}`,
			minimal: `{"toolUseResult":` + mark(1) + `}`,
		},
		{
			name:    "strings",
			line:    `{"toolUseResult":1,"s":"<a href=\u0022x\u0022>&\/\b\f\n\r\t\u0008\u001f\u001F\u007f ` + "\u2028\x7f" + `\u2029\ud83d\ude00\u00e9\\"}`,
			minimal: `{"s":"<a href=\"x\">&/\b\f\n\r\t\b\u001f\u001f` + "\x7f \u2028\x7f\u2029😀é" + `\\","toolUseResult":` + mark(1) + `}`,
		},
		{
			name: "half a pair and broken bytes stay", line: `{"toolUseResult":1,"s":"\ud83d \uDE00\ud83d\u0041` + "\xff\xc3" + `"}`,
			minimal: `{"s":"\ud83d \uDE00\ud83dA` + "\xff\xc3" + `","toolUseResult":` + mark(1) + `}`,
		},
		{
			name: "numbers keep their digits", line: `{"toolUseResult":1,"n":[1.0, 1e400, -0, 123456789012345678901234567890, 0.10, 1E5]}`,
			minimal: `{"n":[1.0,1e400,-0,123456789012345678901234567890,0.10,1E5],"toolUseResult":` + mark(1) + `}`,
		},
		{
			name: "the length is that of sorted compact JSON", line: `{"toolUseResult":{ "b" : [ 1 , {} , [ ] ] , "a" : "\u00e9" }}`,
			minimal: `{"toolUseResult":` + mark(len(`{"a":"é","b":[1,{},[]]}`)) + `}`,
		},
		{
			name: "white space around the record goes", line: " {\"toolUseResult\":1}\t\r",
			minimal: `{"toolUseResult":` + mark(1) + `}`,
		},
		{name: "a prompt that was queued", line: `{"type":"attachment", "attachment":{"type":"queued_command","prompt":"` + filler(9000) + `"}}`},
		{
			name: "a prompt that was queued, beside output", line: `{"toolUseResult":1,"attachment":{"type":"queued_command","prompt":"p"}}`,
			minimal: `{"attachment":{"prompt":"p","type":"queued_command"},"toolUseResult":` + mark(1) + `}`,
		},
		{
			name: "no prompt", line: `{"attachment":{"type":"file","text":"queued_command"},"toolUseResult":{"type":"queued_command"}}`,
			minimal: `{"attachment":` + mark(39) + `,"toolUseResult":` + mark(25) + `}`,
		},
		{name: "blank", line: ``},
		{name: "white space", line: ` `},
		{name: "no JSON", line: `toolUseResult`},
		{name: "torn", line: `{"toolUseResult":"` + filler(9000)},
		{name: "two records", line: `{"toolUseResult":1}{"toolUseResult":1}`},
		{name: "a record with NULs around it", line: "\x00{\"toolUseResult\":1}\x00"},
		{name: "an array", line: `[{"toolUseResult":1}]`},
		{name: "a control character", line: "{\"toolUseResult\":\"\x01\"}"},
		{name: "too deep", line: `{"toolUseResult":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := map[config.CaptureMode]string{config.CaptureFull: c.line, config.CaptureLean: c.lean, config.CaptureMinimal: c.minimal}
			for _, mode := range modes {
				if want[mode] == "" {
					want[mode] = c.line
				}
				for _, end := range []string{"\n", ""} {
					if got := cutter(mode).Line([]byte(c.line + end)); string(got) != want[mode]+end {
						t.Errorf("%s: %.400q, want %.400q", mode, got, want[mode]+end)
					}
				}
			}
		})
	}
}

// The forms are those of the mode and of every mode that keeps more, each once.
func TestFormsOfALine(t *testing.T) {
	short, long := `{"attachment": 1}`, `{"attachment":1,"toolUseResult":"`+filler(9000)+`"}`
	leanLong := `{"attachment":1,"toolUseResult":{"terminusElided":9002}}`
	minimalLong := `{"attachment":{"terminusElided":1},"toolUseResult":{"terminusElided":9002}}`
	cases := []struct {
		mode config.CaptureMode
		line string
		want []string
	}{
		{config.CaptureFull, long, []string{long}},
		{config.CaptureLean, short, []string{short}},
		{config.CaptureLean, long, []string{long, leanLong}},
		{config.CaptureMinimal, short, []string{short, `{"attachment":{"terminusElided":1}}`}},
		{config.CaptureMinimal, long, []string{long, leanLong, minimalLong}},
		{config.CaptureMinimal, `{"toolUseResult":"` + filler(9000) + `"}`, []string{`{"toolUseResult":"` + filler(9000) + `"}`, `{"toolUseResult":{"terminusElided":9002}}`}},
		{config.CaptureMinimal, `{}`, []string{`{}`}},
		{config.CaptureMinimal, `none`, []string{`none`}},
	}
	for _, c := range cases {
		got := fmt.Sprintf("%s", cutter(c.mode).Forms([]byte(c.line)))
		if want := fmt.Sprintf("%s", c.want); got != want {
			t.Errorf("%s of %.60s: %.200s, want %.200s", c.mode, c.line, got, want)
		}
	}
}

// silent is a harness that says nothing of bulk, rowed one whose rows hold some.
type (
	silent struct{ harness.Harness }
	rowed  struct{ harness.Harness }
)

func (rowed) Bulk() harness.Bulk { return harness.Bulk{Members: []string{"output"}} }

func TestOtherHarnessesSayWhatIsBulky(t *testing.T) {
	row := `{"id":"a<b","row":{"text":"t","output":"` + filler(9000) + `","row":{"output":1}},"output":2}` + "\n"
	cases := []struct {
		name string
		h    harness.Harness
		kind harness.Kind
		line string
		want string
	}{
		{"nothing said", silent{}, harness.Lines, `{"toolUseResult":1,"output":1}` + "\n", ""},
		{"nothing said of rows", silent{}, harness.Rows, row, ""},
		{"a row", rowed{}, harness.Rows, row, `{"id":"a<b","output":2,"row":{"output":{"terminusElided":9002},"row":{"output":1},"text":"t"}}` + "\n"},
		{"rows are no lines", rowed{}, harness.Rows, `{"output":1}` + "\n", ""},
		{"lines are no rows", rowed{}, harness.Lines, `{"row":{"output":1}}` + "\n", ""},
		{"a row that is no object", rowed{}, harness.Rows, `{"id":"a","row":["output"]}` + "\n", ""},
		{"the last row wins", rowed{}, harness.Rows, `{"row":{"output":1},"row":2}` + "\n", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "" {
				c.want = c.line
			}
			if got := New(config.CaptureMinimal, c.h, c.kind).Line([]byte(c.line)); string(got) != c.want {
				t.Errorf("%.300q, want %.300q", got, c.want)
			}
		})
	}
}

func TestTheModeOfASession(t *testing.T) {
	const none, full, lean, minimal = config.CaptureMode(""), config.CaptureFull, config.CaptureLean, config.CaptureMinimal
	for _, c := range []struct{ was, now, want config.CaptureMode }{
		{none, full, full},
		{none, lean, lean},
		{full, full, full},
		{full, minimal, minimal},
		{lean, full, lean},
		{minimal, full, minimal},
		{lean, minimal, minimal},
		{minimal, lean, lean},
	} {
		if got := Record(c.was, c.now); got != c.want {
			t.Errorf("%q, then %q: %q, want %q", c.was, c.now, got, c.want)
		}
	}
}

func TestFilesOfOutput(t *testing.T) {
	for _, c := range []struct {
		output              bool
		size                int64
		full, lean, minimal bool
	}{
		{false, 9000, true, true, true},
		{true, 0, true, true, false},
		{true, Limit, true, true, false},
		{true, Limit + 1, true, false, false},
	} {
		for i, want := range []bool{c.full, c.lean, c.minimal} {
			if got := Companion(modes[i], harness.Companion{Output: c.output, Stat: fsx.Stat{Size: c.size}}); got != want {
				t.Errorf("%+v, %s: %v", c, modes[i], got)
			}
		}
	}
}

// A line with more members than are held is archived whole, and the next one is
// not the worse for it.
func TestALineOfTooManyMembers(t *testing.T) {
	c := cutter(config.CaptureMinimal)
	many := []byte(`{"toolUseResult":{` + strings.Repeat(`"":0,`, maxMembers) + `"":1}}`)
	if got := c.Line(many); &got[0] != &many[0] {
		t.Errorf("it was changed: %.100q", got)
	}
	if got := string(c.Line([]byte(`{"toolUseResult":1}`))); got != `{"toolUseResult":{"terminusElided":1}}` {
		t.Errorf("the next one: %q", got)
	}
}

// What is not asked for costs nothing.
func TestLinesThatStayAreNotCopied(t *testing.T) {
	lean, full := cutter(config.CaptureLean), cutter(config.CaptureFull)
	plain := []byte(`{"type":"user","message":{"content":"` + filler(9000) + `"}}`)
	output := []byte(`{"toolUseResult":"` + filler(9000) + `"}`)
	for name, f := range map[string]func(){
		"full":                 func() { full.Line(output) },
		"lean without output":  func() { lean.Line(plain) },
		"forms of plain lines": func() { lean.Forms(plain) },
	} {
		f()
		if n := testing.AllocsPerRun(100, f); n > 0 {
			t.Errorf("%s: %.0f allocations", name, n)
		}
	}
}

// FuzzLine holds every mode to what the package says, against the standard
// library's reading and writing of JSON.
func FuzzLine(f *testing.F) {
	for _, s := range []string{
		`{"toolUseResult":{"b":1,"a":[1.50,"\u2028"]},"attachment":{"type":"queued_command"},"x":"\/é"}`,
		`{"attachment":{"terminusElided":3},"toolUseResult":{"terminusElided":-3},"toolUseResult":null}`,
		`{"a":{"b":{"c":[{}]},"b":1},"toolUseResult":"` + filler(Limit) + `"}`,
		`{"toolUseResult":"\ud800","row":{"toolUseResult":1}}`, `[]`, `{"toolUseResult":1}x`, "\x00{\"attachment\":1}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = append(bytes.ReplaceAll(line, []byte("\n"), nil), '\n')
		given := bytes.Clone(line)
		if got := cutter(config.CaptureFull).Line(line); &got[0] != &line[0] {
			t.Fatal("full changes a line")
		}
		lean := bytes.Clone(cutter(config.CaptureLean).Line(line))
		minimal := bytes.Clone(cutter(config.CaptureMinimal).Line(line))
		if !bytes.Equal(line, given) {
			t.Fatal("the line itself was changed")
		}
		if again := cutter(config.CaptureMinimal).Line(lean); !bytes.Equal(again, minimal) {
			t.Fatalf("minimal of lean is %q, minimal is %q", again, minimal)
		}
		for mode, got := range map[config.CaptureMode][]byte{config.CaptureLean: lean, config.CaptureMinimal: minimal} {
			if bytes.Count(got, []byte("\n")) != 1 || got[len(got)-1] != '\n' {
				t.Fatalf("%s: not one line: %q", mode, got)
			}
			if again := cutter(mode).Line(got); !bytes.Equal(again, got) {
				t.Fatalf("%s: a second time gives %q, not %q", mode, again, got)
			}
			if want, ok := reference(mode, line); ok && string(got) != want {
				t.Fatalf("%s of %q: %q, want %q", mode, line, got, want)
			}
		}
	})
}

// reference makes the same of a line by way of the standard library; ok is false
// where that reads or writes JSON otherwise.
func reference(mode config.CaptureMode, line []byte) (string, bool) {
	if strings.ToValidUTF8(string(line), "?") != string(line) || bytes.Contains(bytes.ToLower(line), []byte(`\ud`)) {
		return "", false
	}
	compact := func(v any) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(v) != nil {
			panic("a value that was read cannot be written")
		}
		return strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(b.String(), "\n"))
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() || bytes.Count(line, []byte("[")) > 500 || bytes.Count(line, []byte("{")) > 500 {
		return "", false
	}
	if _, err := d.Token(); err == nil {
		return "", false
	}
	object, ok := v.(map[string]any)
	if !ok {
		return string(line), true
	}
	changed := false
	for _, key := range []string{"toolUseResult", "attachment"} {
		value, ok := object[key]
		if !ok {
			continue
		}
		text := compact(value)
		fields, _ := value.(map[string]any)
		if n, ok := fields["terminusElided"].(json.Number); ok && len(fields) == 1 && !strings.ContainsAny(string(n), "-.eE") && len(n) < 19 {
			continue
		}
		if key == "attachment" && fields["type"] == "queued_command" || mode == config.CaptureLean && len(text) <= 8192 {
			continue
		}
		object[key] = map[string]any{"terminusElided": len(text)}
		changed = true
	}
	if !changed {
		return string(line), true
	}
	return compact(object) + "\n", true
}
