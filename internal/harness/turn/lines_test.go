package turn

import (
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestTheObjectsOfALine(t *testing.T) {
	accept := func(v transcript.Value) bool { return v.Get("k").Kind() != 0 }
	for _, tc := range []struct {
		name, line, want string
		damaged          int64
	}{
		{"one", `{"k":1}` + "\n", `{"k":1}`, 0},
		{"with a byte order mark", "\xef\xbb\xbf" + `{"k":1}` + "\n", `{"k":1}`, 0},
		{"white space", " \t\n", "", 0},
		{"nothing", "", "", 0},
		{"two", `{"k":1}{"k":2}` + "\n", `{"k":1} {"k":2}`, 1},
		{"behind a torn one", `{"k":"ab{"k":2}` + "\n", `{"k":2}`, 1},
		{"between NULs", "\x00\x00" + `{"k":1}` + "\x00\n", `{"k":1}`, 1},
		{"a part of a torn one that is no record", `{"k":"ab{"x":2}` + "\n", "", 1},
		{"a list", `[{"k":1}]` + "\n", "", 1},
		{"a text", `"k"` + "\n", "", 1},
		{"torn", `{"k":` + "\n", "", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s transcript.State
			var got []string
			for _, l := range Objects([]byte(tc.line), &s, accept) {
				if at := tc.line[l.Off : l.Off+l.Len]; at != string(l.Value) {
					t.Errorf("the span holds %q, the value is %q", at, l.Value)
				}
				got = append(got, string(l.Value))
			}
			if joined := strings.Join(got, " "); joined != tc.want || s.Damaged != tc.damaged {
				t.Errorf("%s, damaged %d; want %s, damaged %d", joined, s.Damaged, tc.want, tc.damaged)
			}
		})
	}
}
