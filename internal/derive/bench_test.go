package derive_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/harness/claude"
	"github.com/terminus-archive/terminus/internal/transcript"
)

type object = map[string]any

// writer makes records in the proportions of a working session: reads of
// files, command output, edits, replies, prompts.
type writer struct{ r *rand.Rand }

func (w writer) words(n int) string {
	vocabulary := strings.Fields("the retry budget lives in worker a reader sees only whole records so we check SearchManager before writeBlock and parseHeader returns err if len(buf) < minSize then log the failure again with more context done")
	var b strings.Builder
	for range n {
		b.WriteString(vocabulary[w.r.IntN(len(vocabulary))])
		b.WriteByte(' ')
		if w.r.IntN(60) == 0 {
			b.WriteString("— ")
		}
	}
	return b.String()
}

func (w writer) source(lines int) []string {
	forms := []string{"\tif err := s.%s(ctx, %q); err != nil {", "\t\treturn fmt.Errorf(\"%s %%s: %%w\", %q, err)", "\t}", "func (s *Store) %s(name string) error { // %s", "", "\ts.%s = append(s.items[:0], %q)"}
	out := make([]string, lines)
	for i := range out {
		f := forms[w.r.IntN(len(forms))]
		if strings.Contains(f, "%") {
			f = fmt.Sprintf(f, fmt.Sprintf("loadBlock%d", w.r.IntN(5000)), w.words(3))
		}
		out[i] = f
	}
	return out
}

func (w writer) record(kind string, content any, extra object) []byte {
	o := object{
		"parentUuid": fmt.Sprintf("%08x-0000-4000-8000-000000000000", w.r.Uint32()), "isSidechain": false, "userType": "external",
		"cwd": "/home/dev/src/demo", "sessionId": "0a6f1c7e-5b7e-4d0c-9b52-1f2e3d4c5b6a", "version": "2.1.177", "gitBranch": "main",
		"type": kind, "message": object{"role": kind, "content": content, "usage": object{"input_tokens": w.r.IntN(9999), "output_tokens": 12, "service_tier": "standard"}},
		"uuid": fmt.Sprintf("%08x-1111-4000-8000-000000000000", w.r.Uint32()), "timestamp": "2026-08-12T10:00:00.000Z",
	}
	for k, v := range extra {
		o[k] = v
	}
	line, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return append(line, '\n')
}

func (w writer) result(text string, structured object) []byte {
	block := object{"type": "tool_result", "tool_use_id": "toolu_01", "content": text}
	return w.record("user", []object{block}, object{"toolUseResult": structured})
}

func (w writer) next() []byte {
	switch n := w.r.IntN(100); {
	case n < 8:
		return w.record("user", w.words(40), nil)
	case n < 30:
		return w.record("assistant", []object{{"type": "text", "text": w.words(120)}}, nil)
	case n < 50:
		command := "cd /home/dev/src/demo && go test ./... -run " + w.words(4)
		return w.record("assistant", []object{{"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": object{"command": command, "description": w.words(6)}}}, nil)
	case n < 70:
		out := strings.Join(w.source(1+w.r.IntN(60)), "\n")
		return w.result(out, object{"stdout": out, "stderr": "", "interrupted": false, "isImage": false})
	case n < 85:
		lines := w.source(20 + w.r.IntN(300))
		numbered := make([]string, len(lines))
		for i, l := range lines {
			numbered[i] = fmt.Sprintf("%6d→%s", i+1, l)
		}
		file := object{"filePath": "/home/dev/src/demo/worker.go", "content": strings.Join(lines, "\n"), "numLines": len(lines), "startLine": 1}
		return w.result(strings.Join(numbered, "\n"), object{"type": "text", "file": file})
	default:
		old, whole := strings.Join(w.source(8), "\n"), strings.Join(w.source(150), "\n")
		return w.result("The file worker.go has been updated.", object{"filePath": "/home/dev/src/demo/worker.go", "oldString": old, "newString": old + "x", "originalFile": whole + old, "userModified": false})
	}
}

func records(n int) (lines [][]byte, size int64) {
	w := writer{rand.New(rand.NewPCG(1, 2))}
	for range n {
		line := w.next()
		lines, size = append(lines, line), size+int64(len(line))
	}
	return lines, size
}

func BenchmarkTurns(b *testing.B) {
	lines, size := records(2000)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		var s transcript.State
		for _, line := range lines {
			claude.Harness{}.Turns(line, &s)
		}
	}
}

func BenchmarkTurnsAndBody(b *testing.B) {
	lines, size := records(2000)
	b.SetBytes(size)
	b.ReportAllocs()
	var p derive.Projector
	var text int64
	for b.Loop() {
		var s transcript.State
		text = 0
		for _, line := range lines {
			for _, turn := range (claude.Harness{}).Turns(line, &s) {
				text += int64(len(p.Body(turn.Pieces)))
			}
		}
	}
	b.ReportMetric(float64(text)/float64(size), "body/byte")
}

func BenchmarkExcerpt(b *testing.B) {
	w := writer{rand.New(rand.NewPCG(1, 2))}
	text := []byte(w.words(2000) + "needle " + w.words(2000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		derive.Excerpt(text, []string{"needle", "retry2"})
	}
}
