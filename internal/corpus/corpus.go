// Package corpus makes transcripts for tests, benchmarks and fuzzing: trees of
// realistic Claude Code sessions of any size, and single minimal records.
//
// What it makes depends on its options alone: no clock, no environment, no map
// order. The same options give the same bytes, names and modification times, on
// every system. All text is made up; nothing of it was ever said.
package corpus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A Style says which client the transcripts look like.
type Style uint8

const (
	// Mixed is older sessions in the form of Claude197, newer ones in both.
	Mixed Style = iota
	// Claude197 is a client whose transcripts are mostly conversation.
	Claude197
	// Claude332 is a client that also writes down what it sends: prompt
	// snapshots, tool schemas, requests.
	Claude332
)

// Version is the client version that the records of a style carry.
func (s Style) version() string {
	if s == Claude332 {
		return "2.1.332"
	}
	return "2.1.197"
}

// Options say what Generate makes. The zero value of a field is its default.
type Options struct {
	// Seed chooses one of many corpora of the same shape.
	Seed uint64
	// Bytes is the size aimed at of all transcripts together, companions not
	// counted. The result is within a few percent of it from 10 MB on. Default 20 MB.
	Bytes int64
	// Projects is the number of projects. Default: one for every 40 MB, at
	// least 3, at most 60.
	Projects int
	// Sessions is the number of sessions, subagents not counted. Default: as
	// many as their sizes, drawn as in life, fill Bytes.
	Sessions int
	// Style is the client.
	Style Style
	// Newest is the time that the newest session begins before. Default
	// 30 June 2026. Modification times are those of the last records.
	Newest time.Time
}

// Sizes are the corpora that have a name.
var Sizes = map[string]Options{
	"S":    {Seed: 1, Bytes: 20 << 20},
	"M":    {Seed: 1, Bytes: 500 << 20},
	"L":    {Seed: 1, Bytes: 2560 << 20},
	"Many": {Seed: 1, Bytes: 100 << 20, Sessions: 5000, Projects: 40, Style: Claude197},
}

// Rare is a word that a corpus of at least two sessions holds in exactly two
// typed prompts of two sessions, and nowhere else.
const Rare = "quetzalfinch"

// Stats say what Generate made. Sizes are bytes.
type Stats struct {
	Projects, Sessions, Subagents, Companions int
	Bytes, CompanionBytes                     int64
	Records, LongestLine                      int64
}

func (s *Stats) add(o Stats) {
	s.Projects += o.Projects
	s.Sessions += o.Sessions
	s.Subagents += o.Subagents
	s.Companions += o.Companions
	s.Bytes += o.Bytes
	s.CompanionBytes += o.CompanionBytes
	s.Records += o.Records
	s.LongestLine = max(s.LongestLine, o.LongestLine)
}

// Generate writes a corpus below dir, which becomes a client's configuration
// directory: `projects/<folder>/<uuid>.jsonl` and what belongs to it. It refuses
// a dir that has a projects folder already. Memory is bounded by some tens of MB
// whatever the size, and as many sessions are written at once as there are
// processors.
func Generate(dir string, o Options) (Stats, error) {
	o = o.withDefaults()
	root := filepath.Join(dir, "projects")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Stats{}, fmt.Errorf("corpus: %w", err)
	}
	if err := os.Mkdir(root, 0o700); err != nil {
		return Stats{}, fmt.Errorf("corpus: %w", err)
	}
	voc := newVocabulary()
	plan := newPlan(o)
	machine := newMachineText(voc)

	var (
		next    atomic.Int64
		wg      sync.WaitGroup
		mu      sync.Mutex
		total   = Stats{Projects: len(plan.projects)}
		problem []error
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			w := &worker{root: root, voc: voc, plan: plan, machine: machine}
			var err error
			for err == nil {
				n := int(next.Add(1)) - 1
				if n >= len(plan.sessions) {
					break
				}
				err = w.write(n)
			}
			mu.Lock()
			defer mu.Unlock()
			total.add(w.stats)
			problem = append(problem, err)
		})
	}
	wg.Wait()
	if err := errors.Join(problem...); err != nil {
		return total, fmt.Errorf("corpus: %w", err)
	}
	return total, nil
}

// bytesPerProject is how much one project holds by default: 60 projects at 2.5 GB.
const bytesPerProject = 40 << 20

func (o Options) withDefaults() Options {
	if o.Bytes <= 0 {
		o.Bytes = Sizes["S"].Bytes
	}
	if o.Projects <= 0 {
		o.Projects = int(min(max(o.Bytes/bytesPerProject, 3), 60))
	}
	if o.Newest.IsZero() {
		o.Newest = time.Date(2026, 6, 30, 18, 0, 0, 0, time.UTC)
	}
	return o
}

// A worker writes one session after another.
type worker struct {
	root    string
	voc     *vocabulary
	plan    *plan
	machine *machineText
	stats   Stats
	cache   fileCache
}

// fileCacheSize bounds the file contents that a worker keeps at hand.
const fileCacheSize = 8 << 20

// A fileCache keeps contents of project files, which every session of a project
// reads again and again.
type fileCache struct {
	held  map[fileKey][]byte
	bytes int
}

type fileKey struct {
	p *project
	n int
}

func (c *fileCache) get(t scribe, n int) []byte {
	k := fileKey{t.p, n}
	if b, ok := c.held[k]; ok {
		return b
	}
	b := t.fileContent(nil, n)
	if c.held == nil || c.bytes+len(b) > fileCacheSize {
		c.held, c.bytes = map[fileKey][]byte{}, 0
	}
	c.held[k] = b
	c.bytes += len(b)
	return b
}
