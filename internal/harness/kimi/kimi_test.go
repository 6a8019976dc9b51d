package kimi_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/harness/kimi"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestKimiKeepsWhatHarnessesPromise(t *testing.T) {
	harnesstest.Run(t, kimi.Harness{}, harnesstest.Options{
		Absent: []string{"secretthought", "systemreminder", "othernoise", "indexnoise"},
	})
}

const log = ".kimi-code/sessions/wd_dairy_1a2b/session_k1/agents/main/wire.jsonl"

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAStepThatGrowsIsOneTurn(t *testing.T) {
	home := harnesstest.Open(t, kimi.Harness{}, harnesstest.Options{})
	path := filepath.Join(home.Dir, log)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := string(data)
	cut := strings.Index(whole, `{"type":"context.append_loop_event","time":1772445605000`)
	if cut < 0 {
		t.Fatal("the made-up log has another form")
	}
	write(t, path, whole[:cut]+whole[cut:cut+30]) // and a torn line
	home.Pass()
	if home.Finds("thermo") != 1 || home.Finds("thermometer") != 0 {
		t.Errorf("a step that is not at its end: %d, %d", home.Finds("thermo"), home.Finds("thermometer"))
	}
	write(t, path, whole)
	home.Pass()
	if home.Finds("thermo") != 0 || home.Finds("thermometer") != 2 { // in its step, and in the failure
		t.Errorf("a step at its end: %d, %d", home.Finds("thermo"), home.Finds("thermometer"))
	}
	home.Verify()
}

func TestWhatWasTakenOutOfALogStays(t *testing.T) {
	home := harnesstest.Open(t, kimi.Harness{}, harnesstest.Options{})
	home.Pass()
	path := filepath.Join(home.Dir, log)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	other := `{"type":"context.append_message","time":1772445602000,"message":{"role":"user","content":"why is the badger milk blue?"}}` + "\n"
	write(t, path, strings.Join(lines[:2], "")+other+other)
	home.Pass()
	home.Verify()
	for word, want := range map[string]int{"sour": 1, "fridge": 4, "badger": 2} {
		if n := home.Finds(word); n != want {
			t.Errorf("%q is found %d times, want %d", word, n, want)
		}
	}
}

func TestALineThatCannotBeHeldCostsNoOther(t *testing.T) {
	home := harnesstest.Open(t, kimi.Harness{}, harnesstest.Options{})
	path := filepath.Join(home.Dir, log)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const behind = `{"type":"context.append_message","time":1772445702000,"message":{"role":"user","content":"behind it a quoll"}}`
	for _, text := range []string{
		`{"type":"`, strings.Repeat("x", 65<<20), "\"}\n\xff\xfe no json\n", behind, "\n", strings.Repeat("y", 65<<20),
	} {
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	if res := home.Pass(); len(res.Unreadable) != 0 {
		t.Errorf("unreadable: %v", res.Unreadable)
	}
	if n := home.Finds("quoll"); n != 1 {
		t.Errorf("what stands behind a long line is found %d times", n)
	}
	coded := base64.StdEncoding.EncodeToString([]byte("\xff\xfe no json"))
	if !bytes.Contains(home.Stream("kimi:session_k1"), []byte(coded)) {
		t.Error("a line that is not UTF-8 is archived as another")
	}
	home.Verify()
}

func FuzzTurnsOfKimi(f *testing.F) {
	for _, seed := range []string{
		`{"id":"document","row":{"title":"t","workDir":"/w"}}`,
		`{"id":"a","row":[{"type":"context.append_loop_event","time":1,"event":{"type":"content.part","part":{"type":"text","text":"x"}}},{"event":{"type":"tool.call","name":"Bash","args":{"command":"ls"}}}]}`,
		`{"id":"b","row":{"type":"context.append_message","message":{"role":"user","content":"x","origin":{"kind":"y"}}}}`,
		`{"id":"c","row":"torn"}`,
	} {
		f.Add([]byte(seed + "\n"))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		harnesstest.Check(t, kimi.Harness{}, record, transcript.State{Key: "kimi:s/agent-1"})
	})
}
