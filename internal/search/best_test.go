package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTheBestRowsComeWithAllThatShareTheLastScore(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		rows := make([]scoredRow, 1+rnd.IntN(60))
		values := 1 + rnd.IntN(40)
		for i := range rows {
			rows[i] = scoredRow{int64(i), float64(rnd.IntN(values))}
		}
		n := 1 + rnd.IntN(len(rows)+5)
		var scores []float64
		for _, r := range rows {
			scores = append(scores, r.relevance)
		}
		slices.Sort(scores)
		slices.Reverse(scores)
		want := min(n, len(rows))
		for want < len(rows) && scores[want] == scores[want-1] {
			want++
		}
		k := selectBest(rows, n)
		if k != want {
			t.Fatalf("%v, %d: %d, want %d", scores, n, k, want)
		}
		var got []float64
		seen := map[int64]bool{}
		for i, r := range rows {
			seen[r.row] = true
			if i < k {
				got = append(got, r.relevance)
			}
		}
		slices.Sort(got)
		slices.Reverse(got)
		if !slices.Equal(got, scores[:k]) || len(seen) != len(rows) {
			t.Fatalf("%v, %d: %v", scores, n, got)
		}
	}
}

func TestTheSpansOfASlotSet(t *testing.T) {
	row := func(first, last int64) span { return span{first << turnBits, last<<turnBits | seqMask} }
	for name, c := range map[string]struct {
		slots []int64
		want  []span
	}{
		"none":                {nil, []span{}},
		"one":                 {[]int64{70}, []span{row(70, 70)}},
		"gaps inside a block": {[]int64{0, 5, 1023}, []span{row(0, 1023)}},
		"blocks side by side": {[]int64{1023, 1024, 1025}, []span{row(1023, 1025)}},
		"blocks of others":    {[]int64{3, 1024, 3000}, []span{row(3, 3), row(1024, 1024), row(3000, 3000)}},
	} {
		t.Run(name, func(t *testing.T) {
			b := slotSet(c.slots)
			if got := b.spans(); !slices.Equal(got, c.want) || got == nil {
				t.Errorf("got %v, want %v", got, c.want)
			}
			for s := int64(-70); s < 4000; s++ {
				if b.has(s) != slices.Contains(c.slots, s) {
					t.Fatalf("slot %d", s)
				}
			}
		})
	}
}
