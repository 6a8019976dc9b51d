package cli

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/store"
)

// A compactDocument is the data of compact.
type compactDocument struct {
	Before         compactFiles `json:"before"`
	After          compactFiles `json:"after"`
	ReclaimedBytes int64        `json:"reclaimed_bytes"`
}

type compactFiles struct {
	DB    int64 `json:"db"`
	WAL   int64 `json:"wal"`
	SHM   int64 `json:"shm"`
	Total int64 `json:"total"`
}

func newCompact(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "compact",
		Short:   "Give the space that retention freed back to the file system",
		GroupID: groupCare,
		Long: `Write the store anew without its free pages, so that its file shrinks. Nothing is
deleted: what to keep is decided by [retention] in the configuration, and done by
the passes. Search and hooks answer meanwhile; a pass waits.

While it runs it needs free space for two more copies of what the store holds.
Killed at any moment it leaves the store whole.`,
		Example: `  terminus compact
  terminus compact --json | jq .data.reclaimed_bytes`,
		Args: noArgs,
	}
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return compactDocument{} },
		run:   e.compact,
	})
}

// logInUse is said where a reader kept the log of the store.
const logInUse = "another process is reading the store, so its log is still there: the next pass truncates it"

func (e *env) compact(ctx context.Context) (answer, error) {
	cfg, err := e.config()
	if err != nil {
		return answer{}, err
	}
	m := e.meter()
	warnings, err := e.warningsOf(ctx)
	if err != nil {
		return answer{}, err
	}
	debug.SetMemoryLimit(ingest.MemoryLimit)
	c, err := ingest.Compact(ctx, ingest.CompactOptions{DataDir: cfg.DataDir, Progress: m.update})
	m.clear()
	doc := compactDocument{
		Before: compactSizes(c.Before), After: compactSizes(c.After), ReclaimedBytes: c.Before.Total() - c.After.Total(),
	}
	var locked *ingest.LockedError
	switch {
	case errors.Is(err, store.ErrNoStore):
		return e.noStoreAnswer(cfg.DataDir), nil
	case errors.As(err, &locked):
		return answer{data: doc, bad: true, reason: err.Error(), warnings: warnings, text: func() error { return err }}, nil
	case err != nil:
		return answer{warnings: warnings}, err
	}
	if !c.Homed {
		warnings = append(warnings, logInUse)
	}
	return answer{data: doc, warnings: warnings, text: func() error {
		e.printCompact(doc)
		return nil
	}}, nil
}

func compactSizes(f store.Files) compactFiles {
	return compactFiles{DB: f.DB, WAL: f.WAL, SHM: f.SHM, Total: f.Total()}
}

func (e *env) printCompact(doc compactDocument) {
	e.labelled("before", "%s", byteCount(doc.Before.Total))
	e.labelled("after", "%s", byteCount(doc.After.Total))
	// A store that grew a little gave nothing back.
	e.labelled("reclaimed", "%s (%s)", count(doc.ReclaimedBytes, "byte"), binarySize(max(doc.ReclaimedBytes, 0)))
}
