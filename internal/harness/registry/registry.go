// Package registry lists the harnesses that Terminus knows. Adding an agent
// adds one line here.
package registry

import (
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/claude"
	"github.com/terminus-archive/terminus/internal/harness/droid"
	"github.com/terminus-archive/terminus/internal/harness/kimi"
	"github.com/terminus-archive/terminus/internal/harness/pi"
)

// All returns every harness in the order in which a pass asks them. The caller
// owns the slice.
func All() []harness.Harness {
	return []harness.Harness{
		claude.Harness{},
		droid.Harness{},
		pi.GJC(),
		kimi.Harness{},
		pi.Kimchi(),
		pi.OMP(),
		pi.OpenClaw(),
		pi.Pi(),
		pi.Prime(),
		pi.Senpi(),
	}
}

// ByID returns the harness of an id, and whether there is one.
func ByID(id string) (harness.Harness, bool) {
	for _, h := range All() {
		if h.ID() == id {
			return h, true
		}
	}
	return nil, false
}

// OfKey returns the harness that a session key belongs to: the one whose id stands before
// its colon, else Claude Code, whose keys are paths.
func OfKey(key string) (harness.Harness, bool) {
	if id, _, ok := strings.Cut(key, ":"); ok && !filepath.IsAbs(key) {
		return ByID(id)
	}
	return claude.Harness{}, true
}
