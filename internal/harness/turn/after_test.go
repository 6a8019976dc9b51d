package turn

import "testing"

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
