package doctor

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/restore"
	"github.com/terminus-archive/terminus/internal/store"
)

// archiveStore is the archive: whether it can be opened and counted. Whether its
// bytes are whole is verify's to say.
type archiveStore struct{}

func (archiveStore) name() string { return "store" }

func (archiveStore) look(ctx context.Context, m *machine) Finding {
	switch {
	case m.unknowable() != "":
		return unknown("%s", m.unknowable())
	case m.archiveErr != nil:
		return m.withSnapshot(ctx, problem("%v", m.archiveErr), m.archiveErr)
	case m.statusErr != nil:
		return m.withSnapshot(ctx, problem("%v", m.statusErr), m.statusErr)
	case m.status.Store == nil:
		return m.withSnapshot(ctx, note("%s", m.status.Reason), nil)
	}
	f := ok("%s holds %s and %s of %s", *m.status.Store, count(int(m.status.Sessions), "session"),
		count(int(m.status.Turns), "turn"), count(int(m.status.Watermarks), "transcript"))
	if m.logUnread {
		f = f.and("what stands in its log is not counted in: that would make a file")
	}
	if m.older {
		return f.noted("its index was made by another version, and the next pass makes it anew").fix("%s", m.exe("reindex"))
	}
	return f
}

// withSnapshot is f with the way back to the newest snapshot, where that is what helps:
// the archive is damaged, or gone. It is no fix: what came since may be lost by it, so
// that a person has to choose it.
func (m *machine) withSnapshot(ctx context.Context, f Finding, why error) Finding {
	if why != nil && !store.IsKind(why, store.Damaged) {
		return f
	}
	s, found := restore.Newest(ctx, m.cfg.DataDir)
	if !found {
		return f
	}
	return f.and("the newest snapshot that can be opened is of %s, and takes its place by: %s",
		archive.Stamp(s.Taken), m.exe("snapshot restore "+s.Name))
}

// unknowable says why nothing can be told of the archive, or "".
func (m *machine) unknowable() string {
	switch {
	case m.dirsErr != nil:
		return "where the archive is cannot be told"
	case m.cfgErr != nil:
		return "the configuration does not load"
	}
	return ""
}

// lastRun is how the last pass went, and whether it is too long ago.
type lastRun struct{}

func (lastRun) name() string { return "last_run" }

// maxError is how many bytes are shown of an error.
const maxError = 200

func (l lastRun) look(_ context.Context, m *machine) Finding {
	switch {
	case m.unknowable() != "":
		return unknown("%s", m.unknowable())
	case m.archiveErr != nil:
		return unknown("the archive cannot be opened")
	case m.runErr != nil:
		return problem("the log of passes cannot be read: %v", m.runErr)
	case m.statusErr == nil && m.status.Store == nil:
		return unknown("there is no archive yet")
	case m.run == nil:
		return note("no pass has run yet")
	}
	r := m.run
	if r.Error != nil || r.FilesFailed > 0 {
		f := problem("the pass of %s failed for %s", r.StartedAt, count(int(r.FilesFailed), "transcript"))
		if r.Error != nil {
			f.Finding = "the pass of " + r.StartedAt + " met a failure: " + cut(firstLine(*r.Error), maxError)
		}
		return f.fix("%s", m.exe("ingest"))
	}
	f := ok("the pass of %s took in %s of %d", r.StartedAt, count(int(r.FilesCommitted), "transcript"), r.FilesSeen)
	return l.overdue(f, m)
}

// overdue says when no pass has run for so long that a transcript can have come and
// gone unseen.
func (lastRun) overdue(f Finding, m *machine) Finding {
	started, err := time.Parse(archive.TimeForm, m.run.StartedAt)
	keep, known := m.keptDays()
	if err != nil || !known {
		return f
	}
	days := int(m.Now.Sub(started).Hours() / hoursOfDay)
	if float64(days) <= keep {
		return f
	}
	return f.noted("that is %s ago, and Claude Code keeps a transcript for %s: its hooks have not run since, and what was written meanwhile may be gone",
		count(days, "day"), inDays(keep)).fix("%s", m.exe("ingest"))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// cut is s, or as much of its beginning as has at most n bytes, between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
