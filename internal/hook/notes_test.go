package hook

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

func TestNotesAreRedressedExactlyWhereTheTextIsLate(t *testing.T) {
	fails := errors.New("no space")
	for _, tc := range []struct {
		name string
		do   func(n *notes, did func(string))
		want []string
	}{
		{"in time", func(n *notes, did func(string)) {
			n.ifLate(func() { did("late") })
			_ = n.make(func() error { did("made"); return nil }, func() { did("undone") })
		}, []string{"made"}},
		{"late before anything", func(n *notes, _ func(string)) { n.expire() }, nil},
		{"late while it works", func(n *notes, did func(string)) {
			n.ifLate(func() { did("late") })
			n.expire()
			_ = n.make(func() error { did("made"); return nil }, func() { did("undone") })
		}, []string{"late"}},
		{"late after the notes", func(n *notes, did func(string)) {
			n.ifLate(func() { did("late") })
			_ = n.make(func() error { did("made"); return nil }, func() { did("undone") })
			n.expire()
		}, []string{"made", "undone"}},
		{"nothing is to be noted", func(n *notes, did func(string)) {
			n.ifLate(func() { did("late") })
			n.ifLate(nil)
			n.expire()
		}, nil},
		{"the notes cannot be made", func(n *notes, did func(string)) {
			if err := n.make(func() error { did("half"); return fails }, func() { did("undone") }); !errors.Is(err, fails) {
				t.Error(err)
			}
		}, []string{"half", "undone"}},
	} {
		var got []string
		tc.do(&notes{}, func(what string) { got = append(got, what) })
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestNotesStandOrAreUndoneWhoeverComesFirst(t *testing.T) {
	for range 1000 {
		var n notes
		noted := 0 // of the late prompt or of the text, never of both or none
		n.ifLate(func() { noted++ })
		var both sync.WaitGroup
		both.Go(n.expire)
		both.Go(func() {
			_ = n.make(func() error { noted += 10; return nil }, func() { noted -= 9 })
		})
		both.Wait()
		if noted != 1 {
			t.Fatalf("noted: %d", noted)
		}
	}
}
