package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What the README shows is what the program does today: recorded again, it is the same.
func TestTheRecordingIsWhatTheProgramDoes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the demonstration is recorded on Linux")
	}
	for _, program := range []string{"sh", "sed", "fold"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: nothing is recorded", program)
		}
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "terminus")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "../../cmd/terminus")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the binary: %v\n%s", err, out)
	}
	cast, picture := filepath.Join(dir, "demo.cast"), filepath.Join(dir, "demo.svg")
	s := studio{binary: binary, samples: "../../testdata/demo", path: os.Getenv("PATH")}
	// A pass shows its progress once it has taken a second: on a machine that busy it is tried again.
	for attempt := 1; ; attempt++ {
		err := record(s, "../../docs/demo.txt", cast, picture)
		same := err == nil && bytes.Equal(read(t, cast), read(t, "../../docs/demo.cast")) &&
			bytes.Equal(read(t, picture), read(t, "../../docs/demo.svg"))
		if same {
			return
		}
		if attempt == 3 {
			if err != nil {
				t.Fatal(err)
			}
			t.Fatalf("docs/demo.cast and docs/demo.svg are out of date: make record-demo makes them anew, and this recording is\n%s", read(t, cast))
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTheCastIsOneThatPlayersRead(t *testing.T) {
	lines := bytes.Split(bytes.TrimSuffix(read(t, "../../docs/demo.cast"), []byte("\n")), []byte("\n"))
	var header struct{ Version, Width, Height int }
	if err := json.Unmarshal(lines[0], &header); err != nil || header.Version != 2 || header.Width != columns || header.Height != rows {
		t.Fatalf("the header is %s: %v", lines[0], err)
	}
	last := 0.0
	for i, line := range lines[1:] {
		var event []any
		if err := json.Unmarshal(line, &event); err != nil || len(event) != 3 || event[1] != "o" {
			t.Fatalf("event %d is %s: %v", i, line, err)
		}
		at, ok := event[0].(float64)
		if !ok || at < last {
			t.Fatalf("event %d comes before the one before it: %s", i, line)
		}
		last = at
	}
}

func TestThePictureStandsAlone(t *testing.T) {
	text := read(t, "../../docs/demo.svg")
	for _, foreign := range []string{"href", "@import", "<script", "<image", "url(http", "file:"} {
		if bytes.Contains(text, []byte(foreign)) {
			t.Errorf("the picture holds %q", foreign)
		}
	}
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestLayoutDrawsWhatATerminalShows(t *testing.T) {
	wide := strings.Repeat("x", columns)
	for name, c := range map[string]struct {
		sent string
		want [][]run
	}{
		"lines":           {"a\r\n\r\nb", [][]run{{{style{}, 0, "a"}}, nil, {{style{}, 0, "b"}}}},
		"styles":          {"a\x1b[1mb\x1b[0m\x1b[2mc\x1b[m", [][]run{{{style{}, 0, "a"}, {style{bold: true}, 1, "b"}, {style{dim: true}, 2, "c"}}}},
		"a full row":      {wide + "\r\nb\r\n", [][]run{{{style{}, 0, wide}}, {{style{}, 0, "b"}}}},
		"a row too wide":  {wide + "y\r\n", [][]run{{{style{}, 0, wide}}, {{style{}, 0, "y"}}}},
		"style over rows": {"\x1b[32ma\r\nb\x1b[39mc", [][]run{{{style{colour: "green"}, 0, "a"}}, {{style{colour: "green"}, 0, "b"}, {style{}, 1, "c"}}}},
		"nothing":         {"", nil},
	} {
		got, err := layout(c.sent)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a, b := show(got), show(c.want); a != b {
			t.Errorf("%s:\n%s\nwant\n%s", name, a, b)
		}
	}
}

func show(all [][]run) string {
	var b strings.Builder
	for _, row := range all {
		for _, r := range row {
			b.WriteString(strings.Join([]string{r.colour, r.text}, "|"))
			if r.bold {
				b.WriteString(" bold")
			}
			if r.dim {
				b.WriteString(" dim")
			}
			b.WriteString(strings.Repeat(">", r.column) + ";")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestLayoutRefusesWhatItCannotDraw(t *testing.T) {
	for name, sent := range map[string]string{
		"progress":         "12 %\rdone\r\n",
		"a moved cursor":   "\x1b[2Ka\r\n",
		"an unknown style": "\x1b[7ma\x1b[0m",
		"a cut sequence":   "a\x1b[1",
		"a wide character": "半\r\n",
		"a tab":            "a\tb\r\n",
	} {
		if rows, err := layout(sent); err == nil {
			t.Errorf("%s is drawn as %v", name, rows)
		}
	}
}

func TestParseSaysWhichLineIsWrong(t *testing.T) {
	for script, want := range map[string]string{
		"":              "no step",
		"$ a\nb c\n":    "line 2",
		"$ a\n\n# \n":   "line 3",
		"---\n$\n":      "line 2",
		"$ a\n--- b\n":  "line 2",
		"> b\n":         "line 1",
		"$ a\n#remark ": "line 2",
	} {
		if steps, err := parse(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, %v; want an error with %q", script, steps, err, want)
		}
	}
}

func TestPlayAsksAHookAgainThatWasTooLate(t *testing.T) {
	n := 0
	late := func(answers int) func(string) (string, error) {
		n = 0
		return func(string) (string, error) {
			if n++; n == answers {
				return answer + "\r\n", nil
			}
			return "too late\r\n", nil
		}
	}
	steps := []step{{asked, "hook"}}
	if got, err := play(steps, late(3)); err != nil || n != 3 || !strings.Contains(got.shots[0].output, answer) {
		t.Errorf("asked %d times: %v, %v", n, got, err)
	}
	if _, err := play(steps, late(-1)); err == nil || !strings.Contains(err.Error(), "too late") {
		t.Errorf("never answered: %v", err)
	}
	if got, err := play([]step{{command, "hook"}}, late(3)); err != nil || n != 1 {
		t.Errorf("a command ran %d times: %v, %v", n, got, err)
	}
}

func TestAScreenThatIsTooFullIsRefused(t *testing.T) {
	full := func(lines int) take {
		return take{shots: []shot{{step: step{command, "x"}, output: strings.Repeat("y\r\n", lines)}}, end: 1}
	}
	if _, err := drawing(full(rows - 1)); err != nil {
		t.Error(err)
	}
	if _, err := drawing(full(rows)); err == nil {
		t.Error("more rows than there are were drawn")
	}
}
