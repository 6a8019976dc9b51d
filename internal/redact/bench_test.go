package redact

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// prose is about n bytes of what sessions are made of, without a secret: words,
// names of secrets among them, code and paths.
func prose(n int) string {
	words := strings.Fields("the token of a request and its fields are read by parse(input) in internal/search/text.go " +
		"func (s *Scanner) next() error { return nil } we should look at this first; then 4096 rows, see docs/format.md " +
		"for what is stored. It's a \"quoted\" word: x = y + 1 -- https://example.com/a?b=1 SearchManager retry_budget " +
		"if err != nil { t.Fatalf(\"%s: %v\", name, err) } because nothing else was changed since the last run of tests " +
		"and every file below it was written by hand before anybody thought of the index or of what it costs to read")
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteString([]string{" ", " ", " ", " ", " ", " ", "\n"}[r.IntN(7)])
	}
	return b.String()
}

func record(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func BenchmarkFilter(b *testing.B) {
	const size = 1 << 20
	clean := prose(size)
	dirty := strings.Repeat("x "+positives[30].in()+" and "+prose(4<<10), size/(4<<10))
	for _, c := range []struct {
		name string
		text []byte
		f    func([]byte) []byte
	}{
		{"text", []byte(clean), func(b []byte) []byte { return filter(b, textView) }},
		{"record", record(b, clean), on.Record},
		{"quoted", record(b, string(record(b, clean))), on.Record},
		{"secrets", record(b, dirty), on.Record},
		{"base64", record(b, strings.Repeat("aB3xK9pQ7zR2mW5tY8uL4nV6cD1eF0gHjSkTqEoPl1Km2Nj3Bh4Vg5/+", size/56)), on.Record},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				c.f(c.text)
			}
		})
	}
}
