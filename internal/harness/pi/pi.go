// Package pi reads the sessions of pi and of the agents that keep theirs in the same form: Oh
// My Pi, prime-agent, OpenClaw, gajae-code, Senpi and Kimchi.
//
// A session is a file of JSON records, one a line:
//
//	sessions/<encoded directory>/<time>_<id>.jsonl
//
// Its first record is a header; every other is an entry of a tree, by `id` and `parentId`. A
// branch that was left stays in the file. A fork is a new file with copies of the entries that
// it begins with. Records are appended; a session of an older form is written anew in the
// present one when pi opens it.
//
// Discovery opens no session: it reads directories, names and stats.
package pi

import (
	"context"
	"iter"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is one agent of the family. It holds no state and may be used by several goroutines.
type Harness struct {
	id, name, seen string
	roots          func(m harness.Machine) []string
	// session reports whether a file is a session, by its name; stem is the name without what
	// stands behind the session's.
	session func(name string) (stem string, ok bool)
	// sessions is the directory above all sessions of one store.
	sessions string
	// database, if not "", is the file in which the agent keeps its sessions beside the files.
	database string
}

// Resumable is a Harness whose agent goes on with a session by its id.
type Resumable struct {
	Harness
	command []string
}

var (
	_ harness.Harness  = Harness{}
	_ harness.Keyer    = Harness{}
	_ harness.Rooter   = Harness{}
	_ harness.Modifier = Harness{}
	_ harness.Resumer  = Resumable{}
)

func family(id, name, seen string, roots func(m harness.Machine) []string) Harness {
	return Harness{id: id, name: name, seen: seen, roots: roots, session: jsonLines, sessions: sessionsName}
}

// Pi is pi, of the package pi-coding-agent.
func Pi() harness.Harness {
	return Resumable{family("pi", "pi", "0.73", func(m harness.Machine) []string {
		agent := m.Variable("PI_CODING_AGENT_DIR", m.Below(".pi", "agent"))
		return harness.Places(m.Variable("PI_CODING_AGENT_SESSION_DIR", below(agent, sessionsName)))
	}), []string{"pi", "--session"}}
}

// OMP is Oh My Pi. Each of its profiles has sessions of its own.
func OMP() harness.Harness {
	return Resumable{family("omp", "Oh My Pi", "", func(m harness.Machine) []string {
		return harness.Places(
			m.Below(".omp", "agent", sessionsName), m.Below(".omp", profilesName),
			m.XDGData("omp", sessionsName), m.XDGData("omp", profilesName),
		)
	}), []string{"omp", "--resume"}}
}

// Prime is prime-agent.
func Prime() harness.Harness {
	return family("prime", "prime-agent", "", func(m harness.Machine) []string {
		otherwise := m.Variable("PRIME_AGENT_CODING_AGENT_SESSION_DIR", m.Below(".prime", "agent", sessionsName))
		return harness.Places(m.Variable("PRIME_AGENT_SESSION_DIR", otherwise))
	})
}

// GJC is gajae-code.
func GJC() harness.Harness {
	return family("gjc", "gajae-code", "", func(m harness.Machine) []string {
		return harness.Places(below(m.Variable("GJC_CODING_AGENT_DIR", m.Below(".gjc", "agent")), sessionsName))
	})
}

// Senpi is Senpi.
func Senpi() harness.Harness {
	return family("senpi", "Senpi", "", func(m harness.Machine) []string {
		return harness.Places(below(m.Variable("SENPI_CODING_AGENT_DIR", m.Below(".senpi", "agent")), sessionsName))
	})
}

// Kimchi is Kimchi Coding.
func Kimchi() harness.Harness {
	return Resumable{family("kimchi", "Kimchi", "", func(m harness.Machine) []string {
		return harness.Places(below(m.Variable("KIMCHI_CODING_AGENT_DIR", m.XDGConfig("kimchi", "harness")), sessionsName))
	}), []string{"kimchi", "--session"}}
}

// OpenClaw is OpenClaw, whose gateway keeps the sessions of several agents, in files and later
// in a database. It goes on with a session by a name of another kind than its id.
func OpenClaw() harness.Harness {
	return Harness{
		id: "openclaw", name: "OpenClaw",
		roots: func(m harness.Machine) []string {
			return harness.Places(below(m.Variable("OPENCLAW_STATE_DIR", m.Below(".openclaw")), agentsName))
		},
		session: clawFile, sessions: agentsName, database: clawDatabase,
	}
}

// ID is the agent's name in session keys.
func (h Harness) ID() string { return h.id }

// Name is what people call the agent.
func (h Harness) Name() string { return h.name }

// Seen is the version that wrote the store that was read, "" where there was none.
func (h Harness) Seen() string { return h.seen }

// Roots are the directories of sessions, or of profiles or agents that have such directories.
func (h Harness) Roots(m harness.Machine) []string { return h.roots(m) }

// Resume is the agent's command with the id.
func (h Resumable) Resume(sessionID string) []string {
	return append(h.command[:len(h.command):len(h.command)], sessionID)
}

// tools are the tools of the whole family: where two agents have one of the same name, its
// arguments are the same.
var tools = turn.Tools{
	"bash":        {Commands: []string{"command"}},
	"exec":        {Commands: []string{"command"}},
	"shell":       {Commands: []string{"command"}},
	"read":        {Paths: []string{"path", "file_path"}},
	"write":       {Paths: []string{"path", "file_path"}, Changes: true},
	"edit":        {Paths: []string{"path", "file_path"}, Code: []string{"oldText", "newText", "old_text", "new_text", "edits.oldText", "edits.newText"}, Changes: true},
	"apply_patch": {Patch: "input", Changes: true},
	"grep":        {Paths: []string{"path"}, Code: []string{"pattern"}},
	"find":        {Paths: []string{"path"}, Code: []string{"pattern"}},
	"ls":          {Paths: []string{"path"}},
	"ipython":     {Code: []string{"code"}},
	"python":      {Code: []string{"code"}},
	"eval":        {Code: []string{"code"}},
}

// Modifies is true of the tools that edit or write a file.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }

// Tail yields the records of a session in OpenClaw's database. Any other is a file of lines,
// which the caller reads itself: it yields one error.
func (h Harness) Tail(ctx context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	if t.Kind != harness.Rows {
		return harness.NoTail(t)
	}
	return func(yield func(transcript.Record, error) bool) { clawTail(ctx, t, yield) }
}
