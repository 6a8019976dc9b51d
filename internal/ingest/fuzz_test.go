package ingest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The same with scripts of chance, since the fuzzer manages few passes a second.
func TestStatesOfRandomEditsComeBack(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 2))
		script := make([]byte, 8+r.IntN(24))
		for i := range script {
			script[i] = byte(r.IntN(256))
			if r.IntN(4) == 0 {
				script[i] = 0xff
			}
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playEdits(t, script) })
	}
}

// FuzzStatesComeBack plays an agent that does anything to its file between
// passes: what a pass met comes back byte for byte, a second pass takes in
// nothing, no line is held twice, and verify finds nothing.
//
// Each byte of the script is a step: append a line, cut lines, replace one,
// drop the first, tear the last, or pass.
func FuzzStatesComeBack(f *testing.F) {
	f.Add([]byte{0x01, 0x02, 0x03, 0xff, 0x21, 0xff, 0x41, 0xff, 0x04, 0xff})
	f.Add([]byte{0x01, 0x01, 0xff, 0x61, 0xff, 0x01, 0xff, 0x81, 0xff, 0xa1, 0xff})
	f.Add([]byte("\x05\x06\xff\x22\xff\x06\xff\x23\xff\x05\x06\xff"))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 40 {
			return // each pass costs milliseconds
		}
		playEdits(t, script)
	})
}

func playEdits(t *testing.T, script []byte) {
	t.Helper()
	x := newFixture(t)
	var lines []string
	torn := false
	var want []string // states met, without repeats
	held := map[string]bool{}
	for i, b := range append(script, 0xff) {
		arg := int(b & 0x1f)
		switch {
		case b == 0xff:
			content := strings.Join(lines, "")
			whole := content
			if torn {
				content += `{"torn":`
			}
			path := x.write(sessionA, content)
			if res := x.pass(); len(res.Failures) > 0 {
				t.Fatalf("step %d: %v", i, res.Failures)
			}
			for _, l := range lines {
				held[l] = true
			}
			x.check(t, i, path, whole, &want, held)
		case b < 0x20:
			lines = append(lines, user(arg, fmt.Sprint("text ", arg)))
		case b < 0x40:
			lines = lines[:max(0, len(lines)-arg)]
		case b < 0x60 && len(lines) > 0:
			lines[arg%len(lines)] = user(arg+100, fmt.Sprint("text ", arg))
		case b < 0x80 && len(lines) > 0:
			lines = lines[1:]
		case b < 0xa0:
			lines = append(lines, "\x00\xffnot json "+fmt.Sprint(arg)+"\n")
		default:
			torn = !torn
		}
		lines = append([]string(nil), lines...)
	}
}

// check compares the archive with what the file was at each pass.
func (f *fixture) check(t *testing.T, step int, path, whole string, want *[]string, held map[string]bool) {
	t.Helper()
	before := f.dump()
	if res := f.pass(); res.TurnsAdded > 0 || f.dump() != before {
		t.Fatalf("step %d: a second pass is not idle: %+v", step, res)
	}
	if bad := f.verify(); len(bad) > 0 {
		t.Fatalf("step %d: verify finds %+v", step, bad)
	}
	if f.count(`SELECT count(*) FROM sessions`) == 0 {
		if whole != "" {
			t.Fatalf("step %d: nothing is archived", step)
		}
		return
	}
	got := f.states(path)
	if got[len(got)-1] != whole {
		t.Fatalf("step %d: the newest state is %q, the file held %q", step, got[len(got)-1], whole)
	}
	// Older states stay; the newest may have grown.
	for i, s := range *want {
		if i >= len(got) || i < len(*want)-1 && got[i] != s || !strings.HasPrefix(got[i], s) {
			t.Fatalf("step %d: state %d is lost", step, i)
		}
	}
	*want = got
	stream := f.stream(sessionA)
	for l := range held {
		if !strings.Contains(stream, l) {
			t.Fatalf("step %d: %q is lost", step, l)
		}
	}
}
