package cli

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"
)

func TestSizesAndTimesForPeople(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 106496: "104.0 KiB",
		1 << 20: "1.0 MiB", 5 << 30: "5.0 GiB", 3 << 40: "3.0 TiB", 5000 << 40: "5000.0 TiB",
	} {
		if got := binarySize(n); got != want {
			t.Errorf("binarySize(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 KB", 1999: "1.9 KB", 999_999: "999.9 KB", 1_000_000: "1.0 MB",
		1_413_907_546: "1.4 GB", 2_500_000_000_000: "2.5 TB",
	} {
		if got := decimalSize(n); got != want {
			t.Errorf("decimalSize(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "under a second", 999 * time.Millisecond: "under a second", time.Second: "1s", 59 * time.Second: "59s",
		61 * time.Second: "1m 1s", time.Hour: "1h 0m", 25*time.Hour + 90*time.Second: "25h 1m",
	} {
		if got := duration(d); got != want {
			t.Errorf("duration(%v) = %q, want %q", d, got, want)
		}
	}
	if got := count(1, "hit") + ", " + count(0, "hit"); got != "1 hit, 0 hits" {
		t.Error(got)
	}
}

func TestDayNeverCutsACharacter(t *testing.T) {
	for in, want := range map[string]string{
		"2026-08-12T21:00:00.000Z": "2026-08-12", "2026": "2026", "": "(no time)",
		"2026-08-1é": "2026-08-1é", "2026-08-12\x1b": "2026-08-12", "2026-08\x1b12T": `2026-08\x1b12`,
	} {
		if got := day(&in); got != want {
			t.Errorf("day(%q) = %q, want %q", in, got, want)
		}
	}
	if got := day(nil); got != "(no time)" {
		t.Error(got)
	}
}

func TestProgressWaitsASecondAndIsTakenAway(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	m := newMeter(&out, screen{width: 80}, func() time.Time { return clock })
	m.update(1_000_000, 10_000_000)
	clock = clock.Add(900 * time.Millisecond)
	m.update(2_000_000, 10_000_000)
	if out.Len() > 0 {
		t.Fatalf("shown within a second: %q", out.String())
	}
	clock = clock.Add(1100 * time.Millisecond)
	m.update(4_000_000, 10_000_000)
	clock = clock.Add(10 * time.Millisecond)
	m.update(5_000_000, 10_000_000) // too soon to be drawn
	const line = "\r4.0 MB of 10.0 MB, 2.0 MB/s, 3s left\x1b[K"
	if out.String() != line {
		t.Fatalf("drawn %q, want %q", out.String(), line)
	}
	m.clear()
	if out.String() != line+"\r\x1b[K" {
		t.Fatalf("not taken away: %q", out.String())
	}
}

func TestProgressIsForTerminalsOnlyAndFitsThem(t *testing.T) {
	clock := time.Unix(0, 0)
	for width, want := range map[int]string{0: "", 20: "\r4.0 MB of 10.0 MB,…\x1b[K"} {
		var out bytes.Buffer
		m := newMeter(&out, screen{width: width}, func() time.Time { return clock })
		m.start = clock.Add(-2 * time.Second)
		m.update(4_000_000, 10_000_000)
		if out.String() != want {
			t.Errorf("width %d: %q, want %q", width, out.String(), want)
		}
	}
}

// A failing writer stands for a pipe or a disk.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestSinkIsQuietOnceTheReaderHasGone(t *testing.T) {
	full := errors.New("no space left on device")
	for _, c := range []struct{ err, want error }{{io.ErrClosedPipe, nil}, {full, full}} {
		s := newSink(failing{c.err})
		if n, err := s.Write([]byte("text")); n != 4 || err != nil {
			t.Fatal(n, err)
		}
		s.flush()
		if !s.done() {
			t.Errorf("%v: not done", c.err)
		}
		if err := s.close(); !errors.Is(err, c.want) {
			t.Errorf("close = %v, want %v", err, c.want)
		}
	}
}
