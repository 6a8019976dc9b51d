package aider_test

import (
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/harness/aider"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
)

var h = aider.Harness{Zone: time.FixedZone("CET", 3600)}

func TestConformance(t *testing.T) {
	harnesstest.Run(t, h, harnesstest.Options{})
}

func FuzzTurns(f *testing.F) { harnesstest.Fuzz(f, h) }
