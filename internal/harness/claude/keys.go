package claude

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
)

// Names that Claude Code gives to folders and files. They are compared as
// bytes: it writes them in this form on every system.
const (
	projectsName  = "projects"
	subagentsName = "subagents"
	workflowsName = "workflows"
	workflowStart = "wf_"
	agentStart    = "agent-"
	lineSuffix    = ".jsonl"
)

// Key gives the session key of the transcript at a canonical path. It is read
// off the path's last elements alone: a `<uuid>.jsonl` in a project folder, or
// an `agent-*.jsonl` in a session's `subagents` folder or in a workflow of it,
// where a project folder is a folder in a folder named `projects`. The key is
// then the slash-separated path below the project folder. Any other path is
// its own key.
func Key(path string) string {
	if key, ok := shapeKey(filepath.Clean(path)); ok {
		return key
	}
	return path
}

// ParentOf gives the key of the session that a session is a subagent of, "" for none, by its
// key alone. ok is false for what is no key.
func ParentOf(key string) (parent string, ok bool) {
	if filepath.IsAbs(key) {
		return parentKey(key, key), filepath.Clean(key) == key && Key(key) == key
	}
	in := string(os.PathSeparator) + filepath.Join(projectsName, "p", filepath.FromSlash(key))
	if shaped, ok := shapeKey(in); !ok || shaped != key {
		return "", false
	}
	return parentKey(in, in), true
}

// KeyAt is Key.
func (Harness) KeyAt(path string) string { return Key(path) }

// RootAt is the nearest folder named `projects` above a project folder.
func (Harness) RootAt(path string) string {
	dir, _ := up(path)
	for folder, _ := up(dir); folder != ""; folder, _ = up(folder) {
		if _, name := up(folder); name == projectsName {
			return folder
		}
	}
	return ""
}

// keyOf is Key for a path that has two spellings: the canonical one, and the
// one by which it was reached, which differ where `projects` or a project
// folder is a link to a directory of another name. A session keeps its key
// when its folder is moved away and linked back.
func keyOf(real, named string) string {
	if key, ok := shapeKey(real); ok {
		return key
	}
	if named != real {
		if key, ok := shapeKey(named); ok {
			return key
		}
	}
	return real
}

// shapeKey returns the key of a clean path of one of the two shapes.
func shapeKey(path string) (string, bool) {
	dir, file := up(path)
	folder := dir
	switch {
	case isSessionFile(file):
	case isAgentFile(file):
		sub := dir
		if above, name := up(dir); strings.HasPrefix(name, workflowStart) {
			if outer, name := up(above); name == workflowsName {
				sub = outer
			}
		}
		session, name := up(sub)
		if name != subagentsName {
			return "", false
		}
		folder, _ = up(session)
	default:
		return "", false
	}
	if !isProjectFolder(folder) {
		return "", false
	}
	return filepath.ToSlash(path[len(folder)+1:]), true
}

// parentKey returns the key of the session that the agent transcript at a path
// belongs to, or "" for a path that names none. The deepest folder named
// `subagents` above the file decides: the folder above it is named like its
// session's transcript. Folders above the project folder are not asked.
func parentKey(real, named string) string {
	dir, file := up(named)
	if !isAgentFile(file) {
		return ""
	}
	for levels := 1; ; levels++ {
		above, name := up(dir)
		if name == projectsName || above == "" {
			return ""
		}
		if name != subagentsName {
			dir = above
			continue
		}
		parentNamed := above + lineSuffix
		if folder, _ := up(above); isProjectFolder(folder) {
			return filepath.ToSlash(parentNamed[len(folder)+1:])
		}
		for range levels + 1 {
			real, _ = up(real)
		}
		return keyOf(real+lineSuffix, parentNamed)
	}
}

// isProjectFolder reports whether a folder lies in a folder named `projects`.
func isProjectFolder(folder string) bool {
	above, name := up(folder)
	_, projects := up(above)
	return name != "" && projects == projectsName
}

// up splits a clean path into the directory and the last element. The
// directory of a root, and of a lone element, is "".
func up(path string) (dir, name string) {
	i := strings.LastIndexByte(path, os.PathSeparator)
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

// isTranscriptName reports whether a file directly in a project folder is a
// transcript by its name.
func isTranscriptName(name string) bool { return isAgentFile(name) || isSessionFile(name) }

// isAgentFile reports whether a name is that of a subagent's transcript, which
// may lie at any depth below a project folder.
func isAgentFile(name string) bool {
	return len(name) >= len(agentStart)+len(lineSuffix) &&
		strings.HasPrefix(name, agentStart) && strings.HasSuffix(name, lineSuffix)
}

func isSessionFile(name string) bool {
	stem, ok := strings.CutSuffix(name, lineSuffix)
	return ok && harness.IsUUID(stem)
}
