package pi

import (
	"context"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
)

const (
	lineSuffix = ".jsonl"
	zstdSuffix = ".zst"

	// The directories above all sessions: of a store, of the profiles of Oh My Pi, and of
	// the agents of OpenClaw.
	sessionsName = "sessions"
	profilesName = "profiles"
	agentsName   = "agents"

	// depth is how many directories below a root are entered: a profile, its agent, its
	// sessions, an encoded directory, a session's own directory, and that of one subagent in it.
	depth = 6

	// maxCompanions bounds the companions of one session: an agent that writes one a call has
	// a few hundred.
	maxCompanions = 2048
)

// below is a path below a directory, "" where there is none.
func below(dir string, elements ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, elements...)...)
}

// jsonLines takes every file of JSON lines.
func jsonLines(name string) (stem string, ok bool) { return strings.CutSuffix(name, lineSuffix) }

// Discover lists the sessions below each root, in the order of their paths. A file that can be
// reached in several ways is listed once. Beside the sessions directory of pi it looks for the
// sessions that version 0.30 put there.
//
// In a directory that has the name of a session lie what its subagents said, sessions of
// their own, and its companions: files of text that the agent put there.
func (h Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		d := discovery{h: h, ctx: ctx, listed: map[string]bool{}, yield: yield}
		for _, root := range env.Roots {
			if !d.root(root) {
				return
			}
		}
	}
}

type discovery struct {
	h      Harness
	ctx    context.Context
	listed map[string]bool // canonical paths
	yield  func(harness.Transcript, error) bool
}

func (d *discovery) root(root string) bool {
	found, beside := []files.File(nil), map[string][]harness.Companion{}
	databases := []files.File(nil)
	walk := files.Walk{
		Depth: depth,
		Match: func(rel string) bool { return d.h.wanted(root, rel) },
		Enter: func(rel string) bool { return d.h.enters(root, rel) },
	}
	visit := func(f files.File, err error) bool {
		if err != nil {
			return d.yield(harness.Transcript{}, err)
		}
		if d.listed[f.Path] {
			return true
		}
		d.listed[f.Path] = true
		name := filepath.Base(f.Path)
		switch _, session := d.h.session(name); {
		case name == d.h.database:
			databases = append(databases, f)
		case session:
			found = append(found, f)
		default:
			at := filepath.Dir(f.Path)
			if len(beside[at]) < maxCompanions {
				beside[at] = append(beside[at], harness.Companion{Path: f.Path, Name: name, Stat: f.Stat})
			}
		}
		return true
	}
	if d.h.id == "pi" && filepath.Base(root) == sessionsName {
		above := files.Walk{Match: files.Suffix(lineSuffix)}
		if !above.Each(d.ctx, filepath.Dir(root), visit) {
			return false
		}
	}
	if !walk.Each(d.ctx, root, visit) {
		return false
	}
	parents := d.h.parents(found)
	for _, f := range found {
		if !d.yield(d.h.describe(f, parents, beside), nil) {
			return false
		}
	}
	for _, f := range databases {
		if !clawSessions(d.ctx, f, parents, d.yield) {
			return false
		}
	}
	return true
}

// enters reports whether a directory below a root may hold sessions. Below the profiles of an
// agent and the agents of a gateway everything else lies as well.
func (h Harness) enters(root, rel string) bool {
	if strings.HasPrefix(files.Base(rel, ""), ".") {
		return false
	}
	switch filepath.Base(root) {
	case profilesName, agentsName:
		return belowAgent.MatchString(rel)
	}
	return true
}

// belowAgent are the directories of a profile or an agent that lead to its sessions.
var belowAgent = regexp.MustCompile(`^[^/]+(/agent)?(/sessions(/.*)?)?$`)

// wanted reports whether a file is a session, the database, or a companion of a session.
func (h Harness) wanted(root, rel string) bool {
	name, dir := files.Base(rel, ""), files.Dir(rel)
	if h.database != "" && name == h.database {
		return true
	}
	if _, ok := h.session(name); ok {
		switch filepath.Base(root) {
		case profilesName, agentsName:
			return slices.Contains(strings.Split(dir, "/"), sessionsName)
		}
		return true
	}
	switch filepath.Ext(name) {
	case ".md", ".txt", ".log", ".json":
		_, ok := stemKey(files.Base(dir, ""))
		return ok
	}
	return false
}

func (h Harness) describe(f files.File, parents map[string]string, beside map[string][]harness.Companion) harness.Transcript {
	key, parent := h.keys(f.Path)
	if parent == "" {
		parent = parents[key]
	}
	stem, _ := h.session(filepath.Base(f.Path))
	return harness.Transcript{
		Key: key, Source: f.Path, Path: f.Path, Kind: harness.Lines, Parent: parent, Stat: f.Stat,
		Zstd:       strings.HasSuffix(f.Path, zstdSuffix),
		Companions: beside[filepath.Join(filepath.Dir(f.Path), stem)],
	}
}

// KeyAt is the key of the session at a path.
func (h Harness) KeyAt(path string) string {
	key, _ := h.keys(filepath.Clean(path))
	return key
}

// RootAt is the directory above all sessions of the store in which a path lies.
func (h Harness) RootAt(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if filepath.Base(dir) == h.sessions {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
	}
}

// keys are the key of the session at a path and that of the session that it is a subagent of.
// A session is named by the id in its file's name; a subagent by that, and behind it by the
// names of the directories and of the file below the directory of its session.
func (h Harness) keys(path string) (key, parent string) {
	stem, _ := h.session(filepath.Base(path))
	id, _ := stemKey(stem)
	within := []string{id}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		name := filepath.Base(dir)
		id, session := stemKey(name)
		if !session && !numbered(name) {
			return h.id + ":" + within[len(within)-1], ""
		}
		within = append([]string{id}, within...)
		if session {
			return h.id + ":" + strings.Join(within, "/"), h.id + ":" + strings.Join(within[:len(within)-1], "/")
		}
	}
}

// stemKey is the id in the name of a session's file, without suffix: what stands behind the
// time, `2026-03-01T10-00-00-000Z_`, or the whole. ok says that the name is surely one: that
// it has such a time or is a UUID.
func stemKey(stem string) (id string, ok bool) {
	const date = "0000-00-00T"
	at := strings.IndexByte(stem, '_')
	if at < len(date) || at+1 == len(stem) {
		return stem, shaped(stem, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
	}
	if !shaped(stem[:len(date)], date) {
		return stem, false
	}
	return stem[at+1:], true
}

// shaped reports whether a text has a form, in which 0 is a digit, x a hexadecimal one, and
// all else itself.
func shaped(text, form string) bool {
	if len(text) != len(form) {
		return false
	}
	for i := range len(form) {
		c, digit := text[i], '0' <= text[i] && text[i] <= '9'
		switch form[i] {
		case '0':
			if !digit {
				return false
			}
		case 'x':
			if !digit && ('a' > c|0x20 || c|0x20 > 'f') {
				return false
			}
		default:
			if c != form[i] {
				return false
			}
		}
	}
	return true
}

// numbered reports whether a name is that of a subagent's pass: a number, a hyphen, a name.
func numbered(name string) bool {
	number, rest, ok := strings.Cut(name, "-")
	return ok && rest != "" && number != "" && strings.Trim(number, "0123456789") == ""
}
