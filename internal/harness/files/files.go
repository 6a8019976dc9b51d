// Package files owns how a harness looks for files: below a root, by name, without being
// held up by pipes, led in circles by links, or taking what cannot be read for empty.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
)

// A File is a regular file below a root.
type File struct {
	// Path is the canonical path: links are resolved.
	Path string
	// Rel is its slash-separated place below the root.
	Rel  string
	Stat fsx.Stat
}

// A Walk says what is looked for.
type Walk struct {
	// Depth is how many directories below the root are entered; 0 is the root alone.
	Depth int
	// Enter, if not nil, reports whether a directory is entered, by its place below the root.
	Enter func(rel string) bool
	// Match reports whether a file is wanted, by its place below the root.
	Match func(rel string) bool
}

// Each calls visit for every wanted file below root, in the order of their paths compared
// element by element, until it returns false. A root that is not there is empty. Any other
// place that cannot be read is visited as a *harness.Problem, and the walk goes on.
//
// Only directories that are no links are entered, below a root that may be one. A wanted file
// that is a link is its target, if that is a regular file. What has a wanted name and is no
// regular file is a Problem that is fsx.ErrNotRegular. What vanishes between two looks is
// left out. Each reports whether the walk came to its end.
func (w Walk) Each(ctx context.Context, root string, visit func(File, error) bool) bool {
	info, err := os.Stat(root) // one call where nothing is there, as for most agents
	real := ""
	if err == nil {
		real, err = filepath.EvalSymlinks(root)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true
	case err != nil:
		return visit(File{}, &harness.Problem{Path: root, Err: cause(err)})
	case !info.IsDir():
		return visit(File{}, &harness.Problem{Path: root, Err: errNoDirectory})
	}
	return w.dir(ctx, real, "", w.Depth, visit)
}

var errNoDirectory = errors.New("it is not a directory")

func (w Walk) dir(ctx context.Context, dir, rel string, depth int, visit func(File, error) bool) bool {
	if err := ctx.Err(); err != nil {
		visit(File{}, err)
		return false
	}
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if !visit(File{}, &harness.Problem{Path: dir, Err: cause(err)}) {
			return false
		}
	}
	for _, e := range entries {
		at, below := filepath.Join(dir, e.Name()), join(rel, e.Name())
		switch {
		case e.IsDir():
			if depth > 0 && (w.Enter == nil || w.Enter(below)) && !w.dir(ctx, at, below, depth-1, visit) {
				return false
			}
		case w.Match(below):
			if !w.file(at, below, e, visit) {
				return false
			}
		}
	}
	return true
}

func join(rel, name string) string {
	if rel == "" {
		return name
	}
	return rel + "/" + name
}

// file visits one file. The directory is canonical, so whatever is no link in it is too: resolving
// its path again would ask for each of the directories above it, for each file of a store.
func (w Walk) file(path, rel string, e fs.DirEntry, visit func(File, error) bool) bool {
	var f File
	info, err := os.Lstat(path)
	if err == nil && e.Type().IsRegular() && info.Mode().IsRegular() {
		f = File{Path: path, Stat: fsx.StatOf(info)}
	} else {
		f, err = At(path)
	}
	f.Rel = rel
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return visit(f, err)
}

// At is the regular file at a path, through links. The error is a *harness.Problem, which wraps
// fs.ErrNotExist where there is no file, and fsx.ErrNotRegular where there is something else.
func At(path string) (File, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return File{}, &harness.Problem{Path: path, Err: cause(err)}
	}
	info, err := os.Lstat(real)
	if err == nil && !info.Mode().IsRegular() {
		err = fsx.ErrNotRegular
	}
	if err != nil {
		return File{}, &harness.Problem{Path: path, Err: cause(err)}
	}
	return File{Path: real, Rel: filepath.Base(path), Stat: fsx.StatOf(info)}, nil
}

// cause is err without the path that the problem names anyway.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Suffix is a Match for names that end so.
func Suffix(suffixes ...string) func(rel string) bool {
	return func(rel string) bool {
		for _, s := range suffixes {
			if strings.HasSuffix(rel, s) {
				return true
			}
		}
		return false
	}
}

// Base is the last element of a slash-separated path, without a suffix that it may have.
func Base(rel, suffix string) string {
	return strings.TrimSuffix(rel[strings.LastIndexByte(rel, '/')+1:], suffix)
}

// Dir is what stands before the last element of a slash-separated path, "" for a lone element.
func Dir(rel string) string {
	i := strings.LastIndexByte(rel, '/')
	if i < 0 {
		return ""
	}
	return rel[:i]
}

// Read reads a file of at most limit bytes whole.
func Read(path string, limit int64) ([]byte, error) {
	f, stat, err := fsx.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if stat.Size > limit {
		return nil, &harness.Problem{Path: path, Err: errors.New("it is too large to be read as one document")}
	}
	data := make([]byte, stat.Size)
	n, err := f.ReadAt(data, 0)
	if int64(n) < stat.Size && err != nil {
		return nil, &harness.Problem{Path: path, Err: errors.New("it was cut while it was read")}
	}
	return data, nil
}

// Part reads what a file holds from one offset to another, at most limit bytes, as far as it goes.
func Part(path string, from, to, limit int64) ([]byte, error) {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if from < 0 || to < from || to-from > limit {
		return nil, &harness.Problem{Path: path, Err: fmt.Errorf("the part of it from byte %d to byte %d cannot be read as one", from, to)}
	}
	return io.ReadAll(io.NewSectionReader(f, from, to-from))
}
