package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// foldCase tells whether the file systems of this platform usually take two
// spellings of a name that differ in case for the same name.
const foldCase = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

const separator = string(filepath.Separator)

// Normalize makes a path of the configuration comparable: a leading `~` alone
// or before a separator becomes home (`~user` does not), and `.`, `..` and
// superfluous separators go. It is purely lexical, because what it names is
// often gone. It reports false for what is not an absolute path then.
func Normalize(home, path string) (string, bool) {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || isSeparator(rest[0])) {
		if home == "" {
			return "", false
		}
		path = home + rest
	}
	if path == "" {
		return "", false
	}
	path = filepath.Clean(path)
	// On Windows a root without a volume is not absolute, and still means
	// everything.
	if !filepath.IsAbs(path) && path != separator {
		return "", false
	}
	return path, true
}

// Covers reports whether ancestor is path or a directory above it, component
// by component (`/a/b` covers `/a/b/c`, not `/a/b-c`), and how many components
// ancestor has: of two that cover a path, the deeper one is the nearer. Case
// is folded on Windows and macOS. Both are compared lexically, and a path that
// has no root is covered by nothing but paths that have none.
func Covers(ancestor, path string) (depth int, ok bool) {
	return covers(ancestor, path, foldCase)
}

// Ancestors are the only paths that may cover path, spelled clean: itself and
// the directories above it, deepest first. exact is false where paths of other
// spellings cover it too.
func Ancestors(path string) (dirs []string, exact bool) {
	if path == "" || !rooted(path) || foldCase {
		return nil, false
	}
	for path = filepath.Clean(path); ; path = filepath.Dir(path) {
		dirs = append(dirs, path)
		if path == filepath.Dir(path) {
			return dirs, true
		}
	}
}

func covers(ancestor, path string, fold bool) (depth int, ok bool) {
	if ancestor == "" || path == "" {
		return 0, false
	}
	ancestor, path = filepath.Clean(ancestor), filepath.Clean(path)
	if rooted(ancestor) != rooted(path) {
		return 0, false
	}
	for {
		var a, p string
		if a, ancestor = component(ancestor); a == "" {
			return depth, true
		}
		p, path = component(path)
		if a != p && (!fold || !strings.EqualFold(a, p)) {
			return 0, false
		}
		depth++
	}
}

func rooted(path string) bool { return filepath.IsAbs(path) || isSeparator(path[0]) }

// component cuts the first component off a clean path, "" when none is left.
func component(path string) (first, rest string) {
	for path != "" && isSeparator(path[0]) {
		path = path[1:]
	}
	for i := range len(path) {
		if isSeparator(path[i]) {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

func isSeparator(c byte) bool { return os.IsPathSeparator(c) }

// deepest returns the value of the key in m that covers path and is nearest to
// it. Of two spellings of one key the one that sorts first wins, so that the
// answer does not depend on the order of a map.
func deepest[V any](m map[string]V, path string) (value V, ok bool) {
	best, bestKey := -1, ""
	for key, v := range m {
		depth, covered := Covers(key, path)
		if covered && (depth > best || depth == best && key < bestKey) {
			best, bestKey, value, ok = depth, key, v, true
		}
	}
	return value, ok
}
