// Package registry lists the harnesses that Terminus knows. Adding an agent
// adds one line here.
package registry

import (
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/claude"
)

// All returns every harness in the order in which a pass asks them. The caller
// owns the slice.
func All() []harness.Harness {
	return []harness.Harness{
		claude.Harness{},
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
