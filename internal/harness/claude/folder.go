package claude

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
)

// A haul is what one project folder, or one directory of it, holds: in order,
// transcripts and problems, and beside them the files that belong to no
// subagent.
type haul struct {
	items []item
	loose []harness.Companion
}

type item struct {
	transcript harness.Transcript
	err        error
}

// problem notes a failure at a path.
func (h *haul) problem(path string, err error) {
	h.items = append(h.items, item{err: &harness.Problem{Path: path, Err: cause(err)}})
}

// folder lists one project folder.
func (w *walk) folder(h *haul, f place) {
	entries, ok := list(h, f.real)
	if !ok {
		return
	}
	h.items = slices.Grow(h.items, len(entries))
	beside := siblings(h, f.real, entries)
	pending := map[string][]harness.Companion{} // by session id, until its transcript comes
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir():
			loose := w.session(h, f.child(name), holds(entries, name+lineSuffix) && harness.IsUUID(name))
			if len(loose) > 0 {
				pending[name] = loose
			}
		case isTranscriptName(name):
			stem := strings.TrimSuffix(name, lineSuffix)
			w.transcript(h, f, e, slices.Concat(pending[stem], beside[stem]))
		}
	}
}

// session lists the directory of a session, and returns the companions of the
// session's own transcript if there is one.
func (w *walk) session(h *haul, dir place, hasTranscript bool) []harness.Companion {
	start := len(h.items)
	w.below(h, dir, "")
	loose := h.loose
	h.loose = nil
	if hasTranscript {
		return loose
	}
	for i := range h.items[start:] {
		if it := &h.items[start+i]; it.err == nil {
			for _, c := range loose {
				c.Name = filepath.Base(dir.real) + "/" + c.Name
				it.transcript.Companions = append(it.transcript.Companions, c)
			}
			break
		}
	}
	return nil
}

// below lists a directory below a project folder at any depth. prefix is its
// slash-separated place below the session's directory, with a closing slash.
func (w *walk) below(h *haul, dir place, prefix string) {
	if w.ctx.Err() != nil {
		return
	}
	entries, ok := list(h, dir.real)
	if !ok {
		return
	}
	beside := siblings(h, dir.real, entries)
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir():
			w.below(h, dir.child(name), prefix+name+"/")
		case isAgentFile(name):
			w.transcript(h, dir, e, beside[strings.TrimSuffix(name, lineSuffix)])
		case e.Type().IsRegular():
			if _, ok := agentOf(entries, name); ok {
				continue
			}
			if c, ok := companion(h, dir.real, e); ok {
				c.Name, c.Output = prefix+name, isOutput(prefix)
				h.loose = append(h.loose, c)
			}
		}
	}
}

// transcript lists one entry that has a transcript's name, with what stands
// beside it.
func (w *walk) transcript(h *haul, dir place, e fs.DirEntry, beside []harness.Companion) {
	at := dir.child(e.Name())
	var t harness.Transcript
	switch {
	case e.Type().IsRegular():
		info, err := e.Info()
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				h.problem(at.real, err)
			}
			return
		}
		if !info.Mode().IsRegular() { // replaced since the directory was read
			return
		}
		t = describe(at.real, at.named, info)
		t.Companions = beside
	case e.Type()&fs.ModeSymlink != 0:
		var ok bool
		if t, ok = w.linkedTranscript(h, at.real); !ok {
			return
		}
		for _, c := range beside {
			if !slices.ContainsFunc(t.Companions, func(have harness.Companion) bool { return have.Name == c.Name }) {
				t.Companions = append(t.Companions, c)
			}
		}
	default:
		if !e.IsDir() {
			h.problem(at.real, fsx.ErrNotRegular)
		}
		return
	}
	h.items = append(h.items, item{transcript: t})
}

// linkedTranscript describes the file that a link leads to.
func (w *walk) linkedTranscript(h *haul, link string) (harness.Transcript, bool) {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		h.problem(link, err)
		return harness.Transcript{}, false
	}
	if w.excluded(target) {
		return harness.Transcript{}, false
	}
	info, err := os.Lstat(target)
	if err != nil {
		h.problem(link, err)
		return harness.Transcript{}, false
	}
	if !info.Mode().IsRegular() {
		if !info.IsDir() {
			h.problem(link, fsx.ErrNotRegular)
		}
		return harness.Transcript{}, false
	}
	named := target
	for _, r := range w.roots {
		if rest, ok := below(r.real, target); ok && r.real != "" {
			named = filepath.Join(r.named, rest)
			break
		}
	}
	t := describe(target, named, info)
	t.Companions = companionsOf(target)
	return t, true
}

// list reads a directory, sorted by name. One that cannot be read is a
// problem, with whatever was read of it before; one that vanished is nothing.
func list(h *haul, dir string) ([]fs.DirEntry, bool) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.problem(dir, err)
	}
	return entries, len(entries) > 0
}

// siblings returns the companions that stand beside the subagents' transcripts
// of a directory, by the transcript's name without its suffix.
func siblings(h *haul, dir string, entries []fs.DirEntry) map[string][]harness.Companion {
	var beside map[string][]harness.Companion
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		stem, ok := agentOf(entries, e.Name())
		if !ok {
			continue
		}
		c, ok := companion(h, dir, e)
		if !ok {
			continue
		}
		if beside == nil {
			beside = map[string][]harness.Companion{}
		}
		beside[stem] = append(beside[stem], c)
	}
	return beside
}

// agentOf returns the transcript, without its suffix, that a file `agent-X.*`
// stands beside: the one with the longest X. A transcript stands beside none.
func agentOf(entries []fs.DirEntry, name string) (string, bool) {
	if !strings.HasPrefix(name, agentStart) || isAgentFile(name) {
		return "", false
	}
	for stem := name; ; {
		i := strings.LastIndexByte(stem, '.')
		if i < len(agentStart) {
			return "", false
		}
		if stem = stem[:i]; holds(entries, stem+lineSuffix) {
			return stem, true
		}
	}
}

// holds reports whether sorted entries hold a file of a name, or a link.
func holds(entries []fs.DirEntry, name string) bool {
	i, ok := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int {
		return strings.Compare(e.Name(), name)
	})
	return ok && (entries[i].Type().IsRegular() || entries[i].Type()&fs.ModeSymlink != 0)
}

// companion takes a regular file as a companion, named by its last element.
func companion(h *haul, dir string, e fs.DirEntry) (harness.Companion, bool) {
	path := dir + string(os.PathSeparator) + e.Name()
	info, err := e.Info()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			h.problem(path, err)
		}
		return harness.Companion{}, false
	}
	if !info.Mode().IsRegular() {
		return harness.Companion{}, false
	}
	return harness.Companion{Path: path, Name: e.Name(), Stat: fsx.StatOf(info)}, true
}
