// Package doctor looks at everything that has to be right for Terminus to work on
// this machine, and says what is not and how to mend it: the program at its stable
// path, the wiring of Claude Code, the directories, the archive, and the two settings
// of Claude Code that decide what there is to archive.
//
// It promises to change nothing. It makes no file and no directory, not even the
// side files that SQLite makes for a reader, and the programs that it runs are asked
// nothing that makes them write. So what can be proved by doing is proved that way
// (the program says its version, the wired MCP server lists its tools), and what
// cannot be is not: running a hook would start a pass, so that a hook is judged by
// what stands in the settings and by the traces of its runs in the transcripts.
//
// A check that cannot be run says unknown; a check never stands in another's way.
package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/wire/claude"
)

// A State is the outcome of a check.
type State string

// The states. Only a problem makes the verdict bad.
const (
	OK      State = "ok"
	Note    State = "note"    // true, worth saying, and no failure
	Unknown State = "unknown" // not to be found out
	Problem State = "problem"
)

// A Finding is what a check found.
type Finding struct {
	State   State  `json:"state"`
	Finding string `json:"finding"`
	// Fix is one command, or one edit of a settings file written out; nil where
	// there is no such thing.
	Fix *string `json:"fix"`
}

// An Entry is a Finding and the name of its check.
type Entry struct {
	Name string
	Finding
}

// A Report holds one Entry for each check, in the order in which they are read.
type Report []Entry

// Data is the report by the names of the checks.
func (r Report) Data() map[string]Finding {
	data := map[string]Finding{}
	for _, e := range r {
		data[e.Name] = e.Finding
	}
	return data
}

// Problems are the names of the checks that found one.
func (r Report) Problems() []string {
	var names []string
	for _, e := range r {
		if e.State == Problem {
			names = append(names, e.Name)
		}
	}
	return names
}

// Options are what the checks know of this process.
type Options struct {
	Environ config.Environ
	// Exe is this program, by which fixes name it, and Version its version.
	Exe, Version string
	Now          time.Time
}

// A check looks at one thing.
type check interface {
	name() string
	look(ctx context.Context, m *machine) Finding
}

// checks are all of them, in the order of the contract.
func checks() []check {
	all := []check{binary{}, settingsFile{}}
	for i, event := range claude.Events() {
		all = append(all, hook{event, i})
	}
	return append(all, mcpServer{}, claudeCode{}, configRoots{}, dataDirectory{}, archiveStore{}, lastRun{}, cleanupPeriod{}, autoCompact{})
}

// Run makes every check.
func Run(ctx context.Context, o Options) Report {
	m := newMachine(ctx, o)
	defer m.close()
	var r Report
	for _, c := range checks() {
		r = append(r, Entry{c.name(), c.look(ctx, m)})
	}
	return r
}

// Unrun is the report of a run in which no check could be made.
func Unrun(why string) Report {
	var r Report
	for _, c := range checks() {
		r = append(r, Entry{c.name(), unknown("%s", why)})
	}
	return r
}

func ok(format string, args ...any) Finding      { return finding(OK, format, args...) }
func note(format string, args ...any) Finding    { return finding(Note, format, args...) }
func unknown(format string, args ...any) Finding { return finding(Unknown, format, args...) }
func problem(format string, args ...any) Finding { return finding(Problem, format, args...) }

func finding(s State, format string, args ...any) Finding {
	return Finding{State: s, Finding: fmt.Sprintf(format, args...)}
}

// fix is f with a fix.
func (f Finding) fix(format string, args ...any) Finding {
	text := fmt.Sprintf(format, args...)
	f.Fix = &text
	return f
}

// and is f with more to say.
func (f Finding) and(format string, args ...any) Finding {
	f.Finding += "; " + fmt.Sprintf(format, args...)
	return f
}

// noted is and, for what makes an ok a note.
func (f Finding) noted(format string, args ...any) Finding {
	if f.State == OK {
		f.State = Note
	}
	return f.and(format, args...)
}

// count puts a number before its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// plain are the characters of a path that no shell takes for its own.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@,"

// quote makes a path one word of a command line. PowerShell, in which commands for
// Windows are meant, takes the same quotes, doubled inside.
func quote(path, goos string) string {
	safe := plain
	if goos == windows {
		safe += `\`
	}
	if path != "" && strings.Trim(path, safe) == "" {
		return path
	}
	return alwaysQuote(path, goos)
}

func alwaysQuote(path, goos string) string {
	if goos == windows {
		return "'" + strings.ReplaceAll(path, "'", "''") + "'"
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

const windows = "windows"

// call is a command line that runs a program.
func call(path, goos, args string) string {
	word := quote(path, goos)
	if goos == windows && strings.HasPrefix(word, "'") {
		word = "& " + word // PowerShell takes a quoted word for a text
	}
	return word + " " + args
}
