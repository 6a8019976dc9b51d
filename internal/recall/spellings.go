package recall

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/derive"
)

// maxSpelling bounds a name that is looked up, in bytes: longer values are not
// stored. What is longer is pasted data with a slash in it.
const maxSpelling = 4096

// Spellings are what is looked up for a prompt typed in dir: the paths that it
// names and its identifier-shaped words, at most limit of them. Relative paths
// come first, then absolute ones, then identifiers, those inside paths among
// them, each in the order of the prompt. A relative path is one name and gives
// two spellings: below dir, and as it was typed. Names of the same words count
// once. A prompt without any gives none, and so does one without a dir.
//
// A path is a word with a slash or a backslash in it that is no URL and no closing
// tag of a markup; it is taken without quotes around it and line numbers behind
// it. What Claude Code itself puts into a prompt, its reminders, names nothing.
func Spellings(prompt, dir string, limit int) []string {
	return namesOf(prompt, dir, limit).spellings
}

// names are what a prompt names.
type names struct {
	spellings []string
	typed     []string // the names as they were typed
	words     string   // the prompt as far as a person may have typed it

	seen  map[string]bool // lists of words
	count int
}

func namesOf(prompt, dir string, limit int) names {
	n := names{words: withoutReminders(prompt), seen: map[string]bool{}}
	if dir == "" || limit <= 0 || strings.TrimSpace(n.words) == "" {
		return n
	}
	base := strings.TrimRight(dir, `/\`)
	var absolute []string
	pending := map[string]bool{} // lists of words
	for path := range paths(n.words) {
		switch {
		case n.count == limit: // the rest is of no use any more
			return n
		case !isAbsolute(path):
			below := base + "/" + strings.TrimPrefix(strings.TrimPrefix(path, "./"), `.\`)
			n.add(below, path)
		case len(absolute) < limit:
			if key := wordsOf(path); !pending[key] {
				pending[key] = true
				absolute = append(absolute, path)
			}
		}
	}
	for _, path := range absolute {
		if n.count < limit {
			n.add(path)
		}
	}
	if n.count == limit {
		return n
	}
	for word := range derive.Identifiers(n.words) {
		if n.add(word); n.count == limit {
			break
		}
	}
	return n
}

// add takes in one name with its spellings, of which the last is the typed one,
// and reports whether any of them was new. A name without words is none.
func (n *names) add(spellings ...string) bool {
	typed := spellings[len(spellings)-1]
	if wordsOf(typed) == "" {
		return false
	}
	added := false
	for _, spelling := range spellings {
		key := wordsOf(spelling)
		if len(spelling) > maxSpelling || n.seen[key] {
			continue
		}
		n.seen[key], added = true, true
		n.spellings = append(n.spellings, spelling)
	}
	if added {
		n.count++
		n.typed = append(n.typed, typed)
	}
	return added
}

// wordsOf are the words of a spelling, as spelled: what tells it from others.
func wordsOf(spelling string) string {
	words, _ := derive.Terms(spelling)
	return strings.Join(words, " ")
}

// weighed is what entities are compared with: the whole prompt, and before it
// what it names, so that of the words of a long prompt these are among the 32
// that count.
func (n *names) weighed() string {
	return strings.Join(append(slices.Clone(n.spellings), n.words), " ")
}

// paths yields the path-shaped words of a prompt.
func paths(prompt string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for word := range strings.FieldsSeq(prompt) {
			if len(word) > maxSpelling || !strings.ContainsAny(word, `/\`) ||
				strings.Contains(word, "://") || strings.HasPrefix(word, "</") {
				continue
			}
			if path := derive.PathValue(word); strings.ContainsAny(path, `/\`) && !yield(path) {
				return
			}
		}
	}
}

// isAbsolute reports whether a path begins at a root, of this system or of any
// that writes roots as a slash.
func isAbsolute(path string) bool { return strings.HasPrefix(path, "/") || filepath.IsAbs(path) }

// The tags around what Claude Code reminds its model of.
const (
	reminderOpen  = "<system-reminder>"
	reminderClose = "</system-reminder>"
)

// withoutReminders is a prompt without what Claude Code put into it.
func withoutReminders(prompt string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(prompt, reminderOpen)
		_, after, closed := strings.Cut(rest, reminderClose)
		if !found || !closed {
			break
		}
		b.WriteString(before)
		b.WriteByte('\n')
		prompt = after
	}
	if b.Len() == 0 {
		return prompt
	}
	b.WriteString(prompt)
	return b.String()
}
