package archive

import (
	"testing"
	"time"
)

func TestATimeIsReadInEveryFormThatAgentsWrite(t *testing.T) {
	want := time.Date(2026, 8, 12, 21, 0, 0, 0, time.UTC)
	half := want.Add(500 * time.Millisecond)
	for text, want := range map[string]time.Time{
		"2026-08-12T21:00:00.000Z":       want,
		"2026-08-12T21:00:00Z":           want,
		"2026-08-12t21:00:00z":           want,
		"2026-08-12 21:00:00":            want,
		" 2026-08-12T21:00:00 ":          want,
		"2026-08-12T23:00:00+02:00":      want,
		"2026-08-12T23:00:00+0200":       want,
		"2026-08-12T23:00:00+02":         want,
		"2026-08-12 19:30:00-01:30":      want,
		"2026-08-12T21:00:00.5Z":         half,
		"2026-08-12T21:00:00.500000000Z": half,
		"2026-08-12 21:00:00.500":        half,
	} {
		if got, ok := ParseTime(text); !ok || !got.Equal(want) {
			t.Errorf("%q is %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "long ago", "1786568400000", "2026-08-12", "2026-13-12T21:00:00Z", "2026-08-12T25:00:00Z", "21:00:00", "now"} {
		if got, ok := ParseTime(text); ok {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}
