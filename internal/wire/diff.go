package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDiffLines bounds the lines between the first and the last change that are compared
// with each other. Edits of ours lie close together.
const maxDiffLines = 2000

// maxShown is the length of a line from which on only its changed part is shown.
const maxShown = 200

// Diff shows what an edit changes and nothing else: no line around a change, because
// what stands there is nobody's business, and no line that only got a comma. Each line
// begins with "-" or "+"; a line "@@ line N" says where what follows stands in the
// text after the edit.
func Diff(before, after []byte) []string {
	a, b := lines(before), lines(after)
	head := 0
	for head < len(a) && head < len(b) && masked(a[head]) == masked(b[head]) {
		head++
	}
	for len(a) > head && len(b) > head && masked(a[len(a)-1]) == masked(b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	a, b = a[head:], b[head:]
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		return []string{fmt.Sprintf("@@ line %d", head+1), fmt.Sprintf("- %d lines, too many to show", len(a)), fmt.Sprintf("+ %d lines, too many to show", len(b))}
	}
	var out []string
	for _, h := range hunks(a, b) {
		out = append(out, fmt.Sprintf("@@ line %d", head+h.line+1))
		if len(h.gone) == 1 && len(h.come) == 1 {
			h.gone[0], h.come[0] = trimSame(h.gone[0], h.come[0])
		}
		for _, line := range h.gone {
			if line != "" {
				out = append(out, "- "+line)
			}
		}
		for _, line := range h.come {
			out = append(out, "+ "+line)
		}
	}
	return out
}

func lines(text []byte) []string {
	all := strings.Split(string(text), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// masked is a line without what following it may change.
func masked(line string) string { return strings.TrimSuffix(strings.TrimRight(line, "\r"), ",") }

// A hunk is a change: lines that went, and lines that came at a line of the new text.
type hunk struct {
	line       int
	gone, come []string
}

// hunks finds the fewest lines that went and came.
func hunks(a, b []string) []hunk {
	// common[i][j] is how many lines a[i:] and b[j:] have in common.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if masked(a[i]) == masked(b[j]) {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var all []hunk
	var h *hunk
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		if i < len(a) && j < len(b) && masked(a[i]) == masked(b[j]) {
			h = nil
			i++
			j++
			continue
		}
		if h == nil {
			all = append(all, hunk{line: j})
			h = &all[len(all)-1]
		}
		if i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]) {
			h.gone = append(h.gone, a[i])
			i++
		} else {
			h.come = append(h.come, strings.TrimRight(b[j], "\r"))
			j++
		}
	}
	return all
}

// trimSame cuts from two long lines what they begin and end with alike.
func trimSame(a, b string) (string, string) {
	if len(a) <= maxShown && len(b) <= maxShown && !strings.HasPrefix(strings.TrimSpace(a), "{") {
		return a, b
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for head > 0 && head < len(b) && !utf8.RuneStart(b[head]) {
		head--
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && !utf8.RuneStart(b[len(b)-tail]) {
		tail--
	}
	cut := func(s string) string {
		if head+tail >= len(s) {
			return ""
		}
		return "..." + s[head:len(s)-tail] + "..."
	}
	return cut(a), cut(b)
}
