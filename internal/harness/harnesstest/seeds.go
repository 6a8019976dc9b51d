package harnesstest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Fuzz is a fuzz target over the records of a harness of rows, with those of its made-up home as
// seeds.
func Fuzz(f *testing.F, h harness.Harness) {
	f.Helper()
	home, err := filepath.Abs(filepath.Join("testdata", h.ID(), "home"))
	if err != nil {
		f.Fatal(err)
	}
	roots := h.Roots(harness.Machine{
		GOOS: "linux", Home: home, Data: filepath.Join(home, ".local", "share", "terminus"),
		Get: func(string) string { return "" },
	})
	seeds := 0
	for tr, err := range h.Discover(context.Background(), harness.Env{Roots: roots}) {
		if err != nil {
			f.Fatal(err)
		}
		for rec, err := range h.Tail(context.Background(), tr) {
			if err != nil {
				f.Fatal(err)
			}
			f.Add(rec.Bytes)
			seeds++
		}
	}
	if seeds == 0 {
		f.Fatal("the made-up home has no record")
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		Check(t, h, record, transcript.State{Key: h.ID() + ":1772359200000"})
	})
}
