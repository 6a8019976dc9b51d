package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/store"
)

// stateKept is how long the notes of what a session was given outlive its last
// turn: long enough for whoever comes back to it after a holiday.
const stateKept = 30 * 24 * time.Hour

// dropStates removes the notes of sessions that ended long ago, or that were never
// archived.
func dropStates(ctx context.Context, p *pass, w *store.Writer) error {
	before := p.started.Add(-stateKept)
	old := recall.OldStates(p.o.Config.DataDir, before)
	if len(old) == 0 {
		return nil
	}
	active, err := archive.ActiveIDs(ctx, w, old, archive.Stamp(before))
	if err != nil {
		return err
	}
	for _, id := range old {
		if !slices.Contains(active, id) {
			recall.DropState(p.o.Config.DataDir, id)
		}
	}
	return nil
}
