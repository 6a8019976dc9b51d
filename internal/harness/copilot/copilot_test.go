package copilot_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/copilot"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestCopilot(t *testing.T) {
	harnesstest.Run(t, copilot.Harness{}, harnesstest.Options{Absent: []string{
		"hookedheron", "injectedimpala", "promptporcupine", "inwardibis", "titletapir", "telemetrytoad", "diffdeer", "describeddodo",
		"recalledray", "failedfalcon", "copiedcormorant", "planpuffin", "checkpointcoot", "unheardumbrette", "tornturtle",
	}})
}

func TestACommandFailedIfItsExitStatusSaysSo(t *testing.T) {
	for data, want := range map[string]bool{
		`{"success":true,"shellExecution":{"exitCode":1},"result":{"content":"x"}}`:            true,
		`{"success":true,"shellExecution":{"exitCode":0},"result":{"content":"x"}}`:            false,
		`{"success":true,"result":{"content":"x\n<shellId: 1 completed with exit code 2>\n"}}`: true,
		`{"success":true,"result":{"content":"x\n<shellId: 1 completed with exit code 0>"}}`:   false,
		`{"success":true,"result":{"content":"it says: completed with exit code 2"}}`:          false,
		`{"success":false,"error":{"message":"x"}}`:                                            true,
		`{"success":false,"error":"x"}`:                                                        true,
		`{"success":true,"result":"x"}`:                                                        false,
	} {
		line := `{"type":"tool.execution_complete","id":"e","timestamp":"2026-01-01T00:00:00Z","data":` + data + `}`
		turns := copilot.Harness{}.Turns([]byte(line), &transcript.State{})
		if len(turns) != 1 || !turns[0].ToolResult {
			t.Fatalf("%s gives %+v", data, turns)
		}
		failed := false
		for _, m := range turns[0].Mentions {
			failed = failed || m.Origin == transcript.Failure
		}
		if failed != want {
			t.Errorf("%s failed: %t, want %t", data, failed, want)
		}
	}
}

func FuzzTurnsOfCopilot(f *testing.F) {
	for _, seed := range []string{
		`{"type":"session.start","id":"a","timestamp":"2026-01-01T00:00:00Z","data":{"sessionId":"s","context":{"cwd":"/d","branch":"b"}}}`,
		`{"type":"assistant.message","id":"a","timestamp":1,"data":{"content":"c","toolRequests":[{"toolCallId":"t","name":"bash","arguments":"{\"command\":\"x\"}"}]}}`,
		`{"type":"tool.execution_complete","id":"a","timestamp":1,"data":{"result":{"content":"<x completed with exit code 1>"},"error":{"message":"m"}}}`,
		`{"type":"session.info","id":"a","timestamp":1,"data":{"message":"fork c0ffee00-0000-4000-8000-00000000000b"}}`,
	} {
		f.Add([]byte(seed + "\n"))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		harnesstest.Check(t, copilot.Harness{}, record, transcript.State{Key: "copilot:x"})
	})
}
