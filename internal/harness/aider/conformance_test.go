package aider_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/harness/aider"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
)

var h = aider.Harness{Zone: time.FixedZone("CET", 3600)}

func TestConformance(t *testing.T) {
	harnesstest.Run(t, h, harnesstest.Options{Mask: mask})
}

// A session's key begins with a hash of its file's path.
var pathHash = regexp.MustCompile(`[0-9a-f]{12}-(2026|0)`)

func mask(want string) string { return pathHash.ReplaceAllString(want, "{PATH}-$1") }

func FuzzTurns(f *testing.F) { harnesstest.Fuzz(f, h) }
