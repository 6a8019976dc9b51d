// Package joined makes one harness of two where one agent keeps its sessions in stores of two
// forms, each of which a package of its own reads. Neither of the two knows of the other.
package joined

import (
	"context"
	"iter"
	"os"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// A Store is a harness that tells what is of its own store.
type Store interface {
	harness.Harness
	// Holds reports whether a transcript is one that its Discover yields.
	Holds(t harness.Transcript) bool
	// Made reports whether a record is one that its Tail yields.
	Made(record []byte) bool
}

// A Harness reads the sessions of an agent in two stores. All its fields must be set, with
// harnesses of one ID. It holds no state and may be used by several goroutines.
//
// The stores hold different sessions: a session that the agent copied from one to the other has
// two ids, and is two sessions.
type Harness struct {
	// Main is the store by which the agent is known. It reads what is not the other's.
	Main harness.Harness
	// Beside is the other one. It is asked for nothing but its sessions and what they tell.
	Beside Store
}

var (
	_ harness.Harness  = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Modifier = Harness{}
)

// ID is that of both.
func (h Harness) ID() string { return h.Main.ID() }

// Name is that of the main store's harness.
func (h Harness) Name() string { return h.Main.Name() }

// Seen is that of the main store's harness.
func (h Harness) Seen() string { return h.Main.Seen() }

// Roots are those of the main store and then those of the other.
func (h Harness) Roots(m harness.Machine) []string {
	return append(h.Main.Roots(m), h.Beside.Roots(m)...)
}

// Resume is how the main store's agent goes on with a session, nil where it cannot.
func (h Harness) Resume(sessionID string) []string {
	if r, ok := h.Main.(harness.Resumer); ok {
		return r.Resume(sessionID)
	}
	return nil
}

// Modifies is true of a tool that changes files in either.
func (h Harness) Modifies(tool string) bool {
	for _, one := range []harness.Harness{h.Main, h.Beside} {
		if m, ok := one.(harness.Modifier); ok && m.Modifies(tool) {
			return true
		}
	}
	return false
}

// Discover lists what either finds below the roots. A root that is a file can be of the main
// store alone. A place that neither can read is a problem once.
func (h Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		told := map[string]bool{}
		beside := env
		beside.Roots = nil
		for _, root := range env.Roots {
			if info, err := os.Stat(root); err != nil || info.IsDir() {
				beside.Roots = append(beside.Roots, root)
			}
		}
		for _, one := range []struct {
			harness.Harness
			env harness.Env
		}{{h.Main, env}, {h.Beside, beside}} {
			for t, err := range one.Discover(ctx, one.env) {
				if err != nil {
					if told[err.Error()] {
						continue
					}
					told[err.Error()] = true
				}
				if !yield(t, err) {
					return
				}
			}
		}
	}
}

// Tail yields the records of the store that the transcript is of.
func (h Harness) Tail(ctx context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	if h.Beside.Holds(t) {
		return h.Beside.Tail(ctx, t)
	}
	return h.Main.Tail(ctx, t)
}

// Turns reads a record as the store does that made it.
func (h Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	if h.Beside.Made(record) {
		return h.Beside.Turns(record, s)
	}
	return h.Main.Turns(record, s)
}
