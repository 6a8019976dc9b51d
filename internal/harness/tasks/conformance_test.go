package tasks_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/harness/tasks"
)

func TestConformance(t *testing.T) {
	harnesstest.Run(t, tasks.Roo(), harnesstest.Options{Absent: []string{"unsaid"}})
}

func FuzzTurns(f *testing.F) { harnesstest.Fuzz(f, tasks.Roo()) }
