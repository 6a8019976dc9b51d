// Package relocate owns the move of the data directory: it copies it, proves the
// copy, names it in the pointer file, and removes what was copied.
//
// It promises that an archive is never lost, whenever the move is ended. Until the
// pointer names the copy, the source is the archive, and the next run clears the
// copy away and begins again. From then on the copy is, and the next run removes
// what is left of the source. Which of the two it is stands in a file in the copy
// (the marker), and the source is removed only while its database is still what was
// copied.
//
// Nothing is promised where somebody else writes into either directory without the
// ingest lock, but for the small files of hooks: those that appear in the source
// while it is copied are taken along.
package relocate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
)

// Options say what is to be moved where.
type Options struct {
	// Dirs are the directories in force; Dirs.Data is what is moved.
	Dirs config.Directories
	// To is the new place, absolute.
	To string
	// Home is the user's home directory, or "".
	Home string
	// Progress, if not nil, is told how many bytes of the copy are done.
	Progress func(done, total int64)

	// at is told that a point has been reached; tests end the process there.
	at func(point)
}

// A point is a moment at which a move that ends there leaves something else behind.
type point string

const (
	marked   point = "marked"   // the copy exists, and holds its marker
	copying  point = "copying"  // a file has been copied
	copied   point = "copied"   // the copy is whole, and says so
	switched point = "switched" // the pointer names the copy
	removing point = "removing" // something of the source has been removed
	removed  point = "removed"  // nothing of the source is left
)

func (o *Options) reached(p point) {
	if o.at != nil {
		o.at(p)
	}
}

// A Plan is what a move would do. Look makes it, and Run carries it out.
type Plan struct {
	// From and To are the two places.
	From, To string
	// Files and Bytes are what is to be copied, the database's own files included.
	Files int
	Bytes int64
	// Finish says that an earlier run has copied everything already, and that From
	// only has to be removed.
	Finish bool
	// Again says that To holds what an earlier run copied before it was ended:
	// it is cleared away first.
	Again bool
	// Leftover is a directory that an even earlier move to From did not come to
	// remove; it is removed as well. "" if there is none.
	Leftover string

	o       Options
	pointer string // what the pointer file is to hold
}

// PointerFile is the file that will name the new place.
func (p *Plan) PointerFile() string { return filepath.Join(p.o.Dirs.Config, config.PointerName) }

// Look decides what a move would do, or why it is refused. It changes nothing.
func Look(o Options) (*Plan, error) {
	p := &Plan{From: o.Dirs.Data, To: filepath.Clean(o.To), o: o}
	if o.Dirs.Config == "" {
		return nil, errors.New("there is no configuration directory, and so no place to write down where the data directory is")
	}
	var err error
	if p.pointer, err = config.Pointer(p.To); err != nil {
		return nil, err
	}
	if err := p.lookForEarlier(); err != nil || p.Finish {
		return p, err
	}
	if err := p.refuse(); err != nil {
		return nil, err
	}
	if err := p.measure(); err != nil {
		return nil, err
	}
	free, err := fsx.FreeSpace(p.To)
	if err == nil && free < uint64(p.Bytes) && !p.Again {
		return nil, fmt.Errorf("%s has room for %d bytes, and %d are to be moved", p.To, free, p.Bytes)
	}
	return p, nil
}

// lookForEarlier finds out whether an earlier move has left something to finish.
func (p *Plan) lookForEarlier() error {
	m, found, err := readMarker(p.From)
	if err != nil || !found {
		return err
	}
	if !m.whole {
		return fmt.Errorf("%s is a copy that was never finished; the archive is %s", p.From, m.source)
	}
	if same(p.From, p.To) {
		p.From, p.Finish = m.source, true
		return nil
	}
	p.Leftover = m.source
	return nil
}

// refuse is every reason not to move that can be seen beforehand.
func (p *Plan) refuse() error {
	info, err := os.Stat(p.From)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("look at the data directory: %w", err)
	case !info.IsDir():
		return fmt.Errorf("the data directory %s is not a directory", p.From)
	}
	from, to, conf := canonical(p.From), canonical(p.To), canonical(p.o.Dirs.Config)
	switch {
	case same(p.From, p.To):
		return fmt.Errorf("the data directory is at %s already", p.To)
	case covers(from, to):
		return fmt.Errorf("%s lies inside the data directory %s", p.To, p.From)
	case p.o.Home != "" && covers(from, canonical(p.o.Home)):
		return fmt.Errorf("the data directory %s holds the home directory: it cannot be moved", p.From)
	case covers(from, conf):
		return fmt.Errorf("the configuration directory %s lies inside the data directory: it cannot be moved", p.o.Dirs.Config)
	case covers(to, conf):
		return fmt.Errorf("%s holds the configuration directory %s", p.To, p.o.Dirs.Config)
	}
	return p.refuseTarget()
}

// refuseTarget lets through what does not exist, an empty directory, and what is
// left of a move from the same place that was ended before the pointer named it.
func (p *Plan) refuseTarget() error {
	entries, err := os.ReadDir(p.To)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(p.To); err == nil {
			return fmt.Errorf("%s is a link that leads nowhere", p.To)
		}
		return nil
	}
	if info, statErr := os.Stat(p.To); statErr == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a directory", p.To)
	}
	if err != nil || len(entries) == 0 {
		return err
	}
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !unfinishedMarker(e.Name()) }) {
		p.Again = true
		return nil
	}
	m, found, err := readMarker(p.To)
	if err != nil || !found || !same(m.source, p.From) {
		return fmt.Errorf("%s is not empty", p.To)
	}
	named, err := config.ReadPointer(p.PointerFile())
	if err != nil {
		return err
	}
	if named != "" && same(named, p.To) {
		return fmt.Errorf("%s is the archive that %s names, and %s names %s: unset it to go on with that move",
			p.To, p.PointerFile(), p.o.Dirs.Variable, p.From)
	}
	if changed := m.changedCopy(p.To); changed != "" {
		return fmt.Errorf("%s is an unfinished copy of the data directory, but %s was written to since", p.To, changed)
	}
	p.Again = true
	return nil
}

// measure counts what is to be copied, and refuses what cannot be.
func (p *Plan) measure() error {
	return walk(p.From, func(e entry) error {
		if e.mode.IsDir() {
			return nil
		}
		if !e.mode.IsRegular() {
			return fmt.Errorf("%s is neither a file nor a directory: move it away first", filepath.Join(p.From, e.name))
		}
		p.Files++
		p.Bytes += e.stat.Size
		return nil
	})
}

// same reports whether two paths are one place, existing or not.
func same(a, b string) bool {
	ai, aErr := os.Stat(a)
	bi, bErr := os.Stat(b)
	if aErr == nil && bErr == nil {
		return os.SameFile(ai, bi)
	}
	a, b = canonical(a), canonical(b)
	return covers(a, b) && covers(b, a)
}

func covers(ancestor, path string) bool {
	_, ok := config.Covers(ancestor, path)
	return ok
}

// canonical is path with the links of the part that exists resolved.
func canonical(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
