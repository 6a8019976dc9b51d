// Package project finds the project that a session belongs to: the repository
// that holds its working directory, or the directory itself.
//
// It looks at the file system and at nothing else: git is not started, no
// environment is read, and what stands in a `.git` file is taken for a hint of
// a stranger. Nothing here fails: whatever cannot be followed leaves the
// working directory, or the directory that holds the `.git`, as the project.
package project

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Resolver maps working directories to projects. It remembers every answer, so
// one belongs to one pass: what changes on disk meanwhile is not seen. The zero
// value is ready, and may be used by several goroutines.
type Resolver struct {
	mu    sync.Mutex
	known map[string]answer
}

type answer struct{ project, preWorktree string }

// Resolve returns the project of a working directory as a session recorded it,
// and, where the directory lay in a git worktree and was folded onto the main
// repository, the directory before that, normalised. No working directory has
// no project: "" gives "".
//
// The directory is normalised lexically: `.`, `..`, doubled and closing
// separators go. A path of another system's style stays as it is. Then, in
// this order:
//
//  1. `<repo>/.claude/worktrees/<name>` and all below it become `<repo>`, the
//     last such place in the path counting, whether or not it exists.
//  2. A directory that exists is looked up: the nearest directory above it, or
//     itself, that holds a `.git` is the project. Links are resolved for the
//     search, and the answer is spelled as recorded where the recorded path
//     leads through that directory.
//  3. Where that `.git` is a file of a linked worktree, the main repository is
//     the project: the directory that holds its `.git`, or a bare repository's
//     own directory.
//
// A directory that is gone, or lies in no repository, is its own project, as
// recorded: its links stay.
func (r *Resolver) Resolve(cwd string) (project, preWorktree string) {
	if cwd == "" {
		return "", ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.known[cwd]
	if !ok {
		a = resolve(cwd)
		if r.known == nil {
			r.known = map[string]answer{}
		}
		r.known[cwd] = a
	}
	return a.project, a.preWorktree
}

func resolve(cwd string) answer {
	recorded := normalize(cwd)
	dir, folded := aboveWorktree(recorded)
	project, linked := repository(dir)
	if folded || linked {
		return answer{project: project, preWorktree: recorded}
	}
	return answer{project: project}
}

// normalize cleans a path lexically in its own style. A path that is absolute
// in neither this system's style nor Unix's is left alone: cleaning it by our
// rules would break it.
func normalize(cwd string) string {
	switch {
	case filepath.IsAbs(cwd):
		return filepath.Clean(cwd)
	case cwd[0] == '/':
		return path.Clean(cwd)
	}
	return cwd
}

const (
	claudeName    = ".claude"
	worktreesName = "worktrees"
)

// aboveWorktree applies the path rule of Claude Code's own worktrees. It goes
// by the spelling alone, for the worktree is usually gone by the time the
// session is read.
func aboveWorktree(dir string) (repo string, folded bool) {
	isSep := separators(dir)
	for end := len(dir); ; {
		i := strings.LastIndex(dir[:end], claudeName)
		if i < 1 {
			return dir, false
		}
		end = i
		rest := dir[i+len(claudeName):]
		if !isSep(dir[i-1]) || rest == "" || !isSep(rest[0]) {
			continue
		}
		rest, ok := strings.CutPrefix(rest[1:], worktreesName)
		if !ok || len(rest) < 2 || !isSep(rest[0]) || isSep(rest[1]) {
			continue
		}
		repo = dir[:i-1]
		if repo == "" || strings.HasSuffix(repo, ":") {
			repo = dir[:i] // a root keeps its separator
		}
		return repo, true
	}
}

// separators returns the test for separators in a path's own style: both
// slashes after a drive letter or in a network path, the forward one otherwise.
func separators(p string) func(byte) bool {
	drive := len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
	if drive || strings.HasPrefix(p, `\\`) {
		return func(c byte) bool { return c == '\\' || c == '/' }
	}
	return func(c byte) bool { return c == '/' }
}

// repository returns the repository that an existing directory lies in, and
// whether it was found through a linked worktree; else the directory itself.
func repository(dir string) (repo string, linked bool) {
	if !filepath.IsAbs(dir) || !isDir(dir) {
		return dir, false
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return dir, false
	}
	holder, gitFile, ok := nearestGit(real)
	if !ok {
		return dir, false
	}
	if gitFile {
		if repo, ok := mainRepository(holder); ok {
			return repo, true
		}
	}
	if real == dir {
		return holder, false
	}
	return spelledIn(dir, holder), false
}

// nearestGit returns the nearest directory, from dir upward, that holds a
// `.git` directory or file, and whether it is a file.
func nearestGit(dir string) (holder string, file, ok bool) {
	for {
		if info, err := os.Stat(filepath.Join(dir, gitName)); err == nil {
			if info.IsDir() || info.Mode().IsRegular() {
				return dir, !info.IsDir(), true
			}
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", false, false
		}
		dir = above
	}
}

// spelledIn returns the directory of a path, the path itself included, that is
// the same as target, in the path's spelling; target itself if there is none.
func spelledIn(dir, target string) string {
	want, err := os.Stat(target)
	if err != nil {
		return target
	}
	for {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, want) {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return target
		}
		dir = above
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Places are the directories by which the configuration may mean a session that
// runs in dir: dir itself, where its links lead, its project, and what the
// project was before a worktree was folded. Each stands once.
func Places(dir string) []string {
	if dir == "" {
		return nil
	}
	var r Resolver
	all := []string{normalize(dir)}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		all = append(all, resolved)
	}
	for _, d := range slices.Clone(all) {
		project, preWorktree := r.Resolve(d)
		all = append(all, project, preWorktree)
	}
	var places []string
	for _, d := range all {
		if d != "" && !slices.Contains(places, d) {
			places = append(places, d)
		}
	}
	return places
}
