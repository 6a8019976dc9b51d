package gemini_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/gemini"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestQwen(t *testing.T) {
	harnesstest.Run(t, gemini.Qwen{}, harnesstest.Options{Absent: []string{
		"snapshotsnail", "telemetrytern", "inwardinchworm", "dimdingo", "recalledroach", "injectedimpala", "keptkoala",
		"umbrellabird", "metamarten", "memorymole",
	}})
}

func TestAPathOfQwenTellsTheKey(t *testing.T) {
	for path, want := range map[string]string{
		"/h/.qwen/projects/-a/chats/s.jsonl":               "qwen:s",
		"/h/.qwen/projects/-a/chats/archive/s.jsonl":       "qwen:s",
		"/h/projects/.qwen/projects/-a/chats/s.jsonl":      "qwen:s",
		"/h/.qwen/projects/-a/subagents/s/agent-b-1.jsonl": "qwen:s/b-1",
		"/h/.qwen/projects/-a/subagents/s/b-1.jsonl":       "",
		"/h/.qwen/projects/-a/chats/more/s.jsonl":          "",
		"/h/.qwen/projects/-a/s.jsonl":                     "",
		"/h/.qwen/other/-a/chats/s.jsonl":                  "",
		"":                                                 "",
	} {
		if got := (gemini.Qwen{}).KeyAt(path); got != want {
			t.Errorf("%s has the key %q, want %q", path, got, want)
		}
	}
}

func FuzzTurnsOfQwen(f *testing.F) {
	for _, seed := range []string{
		`{"uuid":"a","timestamp":"2026-01-01T00:00:00Z","type":"user","message":{"parts":[{"text":"x"},{"functionResponse":{"name":"run_shell_command","response":{"output":"\nExit Code: 1"}}}]}}`,
		`{"uuid":"a","timestamp":1,"type":"system","subtype":"chat_compression","systemPayload":{"compressedHistory":[{"parts":[{"text":"s"}]}]}}`,
		`{"uuid":"a"{"uuid":"b","timestamp":1,"type":"assistant","message":{"parts":[{"functionCall":{"name":"tool_call","args":{"name":"n","arguments":"{}"}}}]}}`,
	} {
		f.Add([]byte(seed + "\n"))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		harnesstest.Check(t, gemini.Qwen{}, record, transcript.State{Key: "qwen:x"})
	})
}
