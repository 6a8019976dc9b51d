package observe

import (
	"slices"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/transcript"
)

const (
	// maxEntries and maxValue bound a list of facts: the contract lets a list be
	// cut where it says so, and an observation is to be read at a glance.
	maxEntries = 64
	maxValue   = 512 // bytes of one value, the mark of a cut aside
)

// cutMark ends a value that was cut.
const cutMark = " [...]"

// Facts are what a session did, as its records say. A list is sorted by bytes,
// holds nothing twice, and is whole unless Truncated names it; a value of more
// than 512 bytes is cut and ends with " [...]".
type Facts struct {
	FilesRead     []string `json:"files_read"`     // every file that is named and not modified by what names it
	FilesModified []string `json:"files_modified"` // those that a tool was called to change
	Tools         []string `json:"tools"`
	Commands      []string `json:"commands"` // whole shell commands
	Errors        []string `json:"errors"`   // without what differs from one occurrence to the next
	Commits       []string `json:"commits"`  // the subjects of the commits among the commands
	Branch        *string  `json:"branch"`
	Turns         int64    `json:"turns"`
	FirstTurnAt   *string  `json:"first_turn_at"` // this and LastTurnAt as the records spell them
	LastTurnAt    *string  `json:"last_turn_at"`
	// DurationSeconds lie between the two, whole seconds; nil where one is no time.
	DurationSeconds *int64 `json:"duration_seconds"`
	Compactions     int64  `json:"compactions"`
	// Truncated names the lists that were cut, by their keys.
	Truncated []string `json:"truncated"`
}

// A list collects the first maxEntries values in the order of bytes.
type list struct {
	values []string
	more   bool // there were others
}

func (l *list) add(value []byte) {
	text := shortened(value)
	i, found := slices.BinarySearch(l.values, text)
	switch {
	case found:
		return
	case i == maxEntries:
		l.more = true
		return
	case len(l.values) == maxEntries:
		l.values, l.more = l.values[:maxEntries-1], true
	}
	l.values = slices.Insert(l.values, i, text)
}

// shortened is a value as a list holds it.
func shortened(value []byte) string {
	if len(value) <= maxValue {
		return string(value)
	}
	return string(transcript.CutBytes(value, maxValue)) + cutMark
}

// A collector gathers the facts that turns tell.
type collector struct {
	// modifies reports whether a call of that tool changes the files that it names;
	// nil where the harness does not say.
	modifies func(tool string) bool

	read, modified, tools, commands, errors, commits list
}

// turn takes in what one turn names. What is the client's own machinery names
// nothing.
func (c *collector) turn(t *transcript.Turn) {
	if t.Unindexed {
		return
	}
	files := &c.read // of the call whose mentions come
	for _, m := range t.Mentions {
		switch m.Origin {
		case transcript.ToolName:
			files = &c.read
			if c.modifies != nil && c.modifies(string(m.Text)) {
				files = &c.modified
			}
		case transcript.ShellLine:
			c.commands.add(m.Text)
			if subject := commitSubject(m.Text); subject != "" {
				c.commits.add([]byte(subject))
			}
		case transcript.Identifiers:
			continue // names no file
		}
		derive.Named(m, func(kind string, value []byte) bool {
			switch kind {
			case derive.KindPath:
				files.add(value)
			case derive.KindTool:
				c.tools.add(value)
			case derive.KindError:
				c.errors.add(value)
			}
			return true
		})
	}
}

// facts are what was gathered. The lists are never nil.
func (c *collector) facts() Facts {
	f := Facts{Truncated: []string{}}
	for _, l := range []struct {
		key  string
		from *list
		to   *[]string
	}{
		{"files_read", &c.read, &f.FilesRead},
		{"files_modified", &c.modified, &f.FilesModified},
		{"tools", &c.tools, &f.Tools},
		{"commands", &c.commands, &f.Commands},
		{"errors", &c.errors, &f.Errors},
		{"commits", &c.commits, &f.Commits},
	} {
		*l.to = append([]string{}, l.from.values...)
		if l.from.more {
			f.Truncated = append(f.Truncated, l.key)
		}
	}
	return f
}
