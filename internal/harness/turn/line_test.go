package turn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestALineGivesItsRecordsAndSaysWhetherItIsDamaged(t *testing.T) {
	for _, c := range []struct {
		line    string
		want    []string
		damaged int64
	}{
		{"{\"a\":1}\n", []string{"0 {\"a\":1}"}, 0},
		{"  {\"a\":1} \n", []string{"2 {\"a\":1}"}, 0},
		{"\xef\xbb\xbf{\"a\":1}\n", []string{"3 {\"a\":1}"}, 0},
		{"\n", nil, 0},
		{"", nil, 0},
		{"\x00\x00\n", nil, 1},
		{"\x00{\"a\":1}\n", []string{"1 {\"a\":1}"}, 1},
		{"[{\"a\":1}]\n", nil, 1},
		{"no json\n", nil, 1},
		{"{\"a\":1}{\"a\":2}\n", []string{"0 {\"a\":1}", "7 {\"a\":2}"}, 1},
		{"{\"b\":{\"c\":{\"a\":1}\n", []string{"10 {\"a\":1}"}, 1},
		{"{\"b\":{\"c\":{\"d\":1}\n", nil, 1},
		{"{\"torn\":\"{\"a\":1}\n", []string{"9 {\"a\":1}"}, 1},
	} {
		s := transcript.State{}
		var got []string
		for off, v := range Objects([]byte(c.line), &s, func(v transcript.Value) bool { return v.Get("a") != nil }) {
			got = append(got, fmt.Sprintf("%d %s", off, []byte(v)))
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") || s.Damaged != c.damaged {
			t.Errorf("%q gives %q with %d damaged, want %q with %d", c.line, got, s.Damaged, c.want, c.damaged)
		}
	}
}

func TestIDsAreRememberedInBoundedSpace(t *testing.T) {
	s := transcript.State{}
	id := func(i int) []byte { return fmt.Appendf(nil, "id-%d", i) }
	for i := range 2000 {
		if Remember(&s, id(i)) {
			t.Fatalf("%d is said to be known", i)
		}
		if !Remember(&s, id(i)) || !Remember(&s, id(max(0, i-600))) {
			t.Fatalf("after %d it or one of the last 600 is forgotten", i)
		}
		if len(s.Own) > transcript.StateLimit {
			t.Fatalf("%d ids take %d bytes", i, len(s.Own))
		}
	}
	if Remember(&s, id(0)) {
		t.Error("the first of 2000 is still known")
	}
	s.Own = "torn"
	if Remember(&s, id(1)) || !Remember(&s, id(1)) {
		t.Error("a torn list is not begun anew")
	}
}
