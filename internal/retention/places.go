package retention

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/harness"
)

// places tell whether files were deleted, or only cannot be seen. A directory is
// asked once.
type places struct {
	lookup Lookup
	stand  map[string]bool // by root
	kept   int
}

func newPlaces(lookup Lookup) *places { return &places{lookup: lookup, stand: map[string]bool{}} }

// gone reports whether every source of a session is a file that was deleted: it
// is not there, and the directory that holds its agent's sessions is, with
// something in it. A disk that is not mounted leaves no directory or an empty one.
// What cannot be looked at is there, and so are records of a database, which no
// path tells of.
func (p *places) gone(harnessID string, sources []archive.Source) bool {
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
		if root := rooter.RootAt(s.Path); root == "" || !p.stands(root) {
			p.kept++
			return false
		}
	}
	return true
}

// stands reports whether a directory is there and holds something.
func (p *places) stands(dir string) bool {
	known, ok := p.stand[dir]
	if !ok {
		if f, err := os.Open(dir); err == nil {
			names, _ := f.Readdirnames(1)
			known = len(names) > 0
			_ = f.Close()
		}
		p.stand[dir] = known
	}
	return known
}

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
