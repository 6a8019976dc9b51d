package cli

import (
	"math"
	"testing"

	"github.com/terminus-archive/terminus/internal/search"
)

func TestWholeFlagTakesWholeNumbersOnly(t *testing.T) {
	for in, want := range map[string]int{"1": 1, "007": 7, "50": 50, "99999999999999999999999": math.MaxInt} {
		var n int
		if err := (wholeFlag{&n, 1}).Set(in); err != nil || n != want {
			t.Errorf("%q: %d, %v, want %d", in, n, err, want)
		}
	}
	for _, in := range []string{"", "0", "-1", "+1", "1.0", "1e3", "ten", " 1", "0x10"} {
		n := 42
		if err := (wholeFlag{&n, 1}).Set(in); err == nil || n != 42 {
			t.Errorf("%q was taken", in)
		}
	}
}

func TestTimeFlagTakesDaysAndInstantsOfTheCalendar(t *testing.T) {
	for in, want := range map[string]string{
		"2026-08-12": "2026-08-12T23:59:59.999Z", "2024-02-29": "2024-02-29T23:59:59.999Z",
		"2026-08-12T21:00:00.000Z": "2026-08-12T21:00:00.000Z",
	} {
		var got string
		if err := (timeFlag{&got, search.Until}).Set(in); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "2026-02-30", "2025-02-29", "2026-13-01", "2026-8-12", "12.08.2026", "yesterday", "2026-08-12T21:00:00Z",
		"2026-08-12T24:00:00.000Z", "2026-08-12T21:00:60.000Z", "2026-08-12T21:00:00,000Z", "2026-08-12 21:00:00.000Z", "2026-08-12T21:00:00.000+00:00",
	} {
		var got string
		if err := (timeFlag{&got, search.Since}).Set(in); err == nil {
			t.Errorf("%q was taken as %q", in, got)
		}
	}
}

func TestRangeFlagReadsBothEnds(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	same := func(a, b *int64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
	for in, want := range map[string][2]*int64{
		"3-5": {n(3), n(5)}, "3-": {n(3), nil}, "-5": {nil, n(5)}, "4": {n(4), n(4)}, "0-0": {n(0), n(0)},
	} {
		var first, last *int64
		if err := (rangeFlag{&first, &last}).Set(in); err != nil || !same(first, want[0]) || !same(last, want[1]) {
			t.Errorf("%q: %v %v %v", in, first, last, err)
		}
	}
	for _, in := range []string{"", "-", "5-3", "a-b", "1-2-3", "--1", "1.5-2"} {
		var first, last *int64
		if err := (rangeFlag{&first, &last}).Set(in); err == nil {
			t.Errorf("%q was taken", in)
		}
	}
}

func TestATimeThatDoesNotExistIsToldFromOneThatIsMisspelt(t *testing.T) {
	for in, want := range map[string]string{
		"2026-02-30":               "2026-02-30 is not in the calendar",
		"2026-13-01T21:00:00.000Z": "2026-13-01 is not in the calendar",
		"2026-08-12T24:00:00.000Z": "24:00:00.000Z is no time of day",
		"2026-8-12":                `"2026-8-12" is neither a day (YYYY-MM-DD) nor an instant (YYYY-MM-DDTHH:MM:SS.mmmZ)`,
	} {
		var got string
		if err := (timeFlag{&got, search.Since}).Set(in); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}
