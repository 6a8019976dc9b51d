package cline_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/cline"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
)

func TestConformance(t *testing.T) {
	harnesstest.Run(t, cline.Harness{}, harnesstest.Options{Absent: []string{"unsaid"}})
}

func FuzzTurns(f *testing.F) { harnesstest.Fuzz(f, cline.Harness{}) }
