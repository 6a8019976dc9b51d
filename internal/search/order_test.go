package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTurnsStandInTheOrderOfTheNewestState(t *testing.T) {
	const gone = -1
	for name, c := range map[string]struct {
		at   []int64 // by seq
		want []int64
	}{
		"none":                                  {nil, []int64{}},
		"as archived":                           {[]int64{0, 10, 20}, []int64{0, 1, 2}},
		"one put between others":                {[]int64{0, 20, 10}, []int64{0, 2, 1}},
		"gone ones follow whom they followed":   {[]int64{20, gone, gone, 0}, []int64{3, 0, 1, 2}},
		"gone ones that followed nobody":        {[]int64{gone, gone, 0}, []int64{0, 1, 2}},
		"all gone":                              {[]int64{gone, gone}, []int64{0, 1}},
		"several turns of one record stay so":   {[]int64{10, 10, 0}, []int64{2, 0, 1}},
		"gone between one record's other turns": {[]int64{0, gone, 0}, []int64{0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var turns []placed
			for seq, at := range c.at {
				turns = append(turns, placed{int64(seq), at})
			}
			if got := inOrder(turns); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestOrderingLosesAndDoublesNoTurn(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var turns []placed
		for seq := range rnd.IntN(30) {
			turns = append(turns, placed{int64(seq), int64(rnd.IntN(8)) - 2})
		}
		got := inOrder(turns)
		slices.Sort(got)
		for seq := range turns {
			if len(got) != len(turns) || got[seq] != int64(seq) {
				t.Fatalf("%v: %v", turns, got)
			}
		}
	}
}

func TestAPlaceInAState(t *testing.T) {
	s := state{{off: 10, length: 5, at: 100}, {off: 20, length: 5, at: 0}}
	for off, want := range map[int64]int64{0: -1, 9: -1, 10: 100, 14: 104, 15: -1, 20: 0, 24: 4, 25: -1} {
		if got := s.place(off); got != want {
			t.Errorf("%d: got %d, want %d", off, got, want)
		}
	}
}
