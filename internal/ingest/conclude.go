package ingest

import (
	"context"

	"github.com/terminus-archive/terminus/internal/store"
)

// conclude does what a pass over everything owes the archive as a whole, in an order that
// matters: a session is closed before its decisions are judged and its facts are read, and
// its facts are read before retention takes its bytes. A backfill and a pass over one
// transcript leave it to the next pass.
func (p *pass) conclude(ctx context.Context) error {
	if p.o.Path != "" || p.o.Backfill {
		return nil
	}
	w, err := p.db.Writer(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	for _, step := range []step{closeIdle, label, dropStates, observeClosed, retain} {
		if err := step(ctx, p, w); err != nil {
			return err
		}
	}
	return nil
}

// A step changes the store in transactions of its own and leaves none open. What costs one
// session is a failure or a note in the result; the error is that of the pass.
type step func(ctx context.Context, p *pass, w *store.Writer) error
