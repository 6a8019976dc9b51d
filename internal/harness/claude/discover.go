package claude

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
)

// Discover lists the transcripts below the `projects` directory of each root,
// root by root, each in the order of its paths compared element by element, so
// that a session's subagents stand before it. A file that can be reached in
// several ways is listed once, at the first.
//
// A transcript is known by its name alone: `<uuid>.jsonl` in a project folder,
// `agent-*.jsonl` there or at any depth below. Whatever is no regular file is
// told by its directory entry, so that a pipe is never opened: one that has a
// transcript's name is a *harness.Problem that is fsx.ErrNotRegular. Links:
//
//   - a linked project folder is entered once, if neither its name nor its
//     target is excluded; one that leads back into or above a root is not, for
//     what lies there is found in its own place;
//   - a linked transcript is its target, with the target's path and key; it is
//     left out if the target is excluded;
//   - no other link is followed.
//
// A missing root is empty. Any other failure is yielded as a *harness.Problem
// with the path at fault; what vanishes between two looks is left out. When ctx
// ends, its error is yielded last. Folders are read ahead on other goroutines;
// none outlives the iteration, and env's functions are called one at a time.
//
// Companions: every other regular file below `<folder>/<sessionId>/` belongs
// to the session `<sessionId>.jsonl`, named by its path below `<sessionId>/`.
// Where that transcript is gone, they go with the first transcript below
// `<sessionId>/`, named `<sessionId>/<path>`; where there is none, they are
// left out. An `agent-X.*` beside `agent-X.jsonl` belongs to that subagent,
// named by its last element: such a name has no slash, so the two never meet.
func (Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		w := newWalk(ctx, env)
		for _, r := range w.roots {
			if !w.root(r, yield) {
				return
			}
		}
	}
}

// ForFile describes the one transcript at an absolute path, whatever its name:
// a link is followed to its target, everything else in the path is resolved.
// Its companions are those that Discover finds for it when its session's
// transcript exists; a companion that cannot be read is left out. The error
// names the path; it wraps fs.ErrNotExist where there is no file. Exclusions
// are not asked.
func ForFile(path string) (harness.Transcript, error) {
	if !filepath.IsAbs(path) {
		return harness.Transcript{}, &harness.Problem{Path: path, Err: errNotAbsolute}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return harness.Transcript{}, &harness.Problem{Path: path, Err: cause(err)}
	}
	info, err := os.Lstat(real)
	if err != nil {
		return harness.Transcript{}, &harness.Problem{Path: path, Err: cause(err)}
	}
	if !info.Mode().IsRegular() {
		return harness.Transcript{}, &harness.Problem{Path: path, Err: errNotRegular}
	}
	named := filepath.Clean(path)
	if link, err := os.Lstat(named); err != nil || !link.Mode().IsRegular() {
		named = real
	}
	t := describe(real, named, info)
	t.Companions = companionsOf(real)
	return t, nil
}

var (
	errNotAbsolute = errors.New("the path is not absolute")
	errNotRegular  = errors.New("not a regular file")
	errLinkAbove   = errors.New("the link leads to a folder that holds the transcripts themselves, and is not followed")
)

// describe makes the transcript of a regular file, without companions.
func describe(real, named string, info fs.FileInfo) harness.Transcript {
	return harness.Transcript{
		Key:    keyOf(real, named),
		Source: real,
		Path:   real,
		Kind:   harness.Lines,
		Parent: parentKey(real, named),
		Stat:   fsx.StatOf(info),
	}
}

// companionsOf lists what stands beside one transcript.
func companionsOf(real string) []harness.Companion {
	dir, file := filepath.Split(real)
	dir = filepath.Clean(dir)
	stem, _ := strings.CutSuffix(file, lineSuffix)
	w := newWalk(context.Background(), harness.Env{})
	var h haul
	switch {
	case isSessionFile(file):
		w.below(&h, place{real: filepath.Join(dir, stem), named: filepath.Join(dir, stem)}, "")
		return h.loose
	case isAgentFile(file):
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil
		}
		return siblings(&h, dir, entries)[stem]
	}
	return nil
}

// How far project folders are read ahead. Two readers take two thirds of the
// time of one on a warm tree and two cores, where the cost is the kernel's path
// look-ups; more keep a cold disk busy. The queue bounds what is held for a
// slow consumer.
const (
	folderReaders = 4
	foldersAhead  = 16
)

// A walk is one discovery. Its readers share it: listed belongs to the
// goroutine that yields, linked to the one that feeds the readers.
type walk struct {
	ctx    context.Context
	env    harness.Env
	roots  []root
	listed map[string]bool          // sources already yielded
	linked map[uint64][]fs.FileInfo // linked folders already entered, by inode
}

// A root is one configuration directory's `projects`.
type root struct {
	place
	err error // why it cannot be resolved; nil with an empty real for a missing one
}

// A place is a directory with its two spellings: the canonical path, which is
// read and shown, and the path by which it was reached, for keys. They are the
// same string wherever the canonical path has the shape itself.
type place struct{ real, named string }

func (p place) child(name string) place {
	real := p.real + string(os.PathSeparator) + name
	if p.named == p.real {
		return place{real: real, named: real}
	}
	return place{real: real, named: p.named + string(os.PathSeparator) + name}
}

func newWalk(ctx context.Context, env harness.Env) *walk {
	var mu sync.Mutex
	env.FolderExcluded = oneAtATime(&mu, env.FolderExcluded)
	env.PathExcluded = oneAtATime(&mu, env.PathExcluded)
	w := &walk{ctx: ctx, env: env, listed: map[string]bool{}, linked: map[uint64][]fs.FileInfo{}}
	for _, dir := range env.Roots {
		w.roots = append(w.roots, resolveRoot(dir))
	}
	return w
}

// oneAtATime guards a test that may keep state; a test that is not given
// excludes nothing.
func oneAtATime(mu *sync.Mutex, excluded func(string) bool) func(string) bool {
	if excluded == nil {
		return func(string) bool { return false }
	}
	return func(name string) bool {
		mu.Lock()
		defer mu.Unlock()
		return excluded(name)
	}
}

func resolveRoot(dir string) root {
	named := filepath.Join(dir, projectsName)
	real, err := filepath.EvalSymlinks(named)
	if errors.Is(err, fs.ErrNotExist) && !isLink(named) && !isLink(filepath.Clean(dir)) {
		return root{place: place{named: named}}
	}
	if err != nil {
		return root{place: place{named: named}, err: cause(err)}
	}
	if filepath.Base(real) == projectsName {
		named = real
	}
	return root{place: place{real: real, named: named}}
}

// isLink reports whether a path is itself a link: one that is there but leads
// nowhere is no missing root.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// root lists one root; it reports whether to go on with the next.
func (w *walk) root(r root, yield func(harness.Transcript, error) bool) bool {
	if r.err != nil {
		return yield(harness.Transcript{}, &harness.Problem{Path: r.named, Err: r.err})
	}
	if r.real == "" {
		return true
	}
	entries, err := os.ReadDir(r.real)
	if err != nil && !yield(harness.Transcript{}, &harness.Problem{Path: r.real, Err: cause(err)}) {
		return false
	}
	queue := make(chan *slot, foldersAhead)
	over := make(chan struct{})
	go w.feed(r, entries, queue, over)
	defer func() {
		close(over)
		for s := range queue {
			<-s.done
		}
	}()
	for s := range queue {
		<-s.done
		if w.ctx.Err() != nil { // the folder may be incomplete
			break
		}
		for _, it := range s.haul.items {
			if it.err == nil {
				if w.listed[it.transcript.Source] {
					continue
				}
				w.listed[it.transcript.Source] = true
			}
			if !yield(it.transcript, it.err) {
				return false
			}
		}
	}
	if err := w.ctx.Err(); err != nil {
		yield(harness.Transcript{}, err)
		return false
	}
	return true
}

// A slot is the place of one project folder in the order of yielding. Its haul
// is complete when done is closed.
type slot struct {
	haul haul
	done chan struct{}
}

// feed queues the entries of a root in order and has the project folders among
// them read. It closes the queue when it has fed all, or when the walk or the
// iteration is over.
func (w *walk) feed(r root, entries []fs.DirEntry, queue chan<- *slot, over <-chan struct{}) {
	defer close(queue)
	readers := make(chan struct{}, folderReaders)
	for _, e := range entries {
		select {
		case <-over:
			return
		case <-w.ctx.Done():
			return
		default:
		}
		s := &slot{done: make(chan struct{})}
		f, ok := w.enter(&s.haul, r, e)
		queue <- s
		if !ok {
			close(s.done)
			continue
		}
		readers <- struct{}{}
		go func() {
			w.folder(&s.haul, f)
			<-readers
			close(s.done)
		}()
	}
}

// enter returns the project folder that an entry of a root is, and whether it
// is one that is to be listed.
func (w *walk) enter(h *haul, r root, e fs.DirEntry) (place, bool) {
	link := e.Type()&fs.ModeSymlink != 0
	if !link && !e.IsDir() {
		return place{}, false
	}
	f := r.child(e.Name())
	if w.env.FolderExcluded(e.Name()) || w.env.PathExcluded(f.real) {
		return place{}, false
	}
	if !link {
		return f, true
	}
	return w.enterLink(h, f)
}

// enterLink is enter for a link whose own name is not excluded.
func (w *walk) enterLink(h *haul, f place) (place, bool) {
	target, err := filepath.EvalSymlinks(f.real)
	if err != nil {
		h.problem(f.real, err)
		return place{}, false
	}
	info, err := os.Lstat(target)
	if err != nil {
		h.problem(f.real, err)
		return place{}, false
	}
	if !info.IsDir() || w.env.FolderExcluded(filepath.Base(target)) || w.excluded(target) {
		return place{}, false
	}
	for _, r := range w.roots {
		if r.real == "" {
			continue
		}
		if _, inside := below(r.real, target); inside {
			return place{}, false
		}
		if _, above := below(target, r.real); above {
			h.problem(f.real, errLinkAbove)
			return place{}, false
		}
	}
	inode := fsx.StatOf(info).Inode
	for _, known := range w.linked[inode] {
		if os.SameFile(known, info) {
			return place{}, false
		}
	}
	w.linked[inode] = append(w.linked[inode], info)
	return place{real: target, named: f.named}, true
}

// excluded reports whether a link's target lies in an excluded project: by its
// path, by its project folder where it lies below a root, and elsewhere by the
// name of every folder above it.
func (w *walk) excluded(target string) bool {
	if w.env.PathExcluded(target) {
		return true
	}
	for _, r := range w.roots {
		if rest, ok := below(r.real, target); ok && r.real != "" {
			folder, _, _ := strings.Cut(rest, string(os.PathSeparator))
			return folder != "" && w.env.FolderExcluded(folder)
		}
	}
	for dir, _ := up(target); dir != ""; {
		var name string
		if dir, name = up(dir); name != "" && w.env.FolderExcluded(name) {
			return true
		}
	}
	return false
}

// below returns the rest of a clean path below a clean directory, "" for the
// directory itself.
func below(dir, path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, dir)
	switch {
	case !ok:
		return "", false
	case rest == "":
		return "", true
	case rest[0] == os.PathSeparator:
		return rest[1:], true
	case dir != "" && dir[len(dir)-1] == os.PathSeparator: // a file system's root
		return rest, true
	}
	return "", false
}

// cause strips the operation and the path off a file error: a Problem names
// its path itself.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
