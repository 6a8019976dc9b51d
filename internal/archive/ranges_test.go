package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestRangesTogetherAreWhatEachIsAlone reads random ranges of three sessions,
// of which one lacks a block, one has a damaged and one a lying block, and
// ranges that lie outside.
func TestRangesTogetherAreWhatEachIsAlone(t *testing.T) {
	ctx := context.Background()
	w := openStore(t)
	rnd := rand.New(rand.NewPCG(7, 8))
	var sessions []Session
	for i := range 4 {
		sessions = append(sessions, put(t, w, fmt.Sprintf("%d.jsonl", i), i%2 == 0, never, randomLines(rnd, 120)...))
	}
	for i, damage := range []string{
		`UPDATE blocks SET bytes = substr(bytes, 1, 1000) || x'00ff' || substr(bytes, 1003) WHERE session_no = ? AND n = 1`,
		`DELETE FROM blocks WHERE session_no = ? AND n = 2`,
		`UPDATE blocks SET byte_len = 9223372036854775807 WHERE session_no = ? AND n = 0`,
	} {
		if _, err := w.ExecContext(ctx, damage, sessions[i].No); err != nil {
			t.Fatal(err)
		}
	}
	good, bad := 0, 0
	for range 40 {
		var ranges []Range
		for range rnd.IntN(30) {
			s := sessions[rnd.IntN(len(sessions))]
			r := Range{SessionNo: s.No, Off: rnd.Int64N(s.Tail.StreamLen+10) - 5, Len: rnd.Int64N(5000) - 5}
			if rnd.IntN(20) == 0 {
				r.Len = rnd.Int64N(3 << 20)
			}
			ranges = append(ranges, r)
		}
		answers := make([]int, len(ranges))
		err := ReadRanges(ctx, w, ranges, func(i int, b []byte, err error) {
			answers[i]++
			r := ranges[i]
			want, wantErr := ReadRange(ctx, w, r.SessionNo, r.Off, r.Len)
			if !bytes.Equal(b, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%+v: %d bytes, %v; alone %d bytes, %v", r, len(b), err, len(want), wantErr)
			}
			if err == nil {
				good++
			} else {
				bad++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range answers {
			if n != 1 {
				t.Errorf("%+v was given %d times", ranges[i], n)
			}
		}
	}
	if good < 100 || bad < 20 {
		t.Errorf("%d ranges were read and %d not: the test shows little", good, bad)
	}
}

func TestRangesEndWithTheirContext(t *testing.T) {
	w := openStore(t)
	s := put(t, w, "a.jsonl", true, never, randomLines(rand.New(rand.NewPCG(1, 2)), 50)...)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := ReadRanges(ctx, w, []Range{{s.No, 0, 10}}, func(int, []byte, error) { t.Error("given") })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
