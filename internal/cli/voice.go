package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/search"
)

// How Terminus speaks to people.
//
//   - Data goes to stdout; everything else (errors, warnings, counts, progress)
//     to stderr. With --json the document is the answer: counts and failures
//     are in it, and only warnings are still printed.
//   - An error or a warning is one line that begins with "terminus: ", is lower
//     case and ends without a full stop. Counts and other remarks have no prefix.
//   - A name, path or text that came from outside is shown with its control and
//     bidirectional characters escaped, whoever reads it. The one exception is
//     the archived line of `show` into a pipe, which is the bytes themselves.
//   - Colour and fitting to the width are for terminals; a pipe gets whole lines.
//     NO_COLOR and TERM=dumb switch colour off.
//   - Sizes are exact bytes with KiB, MiB and so on behind them where they describe
//     the archive, and KB, MB and so on where work is measured: an estimate, progress.
//   - Two spaces part columns, one thing is singular, an absent value is named in
//     parentheses.

// errorf says what made the run fail.
func (e *env) errorf(format string, args ...any) {
	e.say("terminus: " + visible(fmt.Sprintf(format, args...)))
}

// warnf says what the reader should know although the run goes on.
func (e *env) warnf(format string, args ...any) {
	e.say("terminus: warning: " + visible(fmt.Sprintf(format, args...)))
}

// notef is for counts and remarks. With --json they are in the document.
func (e *env) notef(format string, args ...any) {
	e.say(visible(fmt.Sprintf(format, args...)))
}

// reason says why an answer is empty.
func (e *env) reason(why string, elsewhere bool) {
	e.notef("%s", why)
	e.hintElsewhere(elsewhere)
}

// hintElsewhere says how to look past a scope.
func (e *env) hintElsewhere(elsewhere bool) {
	if elsewhere {
		e.notef("--project '%s' looks at every project", search.AllProjects)
	}
}

// say writes one line to stderr, below the data written so far where both go to
// one terminal. Nobody is left to be told if that fails.
func (e *env) say(line string) {
	e.out.flush()
	_, _ = io.WriteString(e.stderr, line+"\n")
}

// printf writes data to stdout. A failure is kept by the sink and decides the
// exit code at the end.
func (e *env) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(e.out, format, args...)
}

// count puts a number before its noun: "1 hit", "2 hits".
func count[T int | int64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun + "s"
}

// orNone is s, or what stands for an absent value.
func orNone(s *string, none string) string {
	if s == nil || *s == "" {
		return none
	}
	return visible(*s)
}

// day is the date of a time stamp as the transcript spells it: its first ten
// bytes, or all of it where those would cut a character.
func day(ts *string) string {
	const dayLen = len("2006-01-02")
	if ts == nil || *ts == "" {
		return "(no time)"
	}
	s := *ts
	if len(s) > dayLen && isRuneStart(s[dayLen]) {
		s = s[:dayLen]
	}
	return visible(s)
}

// fileName is the last part of a session key.
func fileName(key string) string {
	return visible(key[strings.LastIndexByte(key, '/')+1:])
}

var binaryUnits = []string{"KiB", "MiB", "GiB", "TiB"}

// binarySize is a size for people, in powers of 1024.
func binarySize(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f, unit := float64(n)/1024, 0
	for f >= 1024 && unit < len(binaryUnits)-1 {
		f /= 1024
		unit++
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " " + binaryUnits[unit]
}

// byteCount is a size to the byte, and for people.
func byteCount(n int64) string {
	return count(n, "byte") + " (" + binarySize(n) + ")"
}

// duration is a length of time for people.
func duration(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s < 1:
		return "under a second"
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm %ds", s/60, s%60)
	default:
		return fmt.Sprintf("%dh %dm", s/3600, s%3600/60)
	}
}
