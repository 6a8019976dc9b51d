package recall

import (
	"reflect"
	"testing"
)

func FuzzAStateFileIsAStateOrANewSession(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"format":1}`, `{"format":1,"injected":[1],"brief":[2],"suppressed":[{"turn_id":1,"reason":"already_injected"}],"compaction_owed":true}`,
		`{"format":1,"suppressed":[{"reason":"x"}]}`, "\xff\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := parseState(text)
		for _, x := range s.Suppressed {
			if x.Reason != AlreadyInjected && x.Reason != VisibleInSession && x.Reason != CarriedByBrief {
				t.Fatalf("an unknown reason: %+v", x)
			}
		}
		// What was read is written, and read again as the same.
		doc, err := s.document()
		if err != nil {
			t.Fatal(err)
		}
		again := parseState(doc)
		want := State{listed(s.Injected), listed(s.Brief), listed(s.Suppressed), s.CompactionOwed, s.Spent}
		if !reflect.DeepEqual(again, want) {
			t.Fatalf("%+v became %+v", want, again)
		}
	})
}
