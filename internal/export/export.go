package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/search"
)

// Options say what is exported, and where to.
type Options struct {
	Reader *search.Reader
	// Dir is the destination, absolute: not there yet, or an empty directory. Its parent is
	// there.
	Dir string
	// DataDir may not hold the destination.
	DataDir string
	// Progress, if not nil, is called from time to time with bytes.
	Progress func(done, total int64)
}

// ErrOccupied means that the destination holds something.
var ErrOccupied = errors.New("it already holds something, and an export never writes over anything: name a directory that is empty or not there")

const (
	// stagePrefix begins the name of the directory, in the destination, in which an export
	// grows. A killed one leaves it behind.
	stagePrefix = ".unfinished-export-"
	// freeReserve is what must stay free on the destination's disk.
	freeReserve = 64 << 20
	// copyBuffer is a block of the archive.
	copyBuffer = 1 << 20
)

// Write exports every session that may be seen. The Manifest is what was written; reason says
// why there is nothing to export, "" where there is, and without a store nothing is written.
func Write(ctx context.Context, o Options) (m Manifest, reason string, err error) {
	list, m, reason, err := look(ctx, o)
	if err != nil || reason != "" && m.ArchiveFormat == 0 {
		return Manifest{}, reason, err
	}
	created, err := claim(o)
	if err != nil {
		return Manifest{}, "", fmt.Errorf("export to %s: %w", o.Dir, err)
	}
	w := &writer{o: o, m: m, created: created}
	for i := range list {
		w.total += list[i].Bytes
	}
	if err := w.write(ctx, list); err != nil {
		w.undo()
		return Manifest{}, "", err
	}
	return w.m, reason, nil
}

// look lists what there is to export. Without a store m has no archive format.
func look(ctx context.Context, o Options) (list []search.Whole, m Manifest, reason string, err error) {
	snap, err := o.Reader.Snapshot(ctx)
	if err != nil {
		return nil, m, "", err
	}
	defer snap.Close()
	if reason = snap.NoStore(); reason != "" {
		return nil, m, reason, nil
	}
	if m.ArchiveFormat, err = snap.ArchiveFormat(ctx); err != nil {
		return nil, m, "", err
	}
	m.Notice = Notice
	view, err := snap.View(ctx, search.Scope{Project: search.AllProjects})
	if err != nil {
		return nil, m, "", err
	}
	list, err = snap.Wholes(ctx, view)
	return list, m, view.Reason, err
}

// claim makes the destination, or finds it empty.
func claim(o Options) (created bool, err error) {
	if below, err := filepath.Rel(o.DataDir, o.Dir); err == nil && filepath.IsLocal(below) {
		return false, fmt.Errorf("it lies in the data directory %s, which an export is to outlive", o.DataDir)
	}
	entries, err := os.ReadDir(o.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.Mkdir(o.Dir, fsx.OwnerDir); err != nil {
			return false, err
		}
		return true, nil
	case err != nil:
		if info, e := os.Stat(o.Dir); e == nil && !info.IsDir() {
			return false, ErrOccupied
		}
		return false, err
	}
	for _, e := range entries {
		if ok, _ := filepath.Match(stagePrefix+"*", e.Name()); ok {
			return false, fmt.Errorf("it holds an export that was not finished: remove %s and run it again", filepath.Join(o.Dir, e.Name()))
		}
	}
	if len(entries) > 0 {
		return false, ErrOccupied
	}
	return false, nil
}

// A writer writes one export.
type writer struct {
	o           Options
	m           Manifest
	created     bool // the destination was not there
	stage       string
	moved       []string
	done, total int64
}

func (w *writer) write(ctx context.Context, list []search.Whole) error {
	if free, err := fsx.FreeSpace(w.o.Dir); err == nil && uint64(w.total)+freeReserve > free {
		return fmt.Errorf("export to %s: not enough free space: %d MB are free, %d MB are needed",
			w.o.Dir, free>>20, (uint64(w.total)+freeReserve)>>20)
	}
	var err error
	if w.stage, err = os.MkdirTemp(w.o.Dir, stagePrefix+"*"); err != nil {
		return err
	}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.session(ctx, list[i]); err != nil {
			return err
		}
	}
	w.sum()
	text, err := w.m.encode()
	if err != nil {
		return err
	}
	if err := w.publish(); err != nil {
		return err
	}
	// Whoever finds the manifest finds all that it names.
	return fsx.WriteAtomic(filepath.Join(w.o.Dir, ManifestName), text, fsx.OwnerFile)
}

// session writes the file of one session, and its entry.
func (w *writer) session(ctx context.Context, listed search.Whole) error {
	name := FileName(listed.Key)
	path := filepath.Join(w.stage, name)
	f, err := fsx.CreateOwner(path)
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(counter{f, w}, copyBuffer)
	h, ok, err := w.o.Reader.CopyWhole(ctx, listed.No, buf)
	if err == nil {
		err = buf.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	var damage *archive.DamageError
	if errors.As(err, &damage) {
		return fmt.Errorf("session %s is damaged, and nothing was exported (see terminus verify): %s", listed.Key, damage.Detail)
	}
	if err != nil {
		return err
	}
	if !ok || h.Key != listed.Key { // deleted or renamed since it was listed
		return os.Remove(path)
	}
	w.m.Files = append(w.m.Files, File{
		Bytes: h.Bytes, Evicted: h.Evicted, File: name, FirstTurnAt: h.FirstTurnAt, LastTurnAt: h.LastTurnAt,
		Project: h.Project, SessionID: h.SessionID, SessionKey: h.Key, Turns: h.Turns,
	})
	return nil
}

// A counter writes to a file and reports how far the export is.
type counter struct {
	f *os.File
	w *writer
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.f.Write(p)
	c.w.done += int64(n)
	if c.w.o.Progress != nil {
		c.w.o.Progress(c.w.done, c.w.total)
	}
	return n, err
}

// sum adds the entries up.
func (w *writer) sum() {
	m := &w.m
	for _, f := range m.Files {
		m.Sessions++
		m.Bytes += f.Bytes
		m.Turns += f.Turns
		if f.Evicted {
			m.Evicted++
		}
		if f.Project != nil {
			m.Projects = append(m.Projects, *f.Project)
		}
		if f.FirstTurnAt != nil && (m.FirstTurnAt == nil || *f.FirstTurnAt < *m.FirstTurnAt) {
			m.FirstTurnAt = f.FirstTurnAt
		}
		if f.LastTurnAt != nil && (m.LastTurnAt == nil || *f.LastTurnAt > *m.LastTurnAt) {
			m.LastTurnAt = f.LastTurnAt
		}
	}
	slices.Sort(m.Projects)
	m.Projects = slices.Compact(m.Projects)
}

// publish moves the files to where they belong. The destination was empty: whatever came to
// stand in it meanwhile is somebody's, and is not written over.
func (w *writer) publish() error {
	for _, f := range w.m.Files {
		to := filepath.Join(w.o.Dir, f.File)
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("export to %s: %s came to be there meanwhile", w.o.Dir, f.File)
		}
		if err := os.Rename(filepath.Join(w.stage, f.File), to); err != nil {
			return err
		}
		w.moved = append(w.moved, to)
	}
	if err := os.Remove(w.stage); err != nil {
		return err
	}
	return fsx.SyncDir(w.o.Dir)
}

// undo removes what was written.
func (w *writer) undo() {
	for _, path := range w.moved {
		_ = os.Remove(path)
	}
	if w.stage != "" {
		_ = os.RemoveAll(w.stage)
	}
	if w.created {
		_ = os.Remove(w.o.Dir) // only if empty
	}
}
