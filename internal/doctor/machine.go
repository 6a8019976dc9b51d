package doctor

import (
	"context"
	"errors"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/feedback"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/wire"
	"github.com/terminus-archive/terminus/internal/wire/claude"
)

// A machine is what more than one check looks at, read once and before the first
// check. Each thing has its own error, so that one that cannot be read hides no
// other.
type machine struct {
	Options
	around config.Surrounding

	places    config.Wiring
	placesErr error
	wired     claude.Status // zero where placesErr

	dirs    config.Directories
	dirsErr error
	cfg     *config.Config
	cfgErr  error

	archive     *search.Reader // nil where cfgErr or archiveErr
	archiveErr  error
	older       bool
	logUnread   bool
	status      search.Status // without its last run
	statusErr   error
	run         *search.Run
	runErr      error
	kept        map[string]bool // the keys of the sessions that are archived
	lastSweep   sweep
	lastPrompt  trace             // the newest decision
	transcripts []ingest.Standing // of Claude Code, the one that was written last comes last

	// stable is set by the check of the binary: what stands at the stable path is
	// this build.
	stable bool
}

func newMachine(ctx context.Context, o Options) *machine {
	m := &machine{Options: o, around: o.Environ.Surrounding()}
	m.dirs, m.dirsErr = config.Dirs(o.Environ)
	m.cfg, m.cfgErr = config.LoadWith(o.Environ, m.dirs)
	if m.places, m.placesErr = o.Environ.Wiring(); m.placesErr == nil {
		m.wired = m.wiring().Status()
	}
	if m.cfgErr == nil && m.dirsErr == nil {
		m.openArchive(ctx)
		m.survey(ctx)
	}
	return m
}

func (m *machine) close() {
	if m.archive != nil {
		_ = m.archive.Close() // it was only read
	}
}

func (m *machine) wiring() claude.Wiring {
	receipt, err := wire.ReadReceipt(m.places.Receipt)
	if err != nil {
		receipt = wire.Receipt{} // what it recorded is then another install's
	}
	return claude.Wiring{Settings: m.places.ClaudeSettings, State: m.places.ClaudeState, Own: receipt.Own(m.places.Binary)}
}

// openArchive opens the archive and reads what is asked of it. A pass that begins
// meanwhile may make the one or the other fail: then its files are there, and a
// second look succeeds.
func (m *machine) openArchive(ctx context.Context) {
	for range 2 {
		m.close()
		m.archive, m.logUnread, m.archiveErr = search.OpenStill(ctx, m.cfg)
		if m.archiveErr != nil {
			m.archive = nil
			continue
		}
		m.older = m.archive.Older()
		if m.readArchive(ctx); m.statusErr == nil && m.runErr == nil {
			return
		}
	}
}

func (m *machine) readArchive(ctx context.Context) {
	snap, err := m.archive.Snapshot(ctx)
	if err != nil {
		m.statusErr, m.runErr = err, err
		return
	}
	m.status, m.statusErr = snap.Totals(ctx)
	m.run, m.runErr = snap.LastRun(ctx)
	snap.Close()
	list, err := m.archive.Sessions(ctx, search.SessionQuery{Scope: search.Scope{Project: search.AllProjects}})
	m.kept = map[string]bool{}
	for i := range list.Sessions {
		m.kept[list.Sessions[i].SessionKey] = true
	}
	if m.statusErr == nil {
		m.statusErr = err
	}
	log, err := feedback.Log(ctx, m.archive, m.cfg.DataDir, feedback.LogQuery{Limit: 1})
	if err == nil && len(log.Decisions) > 0 { // a log that cannot be read tells of no run
		d := log.Decisions[0]
		m.lastPrompt = trace{at: d.TS, dir: d.CWD, ms: untimed}
	}
}

// survey lists the transcripts of Claude Code.
func (m *machine) survey(ctx context.Context) {
	db, _, err := store.OpenStill(ctx, store.Path(m.cfg.DataDir))
	var all []ingest.Standing
	switch {
	case err == nil:
		defer db.Close()
		all, err = ingest.Survey(ctx, m.cfg, registry.All(), db)
	case errors.Is(err, store.ErrNoStore):
		all, err = ingest.Survey(ctx, m.cfg, registry.All(), nil)
	}
	if err == nil {
		m.transcripts = claudeOnly(all)
	}
	m.lastSweep = readSweep(m)
}

// exe is a command line that runs this build.
func (m *machine) exe(args string) string { return call(m.Exe, m.Environ.GOOS, args) }

// plugged reports whether a plugin of Claude Code does what install wires, and no entry
// stands in its way.
func (m *machine) plugged() bool {
	if m.wired.Plugin == "" || m.wired.MCP.Entry != nil {
		return false
	}
	for _, h := range m.wired.Hooks {
		if len(h.Ours)+len(h.Others) > 0 {
			return false
		}
	}
	return true
}

// onPath is the program that the name terminus means, or "". What it is is not asked:
// a package manager may have put a script there.
func (m *machine) onPath() string { return findProgram(m.around.Path, "terminus", m.Environ.GOOS) }

// install is the fix of whatever install writes.
func (m *machine) install() string { return m.exe("install") }
