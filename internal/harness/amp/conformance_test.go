package amp_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/amp"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
)

var h = amp.Harness{}

func TestConformance(t *testing.T) {
	harnesstest.Run(t, h, harnesstest.Options{Absent: []string{"heron"}})
}

func FuzzTurns(f *testing.F) { harnesstest.Fuzz(f, h) }
