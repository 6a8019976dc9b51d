package ingest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness"
)

// A Root is a directory in which a harness looks.
type Root struct {
	Path  string
	Found bool
}

// A Look is what a harness finds now.
type Look struct {
	Harness harness.Harness
	Enabled bool
	Roots   []Root
	// Transcripts are how many there are.
	Transcripts int
	// Skipped are the places that could not be taken for a transcript, and why.
	Skipped []Failure
}

// LookAround asks every harness that is enabled what there is, as a pass does, and reads no
// transcript. It takes no lock and changes nothing. Their answers stand in the order of harnesses.
func LookAround(ctx context.Context, c *config.Config, harnesses []harness.Harness, patience time.Duration) ([]Look, error) {
	p := &pass{o: Options{Config: c, Harnesses: harnesses, Patience: patience}}
	all := make([]Look, len(harnesses))
	var asked []harness.Harness
	for _, h := range harnesses {
		if Enabled(c, h) {
			asked = append(asked, h)
		}
	}
	answers := p.ask(ctx, asked)
	for i, h := range harnesses {
		all[i] = Look{Harness: h, Enabled: Enabled(c, h)}
		roots := func() []string { return Roots(c, h) }
		if all[i].Enabled {
			answer := answers[0]
			answers = answers[1:]
			roots = func() []string { return answer.roots }
			all[i].Transcripts = len(answer.found)
			for _, err := range answer.problems {
				all[i].Skipped = append(all[i].Skipped, problem(err))
			}
		}
		var err error
		all[i].Roots, err = within(p.patience(), func() ([]Root, error) { return standing(roots()), nil }, func([]Root) {})
		if err != nil {
			all[i].Skipped = append(all[i].Skipped, Failure{h.Name(), err.Error()})
		}
	}
	return all, ctx.Err()
}

// standing tells of each directory whether it is there.
func standing(roots []string) (all []Root) {
	for _, root := range roots {
		_, err := os.Stat(root)
		all = append(all, Root{root, !errors.Is(err, fs.ErrNotExist)})
	}
	return all
}
