// Package harness owns the interface through which every coding agent is read,
// and the registry of the agents that Terminus knows.
//
// A harness says what its store holds now. It never says what changed, never
// writes to the agent's store, and knows nothing of the archive.
package harness

import (
	"context"
	"iter"
	"path/filepath"
	"slices"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Kind is the form of a transcript.
type Kind uint8

const (
	// Lines is a file of records, one a line, to which the agent appends. The
	// caller reads the file itself; Tail is not used.
	Lines Kind = iota
	// Rows is a document or a set of database rows. Tail yields the whole of
	// its present state, in order, each record with its ID.
	Rows
)

// A Transcript is where a harness keeps one session.
type Transcript struct {
	// Key is the session key.
	Key string
	// Source identifies the transcript among all transcripts of this machine:
	// the canonical path of a file, or `<path>#<id>` for rows.
	Source string
	// Path is the file that holds it, shown to people.
	Path string
	// Kind tells how it is read.
	Kind Kind
	// Parent is the key of the session that this one is a subagent of, or "".
	Parent string
	// Dir is the session's working directory, where the agent's store tells it beside the
	// records and these may not; else "". Records that name another do not change it.
	Dir string
	// Stat is the file as discovery saw it (Lines only).
	Stat fsx.Stat
	// Zstd says that the file holds its lines as zstd frames (Lines only). They are
	// archived as lines: a file that was compressed since is the same transcript.
	Zstd bool
	// Stamp changes whenever the rows change (Rows only). An empty stamp means
	// unknown: the rows are read in every pass.
	Stamp string
	// Entry is what a list of all sessions tells of this one, for Tail, which need not read the
	// list again (Rows only). It counts in Stamp.
	Entry []byte
	// Companions are the files that belong to the session beside its transcript.
	Companions []Companion
}

// A Companion is a file beside a transcript that is archived with it.
type Companion struct {
	// Path is the file; Name is its slash-separated place below the session.
	Path, Name string
	Stat       fsx.Stat
	// Output says that the file holds what a tool returned and nothing else.
	Output bool
}

// A Machine is what a harness may know of the machine to tell where its agent keeps
// its sessions.
type Machine struct {
	// GOOS is the system's name as Go has it.
	GOOS string
	// Home is the home directory, "" where the system does not tell.
	Home string
	// Data is the directory in which Terminus keeps what is its own, "" where there is none.
	Data string
	// Get is the value of an environment variable, "" where it is not set.
	Get func(name string) string
}

// Below is a path below the home directory, "" where there is none.
func (m Machine) Below(elements ...string) string { return below(m.Home, elements) }

// Variable is a path below the directory that an environment variable names, or, where it
// names none or no absolute one, below another directory, which may be "": then it is "".
func (m Machine) Variable(name, otherwise string, elements ...string) string {
	dir := ""
	if m.Get != nil {
		dir = m.Get(name)
	}
	if !filepath.IsAbs(dir) {
		dir = otherwise
	}
	return below(dir, elements)
}

// XDGData is a path below XDG_DATA_HOME, else below ~/.local/share.
func (m Machine) XDGData(elements ...string) string {
	return m.Variable("XDG_DATA_HOME", m.Below(".local", "share"), elements...)
}

// XDGConfig is a path below XDG_CONFIG_HOME, else below ~/.config.
func (m Machine) XDGConfig(elements ...string) string {
	return m.Variable("XDG_CONFIG_HOME", m.Below(".config"), elements...)
}

// AppData is a path below the directory in which programs of the system keep what is theirs:
// `~/Library/Application Support` of macOS, %APPDATA% of Windows, elsewhere that of XDGConfig.
func (m Machine) AppData(elements ...string) string {
	switch m.GOOS {
	case "darwin":
		return below(m.Below("Library", "Application Support"), elements)
	case "windows":
		return m.Variable("APPDATA", m.Below("AppData", "Roaming"), elements...)
	}
	return m.XDGConfig(elements...)
}

// Places are the paths that are not "".
func Places(paths ...string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return p == "" })
}

func below(dir string, elements []string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, elements...)...)
}

// Env is what a harness may know of what it is to discover.
type Env struct {
	// Roots are the harness's directories, in order, absolute: those that the
	// configuration names, else those of Harness.Roots.
	Roots []string
	// FolderExcluded reports whether the configuration excludes a project
	// folder by its encoded name (Claude Code's form). It is asked before the
	// folder is listed.
	FolderExcluded func(name string) bool
	// PathExcluded reports whether a path lies in an excluded project.
	PathExcluded func(path string) bool
	// Excluding says that the configuration excludes something: then a record that could be
	// of an excluded project, and names no directory, is not to be read.
	Excluding bool
}

// A Resumer is a Harness whose agent can go on with a session.
type Resumer interface {
	// Resume is the command that goes on with the session of that id, a word
	// each, run in the session's working directory.
	Resume(sessionID string) []string
}

// A Keyer is a Harness that tells a session's key by the path of its transcript
// alone, so that a transcript is known that was moved and not read since.
type Keyer interface {
	// KeyAt is the key of the transcript at a canonical path.
	KeyAt(path string) string
}

// A Rooter is a Harness that tells by the path of a transcript where the agent
// keeps its sessions. A transcript that is not there has gone only where that
// directory is.
type Rooter interface {
	// RootAt is the directory that holds every session beside the transcript at a
	// canonical path, "" where the path does not tell.
	RootAt(path string) string
}

// A Modifier is a Harness that knows which of its agent's tools change files.
type Modifier interface {
	// Modifies reports whether a call of the tool of that name changes the files
	// that it names.
	Modifies(tool string) bool
}

// A Bulky is a Harness that says which of a record's bytes may be left out of the
// archive by a capture mode.
type Bulky interface {
	Bulk() Bulk
}

// Bulk is where the records of an agent hold what its tools returned.
type Bulk struct {
	// Members are the names of members of a record's object; of the row, where
	// records are rows.
	Members []string
	// Kept, if not nil, reports whether the value of such a member, compact JSON, is
	// no tool's output after all and is never left out.
	Kept func(member string, value []byte) bool
}

// A Harness reads the sessions of one coding agent.
type Harness interface {
	// ID names the harness in session keys and flags: lower case, stable for ever.
	ID() string
	// Name is what people call the agent.
	Name() string
	// Seen names the versions of the agent whose real stores were read, "" where it was written
	// from documents alone.
	Seen() string
	// Roots are the directories in which the agent keeps its sessions on such a machine
	// unless the configuration says otherwise, "" left out, whether they exist or not. The
	// variables that the agent itself honours are honoured.
	Roots(m Machine) []string
	// Discover lists what exists now, in a stable order. A store or folder that
	// cannot be read is yielded as an error (a *Problem), never taken for an
	// empty one; discovery goes on after it.
	Discover(ctx context.Context, env Env) iter.Seq2[Transcript, error]
	// Tail yields the records of a Rows transcript, one at a time, in the order
	// in which the agent shows them.
	Tail(ctx context.Context, t Transcript) iter.Seq2[transcript.Record, error]
	// Turns reads one archived record into zero or more turns, and notes in s
	// what the record tells of the session. It is pure: ingest and reindex
	// call it, it sees no file. The turns alias record and are valid until the
	// next call.
	Turns(record []byte, s *transcript.State) []transcript.Turn
}

// A Problem is a place of an agent's store that could not be read.
type Problem struct {
	Path string
	Err  error
}

func (p *Problem) Error() string { return p.Path + ": " + p.Err.Error() }

func (p *Problem) Unwrap() error { return p.Err }
