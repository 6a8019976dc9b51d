package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxEntries bounds what is read of an excluded directory to spare a sibling
// of it. Past it the sibling stays excluded.
const maxEntries = 4096

// Exclusions are the directories whose sessions are neither read nor shown.
// They apply to what was archived before, too. The nil value excludes nothing.
type Exclusions struct {
	paths      []string
	names      []folderName
	everything bool
}

// NewExclusions normalises entries with home and drops those that do not come
// out as absolute paths.
func NewExclusions(home string, entries []string) *Exclusions {
	x := &Exclusions{}
	for _, entry := range entries {
		path, ok := Normalize(home, entry)
		if !ok || slices.Contains(x.paths, path) {
			continue
		}
		x.paths = append(x.paths, path)
		x.names = append(x.names, newFolderName(path))
		x.everything = x.everything || path == separator
	}
	return x
}

// List returns the excluded paths, normalised, each once, in the order of the
// configuration. It is never nil.
func (x *Exclusions) List() []string {
	if x == nil {
		return []string{}
	}
	return append([]string{}, x.paths...)
}

// Everything reports whether the root itself is excluded.
func (x *Exclusions) Everything() bool { return x != nil && x.everything }

// Covers reports whether path is an excluded directory or below one.
func (x *Exclusions) Covers(path string) bool {
	if x == nil || path == "" {
		return false
	}
	if x.everything {
		return true
	}
	return slices.ContainsFunc(x.paths, func(excluded string) bool {
		_, ok := Covers(excluded, path)
		return ok
	})
}

// Hidden reports whether a read path must leave out a session that belongs to
// project, or belonged to preWorktree before its worktree was folded into
// project. Each may be ""; a session of no project is never hidden.
func (x *Exclusions) Hidden(project, preWorktree string) bool {
	return x.Covers(project) || x.Covers(preWorktree)
}

// Folder reports whether the sessions in a project folder of Claude Code are
// excluded, by the folder's name alone. The name is lossy, so a name that is
// an excluded one and more may be that of a directory below or of a sibling
// (`/a/b` and `-a-b-c`). It is spared only if the excluded directory is there,
// can be read to the end, and holds no directory that could have led to the
// name; whatever stays open is excluded. A sibling can so be spared too little,
// and a directory below that is gone by now can be spared: whoever reads the
// sessions asks Covers for their working directory as well.
func (x *Exclusions) Folder(name string) bool {
	if x == nil {
		return false
	}
	if x.everything {
		return true
	}
	for i, f := range x.names {
		switch f.compare(name, foldCase) {
		case matchSame:
			return true
		case matchBelow:
			if !spared(x.paths[i], f, name) {
				return true
			}
		}
	}
	return false
}

// spared reports whether nothing in the excluded directory dir could have led
// to name. One level is enough: any branch that agrees, even in part, leads
// either to the directory or to a place where one was.
func spared(dir string, f folderName, name string) bool {
	if f.cutShort(name, foldCase) {
		return false // whatever lies below dir agrees with name as well as dir
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	for read := 0; ; {
		entries, err := d.ReadDir(maxEntries + 1 - read)
		for _, entry := range entries {
			if !entry.IsDir() && entry.Type()&fs.ModeSymlink == 0 {
				continue
			}
			if newFolderName(filepath.Join(dir, entry.Name())).compare(name, foldCase) != matchNone {
				return false
			}
		}
		if read += len(entries); read > maxEntries {
			return false
		}
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return false
		}
	}
}
