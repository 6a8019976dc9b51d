package corpus

import "sort"

const (
	day = 24 * 3600 * 1000 // milliseconds

	// historyDays is how far back the oldest session lies; quietDays is what
	// lies between the begin of the newest and Options.Newest, more than the
	// longest session lasts.
	historyDays, quietDays = 300, 30

	// Sizes of sessions are log-normal around a median of 110 KB up to 8 MB.
	// A corpus of 200 MB and more also has sessions of 10 to 50 MB, which hold
	// a fifth of its bytes.
	medianSize, sizeSigma      = 110_000, 1.65
	minSize, maxSize           = 3_000, 8 << 20
	hugeMin, hugeMax           = 10 << 20, 50 << 20
	hugeFrom, hugeShare        = 200 << 20, 5
	forkPermille               = 35
	forkMaxCopy                = 3 << 20
	newClientSince, newClientP = 100, 450 // days before the newest; of 1,000 sessions
)

// A planned session is everything about a session that is decided before it is
// written, so that sessions can be written in any order.
type planned struct {
	seed    uint64
	id      uuid
	project *project
	style   Style
	start   int64 // Unix milliseconds
	bytes   int64
	// fork is the session whose first copied bytes this one repeats, or nil.
	fork   *planned
	copied int64
	// forked tells that another session repeats this one.
	forked bool
	// rare tells that a prompt of this session holds the word Rare.
	rare bool
}

type plan struct {
	projects []*project
	sessions []planned
}

func newPlan(o Options) *plan {
	p := &plan{}
	for i := range o.Projects {
		p.projects = append(p.projects, newProject(o.Seed, i))
	}
	r := newRNG(o.Seed, 2)
	sizes := planSizes(r, o)
	newest := o.Newest.UnixMilli() - quietDays*day
	starts := make([]int64, len(sizes))
	for i := range starts {
		starts[i] = newest - int64(r.unit()*(historyDays-quietDays)*day)
	}
	sort.Slice(starts, func(i, j int) bool { return starts[i] < starts[j] })

	byProject := newZipf(len(p.projects), 1.5, 60)
	last := map[*project]*planned{}
	p.sessions = make([]planned, len(sizes))
	for i := range p.sessions {
		s := &p.sessions[i]
		*s = planned{
			seed: mix(o.Seed, uint64(i)+1<<32), id: r.uuid(), project: p.projects[byProject.rank(r)],
			style: o.Style, start: starts[i], bytes: sizes[i],
		}
		if s.style == Mixed {
			s.style = Claude197
			if newest-s.start < newClientSince*day && r.permille(newClientP) {
				s.style = Claude332
			}
		}
		if of := last[s.project]; of != nil && r.permille(forkPermille) {
			s.fork, s.style, of.forked = of, of.style, true
			s.copied = min(of.bytes*int64(r.between(30, 95))/100, forkMaxCopy)
			s.bytes = max(s.bytes, s.copied*6/5)
		} else {
			last[s.project] = s
		}
	}
	p.plantRare()
	return p
}

// plantRare chooses the two sessions that hold Rare: the first that no other
// session repeats after each third of the corpus, around its end.
func (p *plan) plantRare() {
	n := len(p.sessions)
	planted := 0
	for i := range n {
		s := &p.sessions[(n/3+i)%n]
		if i > 0 && planted == 1 && i < n/3 {
			continue
		}
		if s.fork == nil && !s.forked {
			s.rare = true
			if planted++; planted == 2 {
				return
			}
		}
	}
}

// planSizes draws the sizes of all sessions. They add up to o.Bytes.
func planSizes(r *rng, o Options) []int64 {
	var sizes []int64
	rest := o.Bytes
	if o.Sessions == 0 && o.Bytes >= hugeFrom {
		for huge := o.Bytes / hugeShare; huge > hugeMin; {
			n := int64(r.logUniform(hugeMin, float64(min(hugeMax, huge))))
			sizes = append(sizes, n)
			huge, rest = huge-n, rest-n
		}
	}
	if o.Sessions > 0 {
		return append(sizes, evenSizes(r, o.Sessions, rest)...)
	}
	for rest > 0 {
		n := int64(min(max(r.lognormal(medianSize, sizeSigma), minSize), float64(min(maxSize, max(o.Bytes/6, minSize)))))
		n = min(n, max(rest, minSize))
		sizes = append(sizes, n)
		rest -= n
	}
	// The huge ones must not all be the first: place each anywhere.
	for i := len(sizes) - 1; i > 0; i-- {
		j := r.n(i + 1)
		sizes[i], sizes[j] = sizes[j], sizes[i]
	}
	return sizes
}

// evenSizes draws n sizes that differ by less than life's, adding up to total.
func evenSizes(r *rng, n int, total int64) []int64 {
	weights := make([]float64, n)
	var sum float64
	for i := range weights {
		weights[i] = r.logUniform(1, 12)
		sum += weights[i]
	}
	sizes := make([]int64, n)
	for i := range sizes {
		sizes[i] = max(int64(weights[i]/sum*float64(total)), minSize)
	}
	return sizes
}
