package rows

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestATextIsARowAndComesBack(t *testing.T) {
	for _, tc := range []struct{ text, said string }{
		{"", ""},
		{"plain \"quoted\" \\ \x00\r\n\tend", "plain \"quoted\" \\ \x00\r\n\tend"},
		{"torn \xc3", "torn \ufffd"},
	} {
		row, ok := transcript.ParseValue(Text([]byte(tc.text)))
		if got := string(Said(row)); !ok || got != tc.said {
			t.Errorf("%q comes back as %q", tc.text, got)
		}
	}
	for _, other := range []string{`1`, `{"base64":"!!!!"}`, `{"base64":7}`, `[]`} {
		if row, _ := transcript.ParseValue([]byte(other)); Said(row) != nil {
			t.Errorf("%s says %q", other, Said(row))
		}
	}
}
