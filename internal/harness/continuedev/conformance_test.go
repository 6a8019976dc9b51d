package continuedev_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/continuedev"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
)

func TestConformance(t *testing.T) {
	harnesstest.Run(t, continuedev.Harness{}, harnesstest.Options{Absent: []string{"unsaid"}})
}

func FuzzTurns(f *testing.F) { harnesstest.Fuzz(f, continuedev.Harness{}) }
