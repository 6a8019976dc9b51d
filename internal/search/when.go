package search

import (
	"fmt"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
)

const dayForm = "2006-01-02"

// Since reads the lower bound of a window: a day, which begins at midnight, or
// an instant as the archive writes it. The result is in the archive's form. A
// day or time that does not exist is an error.
func Since(text string) (string, error) { return bound(text, "T00:00:00.000Z") }

// Until reads the upper bound of a window, which is part of the window: a day
// lasts until its last millisecond.
func Until(text string) (string, error) { return bound(text, "T23:59:59.999Z") }

func bound(text, rest string) (string, error) {
	if is(dayForm, text) {
		return text + rest, nil
	}
	if is(archive.TimeForm, text) {
		return text, nil
	}
	if shaped(dayForm, text) || shaped(archive.TimeForm, text) {
		if day := text[:len(dayForm)]; !is(dayForm, day) {
			return "", fmt.Errorf("%s is not in the calendar", day)
		}
		return "", fmt.Errorf("%s is no time of day", text[len(dayForm)+1:])
	}
	return "", fmt.Errorf("%q is neither a day (YYYY-MM-DD) nor an instant (YYYY-MM-DDTHH:MM:SS.mmmZ)", text)
}

// Later reports whether a turn's time, as its harness wrote it, lies after at: as
// an instant, whatever its zone, and where it is none, as text.
func Later(ts string, at time.Time) bool {
	if t, ok := archive.ParseTime(ts); ok {
		return t.After(at)
	}
	return ts > archive.Stamp(at)
}

// is reports whether text is a time in exactly that form: time.Parse alone
// takes a one-digit hour and a comma before the fraction.
func is(form, text string) bool {
	t, err := time.Parse(form, text)
	return err == nil && t.Format(form) == text
}

// shaped reports whether text has a digit where form has one, and is form
// everywhere else.
func shaped(form, text string) bool {
	if len(form) != len(text) {
		return false
	}
	for i := range len(form) {
		if digit := '0' <= form[i] && form[i] <= '9'; digit && (text[i] < '0' || text[i] > '9') || !digit && text[i] != form[i] {
			return false
		}
	}
	return true
}
