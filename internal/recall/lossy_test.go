package recall

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzABodyIsValidTextThatAgreesWithTheEncoder(f *testing.F) {
	for _, seed := range []string{"", "plain é", "\xff\x00\xed\xa0\x80", "\xe2\x82"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		body := lossy(raw)
		doc, err := json.Marshal(string(raw))
		var want string
		if err == nil {
			err = json.Unmarshal(doc, &want)
		}
		if err != nil || body != want || !utf8.ValidString(body) {
			t.Fatalf("%q became %q, an encoder makes %q of it (%v)", raw, body, want, err)
		}
	})
}
