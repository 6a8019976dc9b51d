package notes_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/harness/notes"
)

var h = notes.Harness{}

func TestConformance(t *testing.T) {
	harnesstest.Run(t, h, harnesstest.Options{Variables: map[string]string{"TERMINUS_DATA_DIR": "{HOME}/.local/share/terminus"}})
}

func FuzzTurns(f *testing.F) { harnesstest.Fuzz(f, h) }
