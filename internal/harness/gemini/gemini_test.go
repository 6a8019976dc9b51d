package gemini_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/gemini"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
)

func TestGemini(t *testing.T) {
	harnesstest.Run(t, gemini.Harness{}, harnesstest.Options{Absent: []string{
		"wombatsurroundings", "thoughtmarmot", "injectedibex", "displayotter", "recalledsquirrel", "inwardweevil", "loggedlemur",
		"outputocelot", "supersededstoat", "checkpointchough", "shortened", "masked",
	}})
}
