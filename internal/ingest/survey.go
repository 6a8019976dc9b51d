package ingest

import (
	"context"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness"
)

// A Standing is one transcript that is there now, and whether a pass would find
// something new in it.
type Standing struct {
	Harness    string // its harness's id
	Transcript harness.Transcript
	// Archived tells that everything that stands in it has been taken in.
	Archived bool
}

// Survey lists the transcripts as a pass would find them, without the lock and
// without creating anything. reader is the store, nil where there is none. Places
// that cannot be listed are left out: a pass names them.
func Survey(ctx context.Context, c *config.Config, harnesses []harness.Harness, reader archive.Querier) ([]Standing, error) {
	p := &pass{o: Options{Config: c, Harnesses: harnesses}}
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[string]archive.Seen{}
	if reader != nil {
		if seen, err = archive.SeenSources(ctx, reader); err != nil {
			return nil, err
		}
	}
	all := make([]Standing, 0, len(found))
	for i := range found {
		t := found[i].t
		last, known := seen[t.Source]
		s := Standing{Harness: found[i].h.ID(), Transcript: t}
		switch t.Kind {
		case harness.Lines:
			s.Archived = known && last.Stat == t.Stat && last.Offset >= t.Stat.Size // a torn end is not
		case harness.Rows:
			s.Archived = known && t.Stamp != "" && last.Stamp == t.Stamp
		}
		all = append(all, s)
	}
	return all, nil
}
