package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/clock"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/restore"
	"github.com/terminus-archive/terminus/internal/store"
)

// newSnapshot is the command `snapshot`, which only holds others.
func newSnapshot(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "snapshot",
		Short:   "List the snapshots of the archive, and go back to one",
		GroupID: groupCare,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unexpected word %q: it is list or restore", args[0])
			}
			return errors.New("nothing to do is named: it is list or restore")
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args lets nothing through
	}
	cmd.AddCommand(newSnapshotList(e), newSnapshotRestore(e))
	return cmd
}

// A snapshotsDocument is the data of snapshot list.
type snapshotsDocument struct {
	Snapshots []listedSnapshot `json:"snapshots"` // the newest first
}

type listedSnapshot struct {
	Name     string  `json:"name"`
	TakenAt  string  `json:"taken_at"`
	Bytes    int64   `json:"bytes"`
	Sessions *int64  `json:"sessions"` // nil, as Turns, where it cannot be opened
	Turns    *int64  `json:"turns"`
	Problem  *string `json:"problem"` // why not
}

func newSnapshotList(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the snapshots, and what is in them",
		Long: `List the snapshots of the archive, the newest first, with their size and what is
in them. Each is opened, and not checked: restore does that, and so does
terminus verify for the archive before a pass makes the next one.`,
		Example: `  terminus snapshot list
  terminus snapshot list --json | jq -r '.data.snapshots[0].name'`,
		Args: noArgs,
	}
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return snapshotsDocument{} },
		run:   e.listSnapshots,
	})
}

func (e *env) listSnapshots(ctx context.Context) (answer, error) {
	cfg, err := e.config()
	if err != nil {
		return answer{}, err
	}
	list, err := restore.List(ctx, cfg.DataDir)
	if err != nil {
		return answer{}, err
	}
	var doc snapshotsDocument
	for _, s := range list {
		l := listedSnapshot{Name: s.Name, TakenAt: archive.Stamp(s.Taken), Bytes: s.Bytes}
		if s.Problem != "" {
			l.Problem = &s.Problem
		} else {
			l.Sessions, l.Turns = &s.Sessions, &s.Turns
		}
		doc.Snapshots = append(doc.Snapshots, l)
	}
	if len(list) == 0 && e.nothingAt(ctx, cfg.DataDir) {
		return e.noStoreAnswer(cfg.DataDir), nil
	}
	a := answer{data: doc}
	if len(list) == 0 {
		a.reason = noSnapshot
	}
	a.text = func() error {
		e.printSnapshots(doc)
		if a.reason != "" {
			e.notef("%s", a.reason)
			return nil
		}
		e.notef("%s", count(len(list), "snapshot"))
		return nil
	}
	return a, nil
}

const noSnapshot = "there is no snapshot yet: a pass makes one where [snapshot] in terminus.toml does not forbid it"

func (e *env) printSnapshots(doc snapshotsDocument) {
	for _, s := range doc.Snapshots {
		if s.Problem != nil {
			e.printf("%s\n", e.screen.row(0, cell{s.Name, never}, cell{byteCount(s.Bytes), never}, cell{"(" + visible(*s.Problem) + ")", last}))
			continue
		}
		e.printf("%s\n", e.screen.row(0, cell{s.Name, never}, cell{byteCount(s.Bytes), never},
			cell{count(*s.Sessions, "session"), never}, cell{count(*s.Turns, "turn"), never}))
	}
}

// A restoreDocument is the data of snapshot restore.
type restoreDocument struct {
	Name     string  `json:"name"` // as it was typed
	TakenAt  *string `json:"taken_at"`
	Sessions int64   `json:"sessions"`
	Turns    int64   `json:"turns"`
	// Damaged is how many failures verify finds in it.
	Damaged int `json:"damaged"`
	// Kept is under which path the store is kept that was there before.
	Kept *string `json:"kept"`
	// What that had and the snapshot has not; nil where nobody can tell. Newer counts
	// the sessions that have come or grown, Gone those of them without a transcript.
	Newer     *int64 `json:"newer_sessions"`
	Gone      *int64 `json:"gone_sessions"`
	Decisions *int64 `json:"newer_decisions"`
}

func newSnapshotRestore(e *env) *cobra.Command {
	var name string
	var yes bool
	cmd := &cobra.Command{
		Use:   "restore <name>",
		Short: "Put a snapshot in the place of the archive",
		Long: `Put a snapshot in the place of the archive's database: check every archived byte
of it, say what it lacks of what is there now, ask once, and swap the two. What
was there is kept beside it, under a name with the date, until you remove it.
What came since and is still on disk is archived again by the next pass.

Ended at any moment, it leaves either the old database in its place or the new
one. With --json it asks nobody, and so needs --yes.`,
		Example: `  terminus snapshot list
  terminus snapshot restore terminus-20260820T120000.000Z.db`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || args[0] == "":
				return errors.New("no snapshot is named: terminus snapshot list names them")
			case len(args) > 1:
				return fmt.Errorf("unexpected word %q: one snapshot", args[1])
			case e.json && !yes:
				return errors.New("--json asks nobody: it needs --yes")
			}
			name = args[0]
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "restore without asking")
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return restoreDocument{Name: name} },
		run:   func(ctx context.Context) (answer, error) { return e.restore(ctx, name, yes) },
	})
}

func (e *env) restore(ctx context.Context, name string, yes bool) (answer, error) {
	cfg, err := e.config()
	if err != nil {
		return answer{}, err
	}
	debug.SetMemoryLimit(ingest.MemoryLimit)
	ctx, stop := interruptible(ctx)
	defer stop()
	m := e.meter()
	plan, err := restore.Look(ctx, restore.Options{DataDir: cfg.DataDir, Name: name, Now: clock.Now(), Progress: m.update})
	m.clear()
	if errors.Is(err, restore.ErrUnknown) {
		return e.unknownSnapshot(ctx, cfg.DataDir, name)
	}
	if err != nil {
		return answer{}, err
	}
	if !e.json {
		e.printRestore(plan)
		ok, err := e.confirm("Put it in the place of the archive?", yes)
		if err != nil {
			return answer{}, err
		}
		if !ok {
			return answer{text: func() error { e.notef("nothing was changed"); return nil }}, nil
		}
	}
	kept, err := plan.Run(ctx)
	if done := (*restore.DoneError)(nil); ctx.Err() != nil && err != nil && !errors.As(err, &done) {
		err = errors.New("interrupted; the archive is what it was")
	}
	if err != nil {
		return answer{}, err
	}
	doc := restoreDocument{Name: name, Sessions: plan.Sessions, Turns: plan.Turns, Damaged: plan.Damaged}
	taken := archive.Stamp(plan.Snapshot.Taken)
	doc.TakenAt = &taken
	if kept != "" {
		doc.Kept = &kept
	}
	if l := plan.Loss; l != nil {
		doc.Newer, doc.Gone, doc.Decisions = &l.Newer, &l.Gone, &l.Decisions
	}
	return answer{data: doc, text: func() error {
		if kept != "" {
			e.labelled("kept", "%s", visible(kept))
		}
		e.notef("restored; terminus ingest archives again what is still on disk")
		return nil
	}}, nil
}

// unknownSnapshot is the answer for a name that no snapshot has. Where there is
// nothing at all, that is an empty answer as everywhere.
func (e *env) unknownSnapshot(ctx context.Context, dataDir, name string) (answer, error) {
	all, err := store.Snapshots(dataDir)
	if err == nil && len(all) == 0 && e.nothingAt(ctx, dataDir) {
		return e.noStoreAnswer(dataDir), nil
	}
	return answer{}, fmt.Errorf("there is no snapshot %s: terminus snapshot list names those that there are", name)
}

// nothingAt reports whether there is no store, which is not one that cannot be used.
func (e *env) nothingAt(ctx context.Context, dataDir string) bool {
	db, err := store.OpenReader(ctx, store.Path(dataDir))
	if err == nil {
		_ = db.Close() // it was only asked whether it is there
	}
	return errors.Is(err, store.ErrNoStore)
}

func (e *env) printRestore(plan *restore.Plan) {
	e.labelled("snapshot", "%s", visible(plan.Snapshot.Path))
	e.labelled("taken", "%s", plan.Snapshot.Taken.Format(time.RFC3339))
	e.labelled("size", "%s", byteCount(plan.Snapshot.Bytes))
	e.labelled("holds", "%s, %s", count(plan.Sessions, "session"), count(plan.Turns, "turn"))
	e.labelled("replaces", "%s", visible(plan.Store))
	if plan.Damaged > 0 {
		e.warnf("the snapshot is damaged in part: %s in single sessions; everything else in it is whole", count(plan.Damaged, "failure"))
	}
	switch l := plan.Loss; {
	case plan.Bytes == 0:
	case l == nil:
		e.notef("what is there now cannot be read: nobody can tell what it has and the snapshot lacks")
	default:
		e.labelled("lacks", "%s that came or grew since, %d of them without a transcript on disk; %s",
			count(l.Newer, "session"), l.Gone, count(l.Decisions, "logged prompt"))
	}
}
