package project

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	gitName       = ".git"
	gitDirPrefix  = "gitdir:"
	commonDirName = "commondir"

	// maxPointerFile bounds a `.git` file and a `commondir`: one path each, and
	// no path that the systems open is longer (PATH_MAX is 4096 on Linux).
	maxPointerFile = 4 << 10
)

// mainRepository follows the `.git` file in holder to the main repository of
// the worktree that holder is. It reports false for everything else that has
// such a file (a submodule, a repository whose data is kept elsewhere) and for
// what cannot be followed.
//
// The file names the worktree's own data; `commondir` there names the data of
// the main repository. Where `commondir` cannot be read, a place of the form
// `.git/worktrees/<name>` says as much. No second file is followed from there,
// so there is no loop.
func mainRepository(holder string) (string, bool) {
	content, ok := readPointerFile(filepath.Join(holder, gitName))
	if !ok {
		return "", false
	}
	target, ok := parseGitFile(content)
	if !ok {
		return "", false
	}
	gitDir, ok := from(holder, target)
	if !ok {
		return "", false
	}
	common, ok := commonDir(gitDir)
	if !ok || common == gitDir || !isDir(common) {
		return "", false
	}
	if filepath.Base(common) == gitName {
		return filepath.Dir(common), true
	}
	return common, true
}

// commonDir returns where a worktree's data says that the main data lie.
func commonDir(gitDir string) (string, bool) {
	content, ok := readPointerFile(filepath.Join(gitDir, commonDirName))
	if ok {
		if target, ok := parsePath(content); ok {
			return from(gitDir, target)
		}
	}
	list := filepath.Dir(gitDir)
	common := filepath.Dir(list)
	return common, filepath.Base(list) == worktreesName && filepath.Base(common) == gitName
}

// from resolves a path that stands in a file of dir. It refuses a network
// share that dir itself is not on: following it would send a request, and with
// it the user's credentials, to whomever the file names.
func from(dir, target string) (string, bool) {
	target = filepath.FromSlash(target)
	if !filepath.IsAbs(target) {
		if filepath.VolumeName(target) != "" {
			return "", false
		}
		target = filepath.Join(dir, target)
	}
	volume := filepath.VolumeName(target)
	if strings.HasPrefix(volume, `\\`) && !strings.EqualFold(volume, filepath.VolumeName(dir)) {
		return "", false
	}
	return filepath.Clean(target), true
}

// parseGitFile returns the path that a `.git` file names: not empty, one line
// of valid UTF-8, without NUL. It reports false for any other content.
func parseGitFile(content []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(content, []byte(gitDirPrefix))
	if !ok {
		return "", false
	}
	return parsePath(bytes.TrimLeft(rest, " \t"))
}

// parsePath reads content that is one path and line ends after it.
func parsePath(content []byte) (string, bool) {
	content = bytes.TrimRight(content, "\r\n")
	if len(content) == 0 || bytes.ContainsAny(content, "\x00\r\n") || !utf8.Valid(content) {
		return "", false
	}
	return string(content), true
}

// readPointerFile reads a small regular file whole; it reports false for one
// that is too long, of another kind, or cannot be read.
func readPointerFile(path string) ([]byte, bool) {
	info, err := os.Stat(path) // before opening: opening a pipe would wait
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPointerFile {
		return nil, false
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxPointerFile+1))
	if err != nil || len(content) > maxPointerFile {
		return nil, false
	}
	return content, true
}
