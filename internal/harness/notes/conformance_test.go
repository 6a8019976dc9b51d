package notes_test

import (
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/harness/notes"
)

var h = notes.Harness{Zone: time.FixedZone("CET", 3600)}

func TestConformance(t *testing.T) {
	harnesstest.Run(t, h, harnesstest.Options{Variables: map[string]string{"TERMINUS_DATA_DIR": "{HOME}/.local/share/terminus"}})
}

func FuzzTurns(f *testing.F) { harnesstest.Fuzz(f, h) }
