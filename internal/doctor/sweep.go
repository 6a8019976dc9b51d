package doctor

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/claude"
	"github.com/terminus-archive/terminus/internal/ingest"
)

// A sweep is what can be told of the transcripts that Claude Code has deleted.
type sweep struct {
	at   time.Time // the last one; zero where nothing tells
	gone int       // sessions that have left a trace and no transcript
	kept int       // of those, the archived ones
}

// Where Claude Code leaves the time of its last sweep, and a folder for each session
// that ran a command.
const (
	sweepFile  = ".last-cleanup"
	sessionEnv = "session-env"
	// maxStamp is more than any spelling of a time takes.
	maxStamp = 64
)

func readSweep(m *machine) sweep {
	var s sweep
	if m.placesErr != nil {
		return s
	}
	s.at = stampOf(filepath.Join(m.places.Claude, sweepFile))
	entries, err := os.ReadDir(filepath.Join(m.places.Claude, sessionEnv))
	if err != nil {
		return s
	}
	there := map[string]bool{}
	for i := range m.transcripts {
		there[m.transcripts[i].Transcript.Key] = true
	}
	for _, e := range entries {
		key := e.Name() + ".jsonl"
		if !e.IsDir() || !isSessionID(e.Name()) || there[key] {
			continue
		}
		s.gone++
		if m.kept[key] {
			s.kept++
		}
	}
	return s
}

// isSessionID reports whether a name is spelled like a UUID.
func isSessionID(name string) bool {
	const length, hyphens = 36, 4
	return len(name) == length && strings.Count(name, "-") == hyphens && strings.Trim(name, "0123456789abcdefABCDEF-") == ""
}

// stampOf reads a time out of a small file: what it holds, else when it was written.
func stampOf(path string) time.Time {
	f, stat, err := fsx.OpenRegular(path)
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxStamp))
	if err == nil {
		if at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text))); err == nil {
			return at
		}
	}
	return time.Unix(0, stat.Mtime)
}

func (s sweep) told(f Finding) Finding {
	if !s.at.IsZero() {
		f = f.and("the last sweep was on %s", day(s.at))
	}
	if s.gone > 0 {
		f = f.and("of %s there are traces and no transcript, and the archive has %d of them", count(s.gone, "session"), s.kept)
	}
	return f
}

// claudeOnly keeps the transcripts of Claude Code, and sorts them by when they were
// written.
func claudeOnly(all []ingest.Standing) []ingest.Standing {
	own := slices.DeleteFunc(all, func(s ingest.Standing) bool {
		return s.Harness != (claude.Harness{}).ID() || s.Transcript.Kind != harness.Lines
	})
	slices.SortStableFunc(own, func(a, b ingest.Standing) int {
		return cmp.Or(cmp.Compare(a.Transcript.Stat.Mtime, b.Transcript.Stat.Mtime), cmp.Compare(a.Transcript.Path, b.Transcript.Path))
	})
	return own
}
