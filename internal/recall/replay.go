package recall

import (
	"context"
	"slices"
	"time"

	"github.com/terminus-archive/terminus/internal/search"
)

// A Logged is a prompt that was looked up once, as the log of decisions has it.
type Logged struct {
	Prompt, Dir string
	At          time.Time
	// Limits are those that it was decided by, and Budget that of its text.
	Limits Limits
	Budget int
	// Looked says that the archive was searched, nil where that is not known.
	Looked     *bool
	Spellings  []string
	Candidates []Candidate
	Injected   []Injected
	Suppressed []Suppressed
	Compacted  bool
	Dropped    []int64
	// WatermarkSessionNo is the highest session number then, nil where it is not
	// known.
	WatermarkSessionNo *int64
}

// A Replayer decides the logged prompts of one session once more, in the order in
// which they were typed, under limits of its own. It changes nothing.
//
// What was looked at then is taken from the log, and not searched for again:
// neither what was archived meanwhile nor how rare a word is today has a part in
// it, and the limits of then give the turns of then. The archive is searched for
// what the log cannot tell: hits below the last one that was looked at, and names
// that were not looked up. Turns of sessions that were archived later, and turns
// that are younger than the prompt, are not found by that.
type Replayer struct {
	snap    *search.Snapshot
	limits  Limits
	own     map[int64]bool // the session's numbers
	given   []int64        // turns that were handed over
	dropped map[int64]bool // turns of the session that a compaction took out
	offered map[int64]bool // those of the compaction that the prompt at hand follows
}

// NewReplayer makes a Replayer for the session with a harness's own id.
func NewReplayer(ctx context.Context, snap *search.Snapshot, sessionID string, limits Limits) (*Replayer, error) {
	_, own, err := snap.SessionsOf(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	r := &Replayer{snap: snap, limits: limits, own: map[int64]bool{}, dropped: map[int64]bool{}}
	for _, no := range own {
		r.own[no] = true
	}
	return r, nil
}

// Decide tells what is looked up for l, and the turns that are handed over. A
// prompt for which the archive was not searched, because recall was switched off
// or too slow, is given nothing whatever the limits.
func (r *Replayer) Decide(ctx context.Context, l *Logged) (spellings []string, turns []int64, err error) {
	r.offered = make(map[int64]bool, len(l.Dropped))
	for _, id := range l.Dropped {
		r.dropped[id], r.offered[id] = true, true
	}
	if l.Looked != nil && !*l.Looked {
		if len(l.Spellings) > 0 && r.limits.MaxCandidates != l.Limits.MaxCandidates {
			return Spellings(l.Prompt, l.Dir, r.limits.MaxCandidates), nil, nil
		}
		return l.Spellings, nil, nil
	}
	hits, all, spellings, err := r.hits(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	chosen, err := r.choose(ctx, l, hits, all)
	if err != nil {
		return nil, nil, err
	}
	// Whether a turn has a place in the budget is a matter of what stands around
	// the excerpts: these are cut to nothing before a line is lost.
	lines := make([]line, len(chosen))
	for i := range chosen {
		lines[i] = newLine(&search.Turn{ID: chosen[i].ID, TS: chosen[i].TS}, "")
	}
	_, injected := within(lines, budgeted(l.Budget))
	for _, x := range injected {
		turns = append(turns, x.TurnID)
	}
	r.given = append(r.given, turns...)
	return spellings, turns, nil
}

// hits are what is looked at, in order, of which the first `all` are so whatever
// the session knows of them.
func (r *Replayer) hits(ctx context.Context, l *Logged) (hits []search.PromptHit, all int, spellings []string, err error) {
	n := namesOf(l.Prompt, l.Dir, r.limits.MaxCandidates)
	limit, then := r.limits.looked(l.Compacted), l.Limits.looked(l.Compacted)
	listed := l.Looked != nil &&
		(r.limits.MaxCandidates == l.Limits.MaxCandidates || slices.Equal(n.spellings, l.Spellings))
	if listed {
		n.spellings = l.Spellings
		if hits, err = r.listed(ctx, l); err != nil {
			return nil, 0, nil, err
		}
		if limit >= then {
			all = len(hits)
		}
		if limit <= then || len(l.Candidates) < then {
			return hits, all, n.spellings, nil // no others were found
		}
	}
	if limit == 0 || len(n.spellings) == 0 {
		return nil, 0, n.spellings, nil
	}
	found, err := r.search(ctx, l, n, limit)
	for i := range found {
		if !listed || !slices.ContainsFunc(l.Candidates, func(c Candidate) bool { return c.TurnID == found[i].ID }) {
			hits = append(hits, found[i])
		}
	}
	return hits, all, n.spellings, err
}

// listed are the hits of the log, without those that are gone.
func (r *Replayer) listed(ctx context.Context, l *Logged) ([]search.PromptHit, error) {
	ids := make([]int64, len(l.Candidates))
	for i, c := range l.Candidates {
		ids[i] = c.TurnID
	}
	known, err := r.snap.Listed(ctx, ids)
	if err != nil {
		return nil, err
	}
	hits := make([]search.PromptHit, 0, len(ids))
	for _, c := range l.Candidates {
		h, ok := known[c.TurnID]
		if !ok {
			h.ID, h.ToolResult = c.TurnID, true // it keeps its rank, and is not handed over
		}
		h.MatchedOn = c.MatchedOn
		hits = append(hits, h)
	}
	return hits, nil
}

// search finds the hits of today among what was archived then.
func (r *Replayer) search(ctx context.Context, l *Logged, n names, limit int) ([]search.PromptHit, error) {
	view, err := r.snap.View(ctx, search.Scope{Dir: l.Dir})
	if err != nil || view.Reason != "" {
		return nil, err
	}
	q := search.PromptQuery{Spellings: n.spellings, Words: n.weighed(), Limit: limit, Pass: r.visible}
	if l.Compacted {
		q.Pass = func(id int64) bool { return !r.offered[id] }
	}
	if l.WatermarkSessionNo != nil {
		q.Before = (*l.WatermarkSessionNo + 1) << search.TurnBits
	}
	found, err := r.snap.PromptHits(ctx, view, q)
	return slices.DeleteFunc(found, func(h search.PromptHit) bool {
		return h.TS != nil && search.Later(*h.TS, l.At)
	}), err
}

// visible reports whether a turn is in the context of the session.
func (r *Replayer) visible(id int64) bool { return r.own[id>>search.TurnBits] && !r.dropped[id] }

// choose picks the turns as a lookup does.
func (r *Replayer) choose(ctx context.Context, l *Logged, hits []search.PromptHit, all int) ([]search.PromptHit, error) {
	limit := r.limits.looked(l.Compacted)
	var chosen []search.PromptHit
	looked := min(all, l.Limits.looked(l.Compacted))
	for rank := 0; rank < len(hits) && len(chosen) < r.limits.MaxTurns; rank++ {
		h := &hits[rank]
		fits := !h.ToolResult && r.limits.enough(rank, len(h.MatchedOn))
		if rank < all && !fits {
			continue
		}
		if rank >= all && looked >= limit {
			break
		}
		copies, err := r.snap.Copies(ctx, h.ID)
		if err != nil {
			return nil, err
		}
		known := r.known(l, h.ID, copies)
		if rank >= all && (l.Compacted || !known || slices.ContainsFunc(copies, l.handed)) {
			looked++ // a second copy of what this prompt was given is none that the session knew
		}
		if !fits || known || l.Compacted && !slices.ContainsFunc(copies, func(id int64) bool { return r.offered[id] }) ||
			slices.ContainsFunc(chosen, func(c search.PromptHit) bool { return slices.Contains(copies, c.ID) }) {
			continue
		}
		chosen = append(chosen, *h)
	}
	return chosen, nil
}

// known reports whether the session had a turn, or a copy of it: it was held back
// then, it was handed over on an earlier prompt of this replay, or it is in the
// session's context.
func (r *Replayer) known(l *Logged, id int64, copies []int64) bool {
	if slices.ContainsFunc(l.Suppressed, func(s Suppressed) bool { return s.TurnID == id }) {
		return true
	}
	if slices.ContainsFunc(copies, func(c int64) bool { return slices.Contains(r.given, c) }) {
		return true
	}
	return !l.handed(id) && slices.ContainsFunc(copies, r.visible)
}

// handed reports whether the prompt was given a turn.
func (l *Logged) handed(id int64) bool {
	return slices.ContainsFunc(l.Injected, func(x Injected) bool { return x.TurnID == id })
}
