package opencode_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/harness/opencode"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestOpencodeHasThePropertiesOfAHarness(t *testing.T) {
	harnesstest.Run(t, opencode.Harness{}, harnesstest.Options{
		Absent: []string{"wobbleflute", "dreamcatcher", "grumblemode", "brassmonkey"},
	})
}

func TestKiloHasThePropertiesOfAHarness(t *testing.T) {
	harnesstest.Run(t, opencode.Kilo(), harnesstest.Options{})
}

func FuzzTurns(f *testing.F) {
	f.Add([]byte(`{"id":"p","row":{"table":"part","role":"user","digest":null,"copied":null,"data":{"type":"text","text":"a"}}}` + "\n"))
	f.Add([]byte(`{"id":"p","row":{"table":"part","role":"assistant","data":{"type":"tool","tool":"bash","state":{"status":"error","input":"{}","error":{"message":"b"},"time":{"start":1}}}}}` + "\n"))
	f.Add([]byte(`{"id":"m","row":{"table":"session_message","type":"assistant","data":{"content":[{"type":"tool","name":"edit","state":{"status":"completed","content":[{"text":"c"}]}}]}}}` + "\n"))
	f.Add([]byte(`{"id":"session","row":{"table":"session","id":"s","parent_id":"q","directory":"/d","title":"t"}}` + "\n"))
	f.Fuzz(func(t *testing.T, record []byte) {
		harnesstest.Check(t, opencode.Harness{}, record, transcript.State{Key: "opencode:s"})
	})
}
