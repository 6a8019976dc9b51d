package pi_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/harness/pi"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// agents are the agents of the family, each with words of its made-up store that are no part
// of the conversation.
var agents = []struct {
	h      harness.Harness
	absent []string
}{
	{pi.Pi(), []string{"secretthought", "stateofextension", "hiddenrule", "notasecret", "mended"}},
	{pi.OMP(), []string{"developertext", "cachednonsense"}},
	{pi.Prime(), nil},
	{pi.GJC(), nil},
	{pi.Senpi(), nil},
	{pi.Kimchi(), nil},
	{pi.OpenClaw(), []string{"checkpointcopy", "trajectorynoise", "notasecret"}},
}

func TestEveryAgentOfTheFamilyKeepsWhatHarnessesPromise(t *testing.T) {
	for _, a := range agents {
		t.Run(a.h.ID(), func(t *testing.T) { harnesstest.Run(t, a.h, harnesstest.Options{Absent: a.absent}) })
	}
}

func FuzzTurnsOfTheFamily(f *testing.F) {
	for _, seed := range []string{
		`{"type":"session","version":3,"id":"s","timestamp":"2026-03-01T11:00:00Z","cwd":"/w","parentSession":"/x/2026-03-01T10-00-00-000Z_p.jsonl","rlmDepth":1}`,
		`{"type":"message","id":"a","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"<file name=\"/a\">x</file>\n<skill name=\"a\" location=\"b\">\nc\n</skill>\n\nd"}}`,
		`{"type":"message","id":"b","message":{"role":"assistant","content":[{"type":"toolCall","name":"bash","arguments":"{\"command\":\"ls\"}"}],"timestamp":1}}`,
		`{"type":"compaction","summary":"s","firstKeptEntryId":"a","tokensBefore":7}{"type":"message"`,
		`{"id":"a","row":{"type":"message","message":{"role":"bashExecution","command":"ls","output":"x","exitCode":2}}}`,
	} {
		f.Add([]byte(seed+"\n"), "old 2026-03-01T11:00:00Z")
	}
	f.Fuzz(func(t *testing.T, record []byte, own string) {
		if len(own) > transcript.StateLimit {
			own = own[:transcript.StateLimit]
		}
		for _, a := range agents {
			harnesstest.Check(t, a.h, record, transcript.State{Key: a.h.ID() + ":x", Own: own})
		}
	})
}
