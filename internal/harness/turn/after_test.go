package turn

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestATurnWithoutATimeStandsBehindTheOneBeforeIt(t *testing.T) {
	s := &transcript.State{}
	var got []string
	for _, own := range []string{"", "", "2026-03-01T10:05:00Z", ""} {
		if own == "" {
			own = Next(s, "2026-03-01T10:00:00Z")
		}
		s.SeeTurn(own, "")
		got = append(got, own)
	}
	want := [4]string{"2026-03-01T10:00:00.000Z", "2026-03-01T10:00:00.001Z", "2026-03-01T10:05:00Z", "2026-03-01T10:05:00.001Z"}
	if [4]string(got) != want {
		t.Errorf("times are %q, want %q", got, want)
	}
}

func TestTurnsWithoutATimeFollowTheBeginningOfTheirSession(t *testing.T) {
	for _, tc := range []struct {
		start string
		n     int64
		want  string
	}{
		{"2026-03-01T10:00:00.000Z", 0, "2026-03-01T10:00:00.000Z"},
		{"2026-03-01T10:00:00.500Z", 1500, "2026-03-01T10:00:02.000Z"},
		{"2026-03-01T10:00:00+02:00", 7, "2026-03-01T08:00:00.007Z"},
		{"", 1, ""},
		{"yesterday", 1, ""},
		{"9999-12-31T23:59:59Z", 1 << 62, ""},
	} {
		if got := After(tc.start, tc.n); got != tc.want {
			t.Errorf("After(%q, %d) = %q, want %q", tc.start, tc.n, got, tc.want)
		}
	}
}
