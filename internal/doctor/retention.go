package doctor

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/wire/jsonedit"
)

const (
	// cleanupKey is the setting by which Claude Code deletes old transcripts, and
	// defaultDays what it means where it is not set.
	cleanupKey  = "cleanupPeriodDays"
	defaultDays = 30
	// enoughDays is the contract's bound below which the setting is worth a note,
	// and longDays the value that is recommended then: ten years.
	enoughDays = 90
	longDays   = 3650

	hoursOfDay = 24
	// maxNamed is how many transcripts are named; the others are counted.
	maxNamed = 3
)

// cleanupPeriod is how long Claude Code keeps a transcript, and which ones it will
// delete next.
type cleanupPeriod struct{}

func (cleanupPeriod) name() string { return "cleanup_period_days" }

func (c cleanupPeriod) look(_ context.Context, m *machine) Finding {
	value, file := m.effective(cleanupKey)
	days, known := m.keptDays()
	switch {
	case !known:
		return problem("%s is not a number, set in %s", cleanupKey, file)
	case days >= enoughDays:
		return c.endangered(ok("%s is %s, set in %s", cleanupKey, value.Text(), file), m, days)
	case file == "":
		return note("%s is not set: Claude Code deletes a transcript that has not been written for %s", cleanupKey, inDays(days))
	}
	f := note("%s is %s, set in %s", cleanupKey, value.Text(), file)
	if value.Kind() == jsonedit.Absent {
		f = note("%s is not set", cleanupKey)
	}
	if days < 1 {
		f = f.and("Claude Code refuses a value below 1, or saves nothing at all")
	} else {
		f = f.and("Claude Code deletes a transcript that has not been written for %s", inDays(days))
	}
	return c.endangered(f, m, days).fix(`set "%s": %d in %s`, cleanupKey, longDays, file)
}

// keptDays is how long Claude Code keeps a transcript; known is false where the
// setting is not a number.
func (m *machine) keptDays() (days float64, known bool) {
	value, _ := m.effective(cleanupKey)
	switch value.Kind() {
	case jsonedit.Absent:
		return defaultDays, true
	case jsonedit.Number:
		days, err := strconv.ParseFloat(value.Text(), 64)
		return days, err == nil || math.IsInf(days, 0)
	}
	return 0, false
}

func inDays(days float64) string {
	if days == 1 {
		return "1 day"
	}
	return strconv.FormatFloat(days, 'f', -1, 64) + " days"
}

// endangered adds the transcripts that the next sweep deletes, or the one that goes
// first, and what earlier sweeps have left.
func (cleanupPeriod) endangered(f Finding, m *machine, days float64) Finding {
	if days >= 1 {
		f = due(f, m.transcripts, m.Now, days)
	}
	return m.lastSweep.told(f)
}

// due tells of the transcripts, of which the oldest comes first.
func due(f Finding, all []ingest.Standing, now time.Time, days float64) Finding {
	if len(all) == 0 || days > maxDays {
		return f
	}
	keep := time.Duration(days * hoursOfDay * float64(time.Hour))
	n, missing := 0, 0
	var named []string
	for i := range all {
		written := time.Unix(0, all[i].Transcript.Stat.Mtime)
		if now.Sub(written) <= keep {
			break
		}
		n++
		if !all[i].Archived {
			missing++
		}
		if len(named) < maxNamed {
			named = append(named, fmt.Sprintf("%s (last written %s, %s)", all[i].Transcript.Path, day(written), archived(all[i])))
		}
	}
	if n == 0 {
		goes := time.Unix(0, all[0].Transcript.Stat.Mtime).Add(keep)
		return f.and("the first transcript to go is %s, on %s (%s)", all[0].Transcript.Path, day(goes), archived(all[0]))
	}
	if more := n - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	state := fmt.Sprintf("%d of them not archived", missing)
	switch missing {
	case 0:
		state = "all archived"
	case n:
		state = "none archived"
	}
	return f.and("the next sweep deletes %s, %s: %s", count(n, "transcript"), state, strings.Join(named, ", "))
}

// maxDays is a hundred years: what is kept for longer is not in danger, and two of
// these periods fit a time.Duration.
const maxDays = 36_500

func archived(s ingest.Standing) string {
	if s.Archived {
		return "archived"
	}
	return "not archived"
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
