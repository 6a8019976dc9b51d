package cli

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/store"
)

func newReindex(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "reindex",
		Short:   "Make everything that search needs again, out of the archived bytes",
		GroupID: groupCare,
		Long: `Make the turns, the search index and whatever else is derived again, out of the
archived bytes. No transcript is needed, turn ids stay, and search answers
meanwhile. A run that was interrupted goes on where it was.

A session whose bytes are damaged keeps what it has and is named; the exit code
is then 1. What is derived of an evicted session is kept, too: its bytes are
gone. It is never needed after an upgrade, which does the same by itself.`,
		Example: `  terminus reindex
  terminus reindex --json | jq .data.skipped`,
		Args: noArgs,
	}
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return ingest.Reindexed{} },
		run:   e.reindex,
	})
}

func (e *env) reindex(ctx context.Context) (answer, error) {
	cfg, err := e.config()
	if err != nil {
		return answer{}, err
	}
	debug.SetMemoryLimit(ingest.MemoryLimit)
	m := e.meter()
	r, err := ingest.Reindex(ctx, ingest.ReindexOptions{DataDir: cfg.DataDir, Progress: m.update})
	m.clear()
	if errors.Is(err, store.ErrNoStore) {
		return e.noStoreAnswer(cfg.DataDir), nil
	}
	if err != nil {
		return answer{}, err
	}
	a := answer{data: r, bad: len(r.Skipped) > 0, text: func() error {
		e.printReindex(r)
		return nil
	}}
	if a.bad {
		a.reason = count(len(r.Skipped), "session") + " skipped"
	}
	return a, nil
}

// printReindex writes to stderr alone: there is no data for people.
func (e *env) printReindex(r ingest.Reindexed) {
	for _, s := range r.Skipped {
		e.notef("%s: %s", s.SessionKey, s.Reason)
	}
	e.notef("%s with %s indexed again", count(r.Sessions, "session"), count(r.Turns, "turn"))
	if r.Preserved > 0 {
		e.notef("%s preserved", count(r.Preserved, "evicted session"))
	}
	if len(r.Skipped) > 0 {
		e.notef("%s skipped", count(len(r.Skipped), "session"))
	}
}
