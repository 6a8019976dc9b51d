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
	for i, h := range harnesses {
		all[i] = Look{Harness: h, Enabled: Enabled(c, h)}
		for _, root := range Roots(c, h) {
			_, err := os.Stat(root)
			all[i].Roots = append(all[i].Roots, Root{root, !errors.Is(err, fs.ErrNotExist)})
		}
		if all[i].Enabled {
			asked = append(asked, h)
		}
	}
	answers := p.ask(ctx, asked)
	for i := range all {
		if !all[i].Enabled {
			continue
		}
		answer := answers[0]
		answers = answers[1:]
		all[i].Transcripts = len(answer.found)
		for _, err := range answer.problems {
			all[i].Skipped = append(all[i].Skipped, problem(err))
		}
	}
	return all, ctx.Err()
}
