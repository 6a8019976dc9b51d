package ingest

import (
	"context"
	"fmt"

	"github.com/terminus-archive/terminus/internal/feedback"
	"github.com/terminus-archive/terminus/internal/recall"
)

// drain moves what hooks logged since the last pass into the store. A pass over
// one transcript, or over an export, has no part in it.
func (p *pass) drain(ctx context.Context) error {
	if p.o.Path != "" || p.choose != nil {
		return nil
	}
	recall.SweepStates(p.o.Config.DataDir, p.started)
	w, err := p.db.Writer(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	res, err := feedback.Drain(ctx, w, p.o.Config.DataDir, p.started)
	for _, f := range res.Failures {
		p.res.Undrained = append(p.res.Undrained, Failure(f))
	}
	if res.Newer > 0 {
		p.res.Notes = append(p.res.Notes, fmt.Sprintf("%d logged decisions are of a newer version of terminus and wait for it", res.Newer))
	}
	if err != nil {
		return fmt.Errorf("store the logged decisions: %w", err)
	}
	return nil
}
