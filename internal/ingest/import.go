package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/export"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/claude"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// ImportOptions say what an import takes in.
type ImportOptions struct {
	Config *config.Config
	// Dir is the export, absolute.
	Dir      string
	Progress func(Progress)
	Now      func() time.Time
	// Where is that of a pass.
	Where func() (string, error)
}

// An Imported is what an import did.
type Imported struct {
	Source   string    `json:"source"` // the export
	Sessions int       `json:"sessions"`
	Turns    int64     `json:"turns"`
	Bytes    int64     `json:"bytes"`
	Present  int       `json:"present"`  // sessions that the archive has already
	Evicted  int       `json:"evicted"`  // sessions that the export has no bytes of
	Excluded int       `json:"excluded"` // sessions of excluded projects
	Refused  []Refused `json:"refused"`
	// Notes are what was odd about sessions that were taken in.
	Notes []string `json:"notes"`
}

// A Refused is a session that was not taken in, because its file is not what the manifest
// says, or cannot be read.
type Refused struct {
	SessionKey string `json:"session_key"`
	File       string `json:"file"`
	Reason     string `json:"reason"`
}

// Import takes in the sessions of an export that the archive lacks, and creates the archive
// where there is none. Each file is read and checked before any of it is archived, and is
// archived as if it were the session's transcript, but under a source of its own
// (archive.ImportedSource): a transcript of the session that is found later is another copy of it.
//
// The error is that of the export's manifest, a *LockedError, ErrMoved, or that of the store.
func Import(ctx context.Context, o ImportOptions) (Imported, error) {
	done := Imported{Source: o.Dir}
	m, err := export.ReadManifest(o.Dir)
	if err != nil {
		return done, err
	}
	if m.ArchiveFormat > store.ArchiveFormat {
		return done, fmt.Errorf("the export has archive format %d, this build reads up to %d: install the newest terminus",
			m.ArchiveFormat, store.ArchiveFormat)
	}
	im := &importing{o: o, done: done, files: m.Files, entries: map[string]export.File{}}
	im.p = &pass{
		o:       Options{Config: o.Config, Backfill: true, Progress: o.Progress, Now: o.Now, Where: o.Where},
		started: o.Now(), choose: im.choose,
	}
	lock, held, err := im.p.lock()
	if err != nil {
		return done, err
	}
	if held {
		return done, &LockedError{filepath.Join(o.Config.DataDir, LockName)}
	}
	defer func() { _ = lock.Unlock() }()
	sweep(o.Config.DataDir)
	clearProgress(o.Config.DataDir)
	defer clearProgress(o.Config.DataDir)
	res, err := im.p.run(ctx)
	if err != nil {
		return im.done, err
	}
	im.settle(res)
	return im.done, nil
}

// An importing is one import under way.
type importing struct {
	o       ImportOptions
	p       *pass
	files   []export.File
	entries map[string]export.File // by path: those that are taken in
	done    Imported
}

// choose makes jobs of the sessions that are to be taken in.
func (im *importing) choose(ctx context.Context) error {
	for _, f := range im.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, there, err := archive.Load(ctx, im.p.reader, f.SessionKey)
		var damage *archive.DamageError
		switch {
		case errors.As(err, &damage):
			there = true // verify tells of it
		case err != nil:
			return store.Wrap("read", im.p.db.Path, err)
		}
		project := ""
		if f.Project != nil {
			project = *f.Project
		}
		switch {
		case there:
			im.done.Present++
		case im.o.Config.Exclude.Hidden(project, ""):
			im.done.Excluded++
		case f.Evicted:
			im.done.Evicted++
		default:
			if err := im.check(ctx, f); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				im.refuse(f, err)
			}
		}
	}
	im.p.res.FilesSeen = int64(len(im.files))
	return nil
}

func (im *importing) refuse(f export.File, err error) {
	im.done.Refused = append(im.done.Refused, Refused{f.SessionKey, f.File, reason(err, filepath.Join(im.o.Dir, f.File))})
}

// check compares a file with its entry in the manifest, and makes a job of it.
func (im *importing) check(ctx context.Context, f export.File) error {
	h, parent, err := owner(f.SessionKey)
	if err != nil {
		return err
	}
	path := filepath.Join(im.o.Dir, f.File)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("it is not a plain file") // nor a link: an export holds its own bytes
	}
	file, stat, err := fsx.OpenRegular(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if stat.Size == 0 {
		return errors.New("it is empty")
	}
	if stat.Size != f.Bytes {
		return fmt.Errorf("it has %d bytes, the manifest says %d", stat.Size, f.Bytes)
	}
	turns, cwd, err := contents(ctx, h, f.SessionKey, file)
	if err != nil {
		return err
	}
	dir := ""
	if cwd == "" && f.Project != nil {
		dir = *f.Project // it was told beside the records, which are all that an export has
	}
	if turns != f.Turns {
		im.done.Notes = append(im.done.Notes, fmt.Sprintf("%s: turns found: %d, in the manifest: %d", f.SessionKey, turns, f.Turns))
	}
	im.entries[path] = f
	im.p.keep(job{h: h, changed: true, exported: true, bytes: f.Bytes, t: harness.Transcript{
		Key: f.SessionKey, Source: archive.ImportedSource + path, Path: path, Kind: harness.Lines, Parent: parent, Dir: dir, Stat: stat,
	}}, true)
	return nil
}

// owner finds the harness that a session key belongs to, and the key of the session that it
// is a subagent of.
func owner(key string) (h harness.Harness, parent string, err error) {
	h, ok := registry.OfKey(key)
	if !ok {
		return nil, "", errors.New("it is of an agent that this build does not know")
	}
	if h.ID() != (claude.Harness{}).ID() {
		return h, "", nil
	}
	parent, ok = claude.ParentOf(key)
	if !ok {
		return nil, "", errors.New("its key is not that of a session")
	}
	return h, parent, nil
}

// contents reads a stream to its end: it counts its turns and finds the directory that its records
// name. One that does not end with a whole line was cut.
func contents(ctx context.Context, h harness.Harness, key string, r io.Reader) (turns int64, cwd string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading it failed: %v", p)
		}
	}()
	state := transcript.State{Key: key}
	lines := archive.NewLineReader(r, 0)
	defer lines.Release()
	ended := true
	for {
		l, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF) && !ended:
			return 0, "", errors.New("its last line is cut")
		case errors.Is(err, io.EOF):
			return turns, state.CWD, nil
		case err != nil:
			return 0, "", err
		case ctx.Err() != nil:
			return 0, "", ctx.Err()
		}
		if ended = l.End; l.Whole() {
			turns += int64(len(h.Turns(l.Bytes, &state)))
		}
	}
}

// settle counts what was taken in.
func (im *importing) settle(res Result) {
	for i := range im.p.jobs {
		j := &im.p.jobs[i]
		if j.committed {
			im.done.Sessions++
			delete(im.entries, j.t.Path)
		}
	}
	for _, f := range res.Failures {
		if e, ok := im.entries[f.Path]; ok {
			im.refuse(e, errors.New(f.Reason))
			delete(im.entries, f.Path)
		}
	}
	im.done.Excluded += len(im.entries) // only their records told
	im.done.Turns, im.done.Bytes = res.TurnsAdded, res.BytesRead
	for _, r := range res.Remarks {
		im.done.Notes = append(im.done.Notes, r.String())
	}
	im.done.Notes = append(im.done.Notes, res.Notes...)
}
