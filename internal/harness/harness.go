// Package harness owns the interface through which every coding agent is read,
// and the registry of the agents that Terminus knows.
//
// A harness says what its store holds now. It never says what changed, never
// writes to the agent's store, and knows nothing of the archive.
package harness

import (
	"context"
	"iter"

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
	// Stat is the file as discovery saw it (Lines only).
	Stat fsx.Stat
	// Stamp changes whenever the rows change (Rows only). An empty stamp means
	// unknown: the rows are read in every pass.
	Stamp string
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

// Env is what a harness may know of the machine.
type Env struct {
	// Roots are the harness's directories, in order.
	Roots []string
	// FolderExcluded reports whether the configuration excludes a project
	// folder by its encoded name (Claude Code's form). It is asked before the
	// folder is listed.
	FolderExcluded func(name string) bool
	// PathExcluded reports whether a path lies in an excluded project.
	PathExcluded func(path string) bool
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
