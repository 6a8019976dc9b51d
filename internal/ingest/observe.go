package ingest

import (
	"context"
	"fmt"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/observe"
	"github.com/terminus-archive/terminus/internal/store"
)

// observeClosed records the facts of closed sessions.
func observeClosed(ctx context.Context, p *pass, w *store.Writer) error {
	r, err := observe.Record(ctx, w, observe.Options{Lookup: p.harness, Hidden: hidden(p.o.Config.Exclude), Now: p.started})
	for _, line := range r.Unreadable {
		p.res.Notes = append(p.res.Notes, "not observed: "+line)
	}
	if r.Waiting > 0 {
		p.res.Notes = append(p.res.Notes, fmt.Sprintf("sessions that are finished and wait for the next pass to observe them: %d", r.Waiting))
	}
	return err
}

// hidden is what exclusions say of a session, nil where nothing is excluded.
func hidden(x *config.Exclusions) observe.Hidden {
	switch {
	case x.Everything():
		return func(string, string) bool { return true }
	case len(x.List()) == 0:
		return nil
	}
	return x.Hidden
}
