package ingest

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/claude"
)

// resolve finds what the caller named, before the lock and the store are touched: the
// sessions that another agent keeps in a file below one of its directories, else the
// transcript of Claude Code that the file is, wherever it stands.
func (p *pass) resolve(ctx context.Context) (excluded bool, err error) {
	path := p.o.Path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	for _, h := range p.o.Harnesses {
		if h.ID() == (claude.Harness{}).ID() || !p.below(Roots(p.o.Config, h), path) {
			continue
		}
		d := p.askOne(ctx, h)
		for _, f := range d.found {
			if f.t.Path == path {
				p.named = append(p.named, f)
			}
		}
		for _, err := range d.problems {
			if pr := (*harness.Problem)(nil); errors.As(err, &pr) && pr.Path == path {
				return false, err
			}
		}
		switch {
		case len(p.named) > 0:
			return p.o.Config.Exclude.Everything(), nil
		case p.leftOut(ctx, h, path):
			return true, nil
		case !p.below(p.o.Config.ClaudeRoots, path):
			return false, &harness.Problem{Path: p.o.Path, Err: errors.New("it is no transcript of " + h.Name() + ", below whose directory it stands")}
		}
	}
	t, err := claude.ForFile(p.o.Path)
	if err != nil {
		return false, err
	}
	if namedExcluded(t.Path, p.o.Config) {
		return true, nil
	}
	p.named = []found{{claude.Harness{}, t}}
	return false, nil
}

// leftOut reports whether a harness does not find what a file holds because it is excluded.
func (p *pass) leftOut(ctx context.Context, h harness.Harness, path string) bool {
	e := p.env(h)
	if !e.Excluding {
		return false
	}
	e.FolderExcluded, e.PathExcluded, e.Excluding = func(string) bool { return false }, func(string) bool { return false }, false
	for _, f := range p.discoverIn(ctx, h, e).found {
		if f.t.Path == path {
			return true
		}
	}
	return false
}

func (p *pass) below(roots []string, path string) bool {
	for _, root := range roots {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real
		}
		if _, ok := config.Covers(root, path); ok {
			return true
		}
	}
	return false
}

// namedExcluded reports whether a transcript that was named by hand lies in an
// excluded project. Below a configured root only the project folder's name
// counts; elsewhere any folder above it may be one.
func namedExcluded(path string, c *config.Config) bool {
	if c.Exclude.Everything() || c.Exclude.Covers(path) {
		return true
	}
	for _, root := range c.ClaudeRoots {
		tree, err := filepath.EvalSymlinks(filepath.Join(root, "projects"))
		if err != nil {
			continue
		}
		if below, err := filepath.Rel(tree, path); err == nil && filepath.IsLocal(below) {
			folder, _, _ := strings.Cut(filepath.ToSlash(below), "/")
			return c.Exclude.Folder(folder)
		}
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if c.Exclude.Folder(filepath.Base(dir)) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
