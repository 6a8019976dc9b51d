// Package ingest owns the pass: it asks every harness what there is, reads
// what is new, and commits bytes, turns and watermark of each transcript
// together. One process at a time, under the lock; it may die anywhere, and the
// next pass converges to the same store.
//
// One worker reads, hashes, compresses and derives; one writer changes the
// store. Between them stands a queue bounded in bytes. More workers gain
// nothing: the writer's full-text index is the limit.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/store"
)

// Options say what a pass does.
type Options struct {
	Config *config.Config
	// Where, if not nil, tells where the data directory is by now, Config.DataDir
	// being where it was when Config was read.
	Where func() (string, error)
	// Path limits the pass to one transcript; "" is the whole tree.
	Path string
	// Backfill commits in larger steps.
	Backfill bool
	// Harnesses defaults to all that are registered.
	Harnesses []harness.Harness
	// Progress, if not nil, is called from time to time while work is done.
	Progress func(Progress)
	// SnapshotProgress, if not nil, is told how many bytes of a snapshot are written.
	SnapshotProgress func(done, total int64)
	// Patience is how long a store may say nothing before it is left alone; 0 is ten minutes.
	Patience time.Duration
	// Now is the clock.
	Now func() time.Time
}

// A Failure is something that the pass could not read. It went on.
type Failure struct{ Path, Reason string }

func (f Failure) String() string {
	if strings.HasPrefix(f.Reason, f.Path) {
		return f.Reason
	}
	return f.Path + ": " + f.Reason
}

// A Result is what a pass did.
type Result struct {
	// Busy means that another process holds the lock: nothing was done.
	Busy bool
	// Excluded means that the named transcript lies in an excluded project.
	Excluded bool
	// Failures are transcripts and companions that could not be taken in.
	Failures []Failure
	// Unreadable are places that discovery could not list.
	Unreadable []Failure
	// Unindexed are sessions that could not be derived again after the store
	// came from another build. Their rows stay as they were.
	Unindexed []Failure
	// Undrained are logged decisions that could not be stored.
	Undrained []Failure
	// Remarks are what was odd about transcripts that were taken in all the
	// same: damaged lines, a last line that is still to be completed.
	Remarks []Failure
	// Notes are healthy remarks about the pass.
	Notes []string
	// NoSnapshot says why a snapshot that was due is not there, or not all of what
	// goes with it was done. "" is that all is well.
	NoSnapshot string

	FilesSeen, FilesCommitted, FilesFailed int64
	BytesRead, TurnsAdded                  int64
}

// LockName is the lock's file name inside the data directory.
const LockName = "LOCK"

const (
	// quietAfter is how long a transcript must have been still before its
	// session's end is compressed: long enough that a person who comes back
	// from lunch still appends small rows.
	quietAfter = time.Hour
	// checkEvery is how often the whole archived prefix of a growing transcript
	// is compared, beside the comparison of its end on every append.
	checkEvery = 24 * time.Hour
	// txBytes and txBytesBackfill end a transaction: small enough that a reader
	// is never far behind, large enough that the index gets long segments.
	txBytes         = 8 << 20
	txBytesBackfill = 32 << 20
	// rowLimit ends one as well, in bytes of derived rows: a transcript may be
	// nothing but text.
	rowLimit = 8 << 20
	// freeReserve is what must stay free beside the estimate of a pass: room
	// for the WAL and for the machine.
	freeReserve = 64 << 20
	// storeShare is the store's size as a share of what it takes in, rounded
	// up: bytes, index and all come to about 0.31.
	storeSharePercent = 40
)

// MemoryLimit is what a process that makes a pass should give the Go runtime
// as its soft limit. With the page cache of the database, which lies outside,
// a pass then stays below 192 MiB whatever it takes in; a lower one costs CPU.
const MemoryLimit = 96 << 20

// ErrNoSpace means that the disk has no room for what a pass would take in.
var ErrNoSpace = errors.New("not enough free space")

// Run makes one pass. The error is that of the pass as a whole: the store, the
// lock, the disk, ErrMoved, a named transcript that cannot be read. What single
// transcripts cost is in the result.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.Harnesses == nil {
		o.Harnesses = registry.All()
	}
	p := &pass{o: o, started: o.Now()}
	if o.Path != "" {
		excluded, err := p.resolve(ctx)
		if err != nil || excluded {
			return Result{Excluded: excluded}, err
		}
	}
	lock, held, err := p.lock()
	if err != nil || held {
		return Result{Busy: held}, err
	}
	defer func() { _ = lock.Unlock() }()
	clearProgress(o.Config.DataDir) // of a killed pass
	defer clearProgress(o.Config.DataDir)
	sweep(o.Config.DataDir)
	res, err := p.run(ctx)
	_ = lock.Unlock() // a snapshot keeps no other pass waiting
	if err == nil {
		p.snapshot(ctx, &res)
	}
	if len(p.named) > 0 && err == nil {
		for i, f := range res.Failures {
			if f.Path == p.named[0].t.Path {
				res.Failures = append(res.Failures[:i], res.Failures[i+1:]...)
				return res, errors.New(f.String())
			}
		}
	}
	return res, err
}

// sweep removes the temporary files that a killed pass left behind.
func sweep(dataDir string) {
	entries, err := os.ReadDir(dataDir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if stale, _ := filepath.Match(fsx.TempPattern, e.Name()); stale {
			_ = os.Remove(filepath.Join(dataDir, e.Name()))
		}
	}
}

// A pass is one run over everything, or over one named transcript.
type pass struct {
	o       Options
	started time.Time
	named   []found // what the caller named
	// choose, if not nil, makes the jobs in place of discovery.
	choose func(context.Context) error
	jobs   []job
	res    Result
	prog   Progress

	snapshotDue bool

	db     *store.DB // the writer's
	reader *store.DB
}

func (p *pass) run(ctx context.Context) (Result, error) {
	db, err := store.OpenWriter(ctx, p.o.Config.DataDir)
	if err != nil {
		return p.res, err
	}
	defer db.Close()
	p.db = db
	reader, err := store.OpenReader(ctx, db.Path)
	if err != nil {
		return p.res, err
	}
	defer reader.Close()
	p.reader = reader

	fatal := p.catchUp(ctx)
	if fatal == nil {
		fatal = p.drain(ctx)
	}
	if fatal == nil && p.choose != nil {
		fatal = p.choose(ctx)
	} else if fatal == nil {
		fatal = p.plan(ctx)
	}
	if fatal == nil {
		fatal = p.room()
	}
	if fatal == nil {
		fatal = p.pipeline(ctx)
	}
	_ = reader.Close() // a last checkpoint must not meet our own reader
	if fatal == nil {
		fatal = p.conclude(ctx)
	}
	if fatal == nil {
		fatal = p.planSnapshot(ctx)
	}
	if err := p.finish(ctx, fatal); fatal == nil {
		fatal = err
	}
	return p.res, fatal
}

// room refuses a pass for which the disk has no room, before it begins. A
// single transcript that would not fit by itself, a sparse file perhaps, is a
// failure of its own and keeps nothing else from being archived.
func (p *pass) room() error {
	if p.prog.BytesTotal == 0 {
		return nil
	}
	free, err := fsx.FreeSpace(p.o.Config.DataDir)
	if err != nil {
		return nil // what cannot be measured is found out by writing
	}
	need := func(bytes int64) uint64 { return uint64(bytes)/100*storeSharePercent + freeReserve }
	var kept []job
	for _, j := range p.jobs {
		if need(j.bytes) > free && len(p.jobs) > 1 {
			p.res.Failures = append(p.res.Failures, Failure{j.t.Path, fmt.Sprintf("%v: it may need %d MB, %d MB are free",
				ErrNoSpace, need(j.bytes)>>20, free>>20)})
			p.prog.BytesTotal -= j.bytes
			p.prog.FilesTotal--
			continue
		}
		kept = append(kept, j)
	}
	p.jobs = kept
	if n := need(p.prog.BytesTotal); n > free {
		return fmt.Errorf("%w in %s: %d MB are free, this pass may need %d MB", ErrNoSpace, p.o.Config.DataDir, free>>20, n>>20)
	}
	return nil
}

// finish writes the log row of the pass and brings the WAL home.
func (p *pass) finish(ctx context.Context, fatal error) error {
	interrupted := ctx.Err() != nil
	if interrupted {
		ctx = context.WithoutCancel(ctx) // the log row of a cancelled pass is still written
	}
	p.res.FilesFailed = int64(len(p.res.Failures))
	if p.o.Path != "" && p.res.FilesCommitted == 0 && fatal == nil && len(p.res.Failures)+len(p.res.Unindexed) == 0 {
		return nil // a named transcript that was up to date leaves no trace
	}
	var lines []string
	for _, f := range p.res.Failures {
		lines = append(lines, f.String())
	}
	for _, f := range slices.Concat(p.res.Unreadable, p.res.Unindexed, p.res.Undrained) {
		lines = append(lines, f.String())
	}
	switch {
	case interrupted:
		lines = append(lines, "interrupted")
	case fatal != nil:
		lines = append(lines, fatal.Error())
	}
	end := p.o.Now()
	w, err := p.db.Writer(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.Begin(ctx); err != nil {
		return err
	}
	err = archive.SaveRun(ctx, w, archive.Run{
		StartedAt: archive.Stamp(p.started), FinishedAt: archive.Stamp(end), DurationMS: end.Sub(p.started).Milliseconds(),
		FilesSeen: p.res.FilesSeen, FilesCommitted: p.res.FilesCommitted, FilesFailed: p.res.FilesFailed,
		BytesRead: p.res.BytesRead, TurnsAdded: p.res.TurnsAdded,
		Error: strings.Join(lines, "\n"), Notes: strings.Join(p.notes(), "\n"),
	})
	if err == nil {
		err = w.Commit(ctx)
	}
	if err != nil {
		return err
	}
	return w.Checkpoint(ctx)
}

// notes are the lines of the log row that say nothing bad of the pass.
func (p *pass) notes() []string {
	var lines []string
	for _, r := range p.res.Remarks {
		lines = append(lines, r.String())
	}
	lines = append(lines, p.res.Notes...)
	if p.res.NoSnapshot != "" {
		lines = append(lines, p.res.NoSnapshot)
	}
	return lines
}
