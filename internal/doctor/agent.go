package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// floor is the oldest version of Claude Code that Terminus is made for. Older ones
// may work.
const floor = "2.1.227"

// claudeCode is the agent's own program.
type claudeCode struct{}

func (claudeCode) name() string { return "claude_code" }

func (c claudeCode) look(ctx context.Context, m *machine) Finding {
	return c.unsaved(c.version(ctx, m), m)
}

func (claudeCode) version(ctx context.Context, m *machine) Finding {
	path := findProgram(m.around.Path, "claude", m.Environ.GOOS)
	if path == "" {
		return unknown("there is no claude on PATH")
	}
	said, err := output(ctx, agentLimit, nil, path, "--version")
	version, _, _ := strings.Cut(strings.TrimSpace(string(said)), " ")
	if err != nil || !isVersion(version) {
		return unknown("%s does not say its version", path)
	}
	about := fmt.Sprintf("%s is version %s, and terminus is made for %s and later", path, version, floor)
	if compareVersions(version, floor) < 0 {
		return problem("%s", about).fix("%s", call(path, m.Environ.GOOS, "update"))
	}
	return ok("%s", about)
}

// unsaved adds what the environment says of sessions that begin here.
func (claudeCode) unsaved(f Finding, m *machine) Finding {
	if len(m.around.Unsaved) == 0 {
		return f
	}
	verb := "is"
	if len(m.around.Unsaved) > 1 {
		verb = "are"
	}
	return f.noted("%s %s set: sessions started from this shell may not be saved", strings.Join(m.around.Unsaved, ", "), verb)
}

// findProgram is the first regular file of that name in the directories, or "".
func findProgram(dirs []string, name, goos string) string {
	if goos == windows {
		name += ".exe"
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// isVersion reports whether a word begins with a number and a point.
func isVersion(s string) bool {
	first, _, dotted := strings.Cut(s, ".")
	return dotted && first != "" && strings.Trim(first, "0123456789") == ""
}

// compareVersions compares part by part, by the number at the beginning of each
// part; one that has none is 0.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		if d := part(as, i) - part(bs, i); d != 0 {
			return d
		}
	}
	return 0
}

// maxPart is the largest part of a version that counts as itself.
const maxPart = 1 << 30

func part(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	digits := parts[i]
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	if digits == "" {
		return 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return maxPart
	}
	return min(n, maxPart)
}
