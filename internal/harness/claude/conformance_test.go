package claude_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/claude"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
)

func TestConformance(t *testing.T) {
	harnesstest.Run(t, claude.Harness{}, harnesstest.Options{PathKeys: true})
}
