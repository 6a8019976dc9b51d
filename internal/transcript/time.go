package transcript

import (
	"math"
	"strings"
	"time"
)

// timeForm is the form of every time that an agent does not write as a text of
// RFC 3339 already, and of those that it writes with another zone than Z.
const timeForm = "2006-01-02T15:04:05.000Z"

// textForms are the forms in which agents write a time as text.
var textForms = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04Z07:00", "2006-01-02",
}

// longestTime bounds a text that may be a time, in bytes: somewhat more than the longest of
// textForms, for fractions of more digits than nine.
const longestTime = 43

// The bounds between the units in which agents count: a number of seconds beyond
// 1e11 would lie in the year 5138.
const (
	fromMillis = 1e11
	fromMicros = 1e14
	fromNanos  = 1e17
	// noTime is a number of nanoseconds that lies some 300 years from 1970, beyond which their
	// number has no room in 64 bits.
	noTime = 1e19
)

// Time is the time that a value tells, as RFC 3339 in UTC: a text in one of the usual
// forms (one of RFC 3339 that ends with Z is taken as it stands), or a number, or a text
// that is a number, of seconds, milliseconds, microseconds or nanoseconds since 1970. It
// is "" for anything else.
func Time(v Value) string {
	if v.Kind() == '"' {
		if t := TextTime(v.String()); t != "" {
			return t
		}
	}
	if n, ok := v.Number(); ok {
		return NumberTime(n)
	}
	return ""
}

// TextTime is Time of a text. What has no zone is taken as UTC.
func TextTime(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > longestTime {
		return ""
	}
	for i, form := range textForms {
		t, err := time.Parse(form, text)
		switch {
		case err != nil:
			continue
		case i == 0 && strings.HasSuffix(text, "Z"):
			return text
		}
		return wellFormed(t)
	}
	return ""
}

// NumberTime is Time of a number.
func NumberTime(n float64) string {
	unit := float64(time.Second)
	switch a := math.Abs(n); {
	case a == 0 || math.IsNaN(a) || a > noTime:
		return ""
	case a >= fromNanos:
		unit = 1
	case a >= fromMicros:
		unit = float64(time.Microsecond)
	case a >= fromMillis:
		unit = float64(time.Millisecond)
	}
	perSecond := float64(time.Second) / unit
	whole, part := math.Modf(n / perSecond)
	return wellFormed(time.Unix(int64(whole), int64(part*float64(time.Second))))
}

// wellFormed is a time that RFC 3339 can write, "" for any other.
func wellFormed(t time.Time) string {
	t = t.UTC().Round(time.Millisecond)
	if y := t.Year(); y < 1 || y > 9999 {
		return ""
	}
	return t.Format(timeForm)
}
