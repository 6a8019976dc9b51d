package retention

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/harness"
)

// places tell whether files were deleted, or only cannot be seen. A directory is
// asked once.
type places struct {
	lookup Lookup
	stand  map[string]bool // by directory
	kept   int
}

func newPlaces(lookup Lookup) *places { return &places{lookup: lookup, stand: map[string]bool{}} }

// gone reports whether every source of a session is a file that was deleted: it
// is not there, and what holds its agent's sessions is. A disk that is not mounted
// leaves no directory, an empty one, or a link that leads nowhere. What cannot be
// looked at is there, and so are records of a database, which no path tells of. An
// export says nothing of where the session itself was.
func (p *places) gone(harnessID string, all []archive.Source) bool {
	var sources []archive.Source
	for _, s := range all {
		if !strings.HasPrefix(s.Path, archive.ImportedSource) {
			sources = append(sources, s)
		}
	}
	if len(sources) == 0 {
		return false // nothing is known of where it was
	}
	h, _ := p.lookup(harnessID)
	rooter, ok := h.(harness.Rooter)
	if !ok {
		return false
	}
	for _, s := range sources {
		if s.Rows {
			return false
		}
		if _, err := os.Lstat(s.Path); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	for _, s := range sources {
		if !p.stands(rooter.RootAt(s.Path), s.Path) {
			p.kept++
			return false
		}
	}
	return true
}

// stands reports whether what holds a file is there: the root, with a directory in it, and
// the link below it that may lead to the file. A file without a root stands by its own
// directory, which must hold something.
func (p *places) stands(root, path string) bool {
	if root == "" {
		return p.asked(filepath.Dir(path), func(dir string) bool { return holds(dir, func(fs.DirEntry) bool { return true }) })
	}
	if !p.asked(root, func(dir string) bool { return holds(dir, fs.DirEntry.IsDir) }) {
		return false
	}
	below, err := filepath.Rel(root, path)
	if err != nil {
		return true
	}
	folder, _, _ := strings.Cut(filepath.ToSlash(below), "/")
	return p.asked(filepath.Join(root, folder), func(dir string) bool {
		info, err := os.Lstat(dir)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return true // deleted with its files, or there
		}
		_, err = os.Stat(dir)
		return err == nil
	})
}

func (p *places) asked(dir string, ask func(dir string) bool) bool {
	known, ok := p.stand[dir]
	if !ok {
		known = ask(dir)
		p.stand[dir] = known
	}
	return known
}

// holds reports whether a directory can be read and one of its entries is wanted.
func holds(dir string, wanted func(fs.DirEntry) bool) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(entriesAtOnce)
		if slices.ContainsFunc(entries, wanted) {
			return true
		}
		if err != nil || len(entries) == 0 {
			return false
		}
	}
}

// entriesAtOnce bounds how much of a directory is read before it is known to hold something.
const entriesAtOnce = 64

// missing lists the directories that do not stand.
func (p *places) missing() []string {
	var out []string
	for dir, stands := range p.stand {
		if !stands {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}
