// Package registry lists the harnesses that Terminus knows. Adding an agent
// adds one line here.
package registry

import (
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/aider"
	"github.com/terminus-archive/terminus/internal/harness/amp"
	"github.com/terminus-archive/terminus/internal/harness/claude"
	"github.com/terminus-archive/terminus/internal/harness/cline"
	"github.com/terminus-archive/terminus/internal/harness/codex"
	"github.com/terminus-archive/terminus/internal/harness/continuedev"
	"github.com/terminus-archive/terminus/internal/harness/copilot"
	"github.com/terminus-archive/terminus/internal/harness/crush"
	"github.com/terminus-archive/terminus/internal/harness/droid"
	"github.com/terminus-archive/terminus/internal/harness/gemini"
	"github.com/terminus-archive/terminus/internal/harness/goose"
	"github.com/terminus-archive/terminus/internal/harness/joined"
	"github.com/terminus-archive/terminus/internal/harness/kimi"
	"github.com/terminus-archive/terminus/internal/harness/notes"
	"github.com/terminus-archive/terminus/internal/harness/opencode"
	"github.com/terminus-archive/terminus/internal/harness/pi"
	"github.com/terminus-archive/terminus/internal/harness/tasks"
	"github.com/terminus-archive/terminus/internal/harness/zed"
)

// All returns every harness in the order in which a pass asks them. The caller
// owns the slice.
func All() []harness.Harness {
	return []harness.Harness{
		claude.Harness{},
		aider.Harness{},
		amp.Harness{},
		cline.Harness{},
		codex.Harness{},
		continuedev.Harness{},
		copilot.Harness{},
		crush.Harness{},
		droid.Harness{},
		gemini.Harness{},
		gemini.Qwen{},
		goose.Harness{},
		kimi.Harness{},
		notes.Harness{},
		opencode.Harness{},
		joined.Harness{Main: opencode.Kilo(), Beside: tasks.Kilo()},
		pi.GJC(),
		pi.Kimchi(),
		pi.OMP(),
		pi.OpenClaw(),
		pi.Pi(),
		pi.Prime(),
		pi.Senpi(),
		tasks.Roo(),
		zed.Harness{},
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
