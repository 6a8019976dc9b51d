package transcript

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTheIDOfAWrappedLineComesBack(t *testing.T) {
	for _, id := range []string{"", "m1", `a"b`, `back\slash`, "\u2028 <&>", "новый", "with,\"row\":inside"} {
		line := Wrap(id, []byte("{\n\"text\": \"x\"}"))
		if got, ok := WrappedID(line); !ok || got != id {
			t.Errorf("WrappedID(%s) = %q, %v, want %q", line, got, ok, id)
		}
	}
}

func TestAnyOtherLineHasNoWrappedID(t *testing.T) {
	for _, line := range []string{
		"", "\n", "{}", `{"id":`, `{"id":"a`, `{"id":"a"}`, `{"id":"a\`, `{"id":"a\"`, `{"id":7,"row":{}}`,
		`{"id":"a", "row":{}}`, `{"id":"a","rows":{}}`, ` {"id":"a","row":{}}`, `{"id":"\x","row":{}}`,
		`{"type":"user","id":"a","row":{}}`,
	} {
		if id, ok := WrappedID([]byte(line)); ok {
			t.Errorf("WrappedID(%s) = %q", line, id)
		}
	}
}

func FuzzWrappedID(f *testing.F) {
	f.Add("m1", []byte(`{"id":"a","row":{}}`))
	f.Add(`a\"`, []byte(`{"id":"a\`))
	f.Fuzz(func(t *testing.T, id string, line []byte) {
		WrappedID(line)
		want := strings.ToValidUTF8(id, string(utf8.RuneError))
		if got, ok := WrappedID(Wrap(id, line)); !ok || utf8.ValidString(id) && got != want {
			t.Errorf("WrappedID of %q is %q, %v", id, got, ok)
		}
	})
}
