package recall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/recall"
)

// filled is an archive of 200 sessions of 40 turns each.
func filled(b *testing.B) *machine {
	m := newMachine(b)
	for n := range 200 {
		var records []string
		for i := range 10 {
			path := fmt.Sprintf("/work/app/src/file%d.go", (n+i)%50)
			records = append(records, typed("look at it"), readCall(path), result(strings.Repeat("some text of a file ", 50), path), answer("it is fine"))
		}
		m.write(m.transcript(n+1), records...)
	}
	m.ingest()
	return m
}

func BenchmarkMakeBrief(b *testing.B) {
	m := filled(b)
	r := m.reader()
	for b.Loop() {
		if t, err := recall.MakeBrief(b.Context(), r, recall.BriefRequest{Dir: work, Budget: 6000}); err != nil || t.Text == "" {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookUp(b *testing.B) {
	m := filled(b)
	r := m.reader()
	for name, prompt := range map[string]string{
		"one path": "why does src/file7.go fail?", "eight names": "src/file1.go src/file2.go src/file3.go src/file4.go src/file5.go src/file6.go src/file7.go retryBudget",
		"no name": "why does it fail?", "an unknown name": "what is retryBudget?",
	} {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			q := recall.LookupRequest{Dir: work, Prompt: prompt, Budget: 4000, Limits: recall.DefaultLimits}
			for b.Loop() {
				if _, err := recall.LookUp(b.Context(), r, q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
