package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/feedback"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/store"
)

// label judges the decisions of closed sessions.
func label(ctx context.Context, p *pass, w *store.Writer) error {
	due, err := feedback.Due(ctx, w, p.started)
	if err != nil {
		return fmt.Errorf("look for decisions to judge: %w", err)
	}
	if len(due) == 0 {
		return nil
	}
	r, err := search.Open(ctx, p.o.Config)
	if err != nil {
		return err
	}
	defer r.Close()
	res, err := feedback.Label(ctx, w, r, due, p.started)
	if err != nil {
		return fmt.Errorf("judge decisions: %w", err)
	}
	var written []string
	for _, name := range slices.Sorted(maps.Keys(res.Labels)) {
		if n := res.Labels[name]; n > 0 {
			written = append(written, fmt.Sprintf("%s %d", name, n))
		}
	}
	if len(written) > 0 {
		p.res.Notes = append(p.res.Notes, "labels written: "+strings.Join(written, ", "))
	}
	if res.Left > 0 {
		p.res.Notes = append(p.res.Notes, fmt.Sprintf("the decisions of %d closed sessions wait for the next pass to be judged", res.Left))
	}
	return nil
}
