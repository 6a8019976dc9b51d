package cli

import (
	"testing"
	"time"
)

func TestAMeterCountsWhatItIsToldToCount(t *testing.T) {
	for _, tc := range []struct {
		unit        string
		done, total int64
		want        string
	}{
		{"", 500_000, 1_000_000, "500.0 KB of 1.0 MB, 250.0 KB/s, 2s left"},
		{"session", 0, 400, "0 of 400 sessions"},
		{"session", 100, 400, "100 of 400 sessions, 6s left"},
		{"session", 400, 400, "400 of 400 sessions"},
	} {
		m := meter{unit: tc.unit}
		if got := m.line(tc.done, tc.total, 2*time.Second); got != tc.want {
			t.Errorf("%d of %d: %q, want %q", tc.done, tc.total, got, tc.want)
		}
	}
}
