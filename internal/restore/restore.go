// Package restore owns what snapshots are for: it tells what is in them, and puts one
// in the place of the store.
//
// It promises that there is a store at every moment, the old one or the new one,
// whenever it is ended, and that the old one is kept beside, with its log, under a
// name with the date. A database file takes its place in one step; what could go wrong
// is that it finds the log of another. So the old log is brought home first; where
// that cannot be done, because the old store is no whole database, the log is taken
// away before, and is kept with it.
//
// Whoever has the old store open goes on reading it. Nothing else of the data
// directory is touched: not what hooks noted, and not the snapshot itself.
package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/feedback"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/store"
)

// A Listed is a snapshot and what is in it.
type Listed struct {
	store.Snapshot
	Sessions, Turns int64
	// Problem says why it cannot be opened, "" where it can. That it can does not
	// prove it whole.
	Problem string
}

// List tells of each snapshot in a data directory what is in it, the newest first. It
// makes no file.
func List(ctx context.Context, dataDir string) ([]Listed, error) {
	all, err := store.Snapshots(dataDir)
	if err != nil {
		return nil, err
	}
	list := make([]Listed, 0, len(all))
	for _, s := range all {
		l := Listed{Snapshot: s}
		if l.Sessions, l.Turns, err = totals(ctx, s.Path); err != nil {
			l.Problem = err.Error()
		}
		list = append(list, l)
	}
	return list, ctx.Err()
}

// Newest is the newest snapshot that can be opened; ok is false where there is none.
func Newest(ctx context.Context, dataDir string) (s store.Snapshot, ok bool) {
	all, _ := store.Snapshots(dataDir) // what cannot be listed offers none
	for _, s := range all {
		if _, _, err := totals(ctx, s.Path); err == nil {
			return s, true
		}
	}
	return store.Snapshot{}, false
}

// totals opens a copy of a store and counts what is in it.
func totals(ctx context.Context, path string) (sessions, turns int64, err error) {
	db, err := store.OpenCopy(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	sessions, turns, err = archive.Totals(ctx, db)
	return sessions, turns, store.Wrap("read", path, err)
}

// Options say what is to be restored.
type Options struct {
	DataDir string
	Name    string // of the snapshot
	Now     time.Time
	// Progress, if not nil, is told how much of the snapshot has been checked.
	Progress func(done, total int64)

	// at is told that a point has been reached; tests end the process there.
	at func(point)
}

// A Plan is what restoring would do. Look makes it, and Run carries it out.
type Plan struct {
	Snapshot        store.Snapshot
	Sessions, Turns int64
	// Damaged is how many failures the check found in single sessions of the
	// snapshot. Everything else of it is whole.
	Damaged int
	// Store is the database that it takes the place of, and Bytes its size with its
	// log, 0 where there is none.
	Store string
	Bytes int64
	// Loss is nil where the store cannot be read, so that nobody can tell, and where
	// there is none.
	Loss *Loss

	o    Options
	stat fs.FileInfo // of the snapshot that was checked
}

// A Loss is what the store has and the snapshot has not.
type Loss struct {
	// Newer are sessions that came or grew since. The next pass archives them again,
	// but for those of them whose transcript is Gone.
	Newer, Gone int64
	// Decisions are the logged prompts that were stored since.
	Decisions int64
}

// ErrUnknown means that there is no snapshot of that name.
var ErrUnknown = errors.New("there is no snapshot of that name")

// Look checks a snapshot as a whole, every archived byte of it, and finds out what
// restoring it would cost. It changes nothing. The error is ErrUnknown, or says what
// keeps the snapshot from being restored.
func Look(ctx context.Context, o Options) (*Plan, error) {
	all, err := store.Snapshots(o.DataDir)
	if err != nil {
		return nil, err
	}
	p := &Plan{Store: store.Path(o.DataDir), o: o}
	p.Bytes = store.Size(p.Store)
	for _, s := range all {
		if s.Name == o.Name {
			p.Snapshot = s
		}
	}
	if p.Snapshot.Name == "" {
		return nil, ErrUnknown
	}
	if p.stat, err = os.Stat(p.Snapshot.Path); err != nil {
		return nil, err
	}
	copied, err := store.OpenCopy(ctx, p.Snapshot.Path)
	if errors.Is(err, store.ErrNoStore) {
		return nil, fmt.Errorf("the snapshot %s is empty", o.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("the snapshot cannot be restored: %w", err)
	}
	defer copied.Close()
	report, err := ingest.VerifyStore(ctx, copied, o.Progress)
	if err != nil {
		return nil, fmt.Errorf("the snapshot cannot be restored: %w", err)
	}
	for _, f := range report.Failures {
		if f.SessionKey == store.FileName { // a page of the database
			return nil, fmt.Errorf("the snapshot %s cannot be restored: it is damaged: %s", o.Name, f.Detail)
		}
	}
	p.Damaged = len(report.Failures)
	if p.Sessions, p.Turns, err = archive.Totals(ctx, copied); err != nil {
		return nil, store.Wrap("read", p.Snapshot.Path, err)
	}
	p.Loss, err = lossTo(ctx, copied, p.Store)
	return p, err
}

// lossTo compares the store with a snapshot.
func lossTo(ctx context.Context, snapshot *store.DB, path string) (*Loss, error) {
	current, err := store.OpenReader(ctx, path)
	if err != nil {
		return nil, ctx.Err() // it is broken, or not there: nobody can tell
	}
	defer current.Close()
	had, err := archive.Holdings(ctx, snapshot)
	if err != nil {
		return nil, store.Wrap("read", snapshot.Path, err)
	}
	lens := map[string]int64{}
	for _, h := range had {
		lens[h.Key] = h.StreamLen
	}
	has, err := archive.Holdings(ctx, current)
	if err != nil {
		return nil, ctx.Err()
	}
	var l Loss
	for _, h := range has {
		if n, ok := lens[h.Key]; ok && n >= h.StreamLen {
			continue
		}
		l.Newer++
		if _, err := os.Stat(h.Transcript); errors.Is(err, fs.ErrNotExist) {
			l.Gone++
		}
	}
	before, err := feedback.Count(ctx, snapshot)
	if err != nil {
		return nil, store.Wrap("read", snapshot.Path, err)
	}
	now, err := feedback.Count(ctx, current)
	if err != nil {
		return nil, ctx.Err()
	}
	l.Decisions = max(now-before, 0)
	return &l, nil
}
