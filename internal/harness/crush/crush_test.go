package crush_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/crush"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestCrushHasThePropertiesOfAHarness(t *testing.T) {
	harnesstest.Run(t, crush.Harness{}, harnesstest.Options{Absent: []string{"sealsong", "whelkdir"}})
}

func FuzzTurns(f *testing.F) {
	f.Add([]byte(`{"id":"m","row":{"table":"messages","digest":0,"role":"tool","parts":[{"type":"tool_result","data":{"content":"a\nExit code 1\n<cwd>/d</cwd>"}}],"created_at":1}}` + "\n"))
	f.Add([]byte(`{"id":"m","row":{"table":"messages","digest":1,"role":"assistant","parts":[{"type":"tool_call","data":{"name":"bash","input":"{\"command\":\"b\"}"}},{"type":"finish","data":{"reason":"error","message":"c"}}]}}` + "\n"))
	f.Add([]byte(`{"id":"session","row":{"table":"sessions","id":"s","parent_session_id":"q","directory":"/d","title":"t"}}` + "\n"))
	f.Fuzz(func(t *testing.T, record []byte) {
		harnesstest.Check(t, crush.Harness{}, record, transcript.State{Key: "crush:s"})
	})
}
