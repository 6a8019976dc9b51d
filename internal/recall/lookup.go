package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Limits are the numbers that decide what a prompt is given.
type Limits struct {
	Ranked          int `json:"ranked"`           // hits looked at
	CompactedRanked int `json:"compacted_ranked"` // hits looked at after a compaction
	EntityRank      int `json:"entity_rank"`      // a hit above this rank needs one match
	CoOccurring     int `json:"co_occurring"`     // any other needs so many
	MaxTurns        int `json:"max_turns"`        // turns handed over
	MaxCandidates   int `json:"max_candidates"`   // names looked up
}

// DefaultLimits are those of the contract. No setting changes them; a Replayer
// tries others, and hands nothing over.
var DefaultLimits = Limits{Ranked: 10, CompactedRanked: 50, EntityRank: 3, CoOccurring: 2, MaxTurns: 3, MaxCandidates: 8}

// enough reports whether a hit at a rank, counted from 0, may be handed over for
// the number of things in its structured fields that the prompt names.
func (l Limits) enough(rank, matched int) bool {
	return matched > 0 && (rank < l.EntityRank || matched >= l.CoOccurring)
}

// looked is how many hits are looked at.
func (l Limits) looked(compacted bool) int {
	if compacted {
		return l.CompactedRanked
	}
	return l.Ranked
}

// A LookupRequest is a prompt, and what is known of the session it was typed in.
type LookupRequest struct {
	// Transcript is the path of the session's transcript, which need not exist.
	Transcript string
	// Dir is the session's working directory.
	Dir    string
	Prompt string
	// Budget bounds the text in characters; more than MaxChars is lowered to it.
	Budget int
	// State is what the session was given before.
	State  State
	Limits Limits
	// Enabled says whether text may be handed over in a project; nil is always.
	Enabled func(project string) bool
}

// A Candidate is a turn that was looked at.
type Candidate struct {
	TurnID      int64          `json:"turn_id"`
	Relevance   float64        `json:"relevance"`
	EntityScore float64        `json:"entity_score"`
	EntityCount int            `json:"entity_count"`
	MatchedOn   []search.Match `json:"matched_on"`
}

// An Injected is a turn that was handed over.
type Injected struct {
	TurnID int64 `json:"turn_id"`
	// Chars is the length of its excerpt in the text.
	Chars int `json:"chars"`
}

// A Lookup is what a prompt is given, and how that was decided.
type Lookup struct {
	// Text is all of it, "" where nothing is handed over.
	Text string
	// Spellings are what was looked up.
	Spellings []string
	// Candidates are the hits that were looked at, best first.
	Candidates []Candidate
	Injected   []Injected
	// Suppressed are the hits that this prompt would have been given, but for the
	// reason beside each.
	Suppressed []Suppressed
	// Compacted says that this was the wider look after a compaction, which is
	// offered only the turns of Dropped.
	Compacted bool
	Dropped   []int64
	// Opened says that the store was asked. WatermarkSessionNo is then its
	// highest session number, nil without any.
	Opened             bool
	WatermarkSessionNo *int64
	// Looked says that the archive was searched: Candidates are all that was found
	// within the limits.
	Looked bool
	// Excluded says that the configuration excludes the project: nothing of the
	// prompt is to be kept.
	Excluded bool
	// State is what the session has been given now; Changed says that it differs
	// from the request's.
	State   State
	Changed bool
	// Reason says to people why nothing is handed over.
	Reason string
}

// NoNames is the reason of a prompt for which nothing is looked up.
const NoNames = "the prompt names no path and no identifier"

const (
	reasonNothing = "nothing archived matches what the prompt names"
	reasonTooLow  = "no turn matches a stored path, command, error, identifier or tool well enough"
	reasonKnown   = "the session has, or had, what matches already"
	reasonDropped = "the compaction dropped nothing that matches"
	reasonEvicted = "retention dropped the text of what matches"
	reasonResults = "only tool results match, which are never handed over"
)

// LookUp finds the past turns that a prompt is given. A prompt that names no
// path and no identifier is answered without asking the store.
//
// Hits keep the rank that they have among all: one that may not be handed over
// makes no room in front. It makes room at the end: hits that the session knows
// already do not count among those looked at.
func LookUp(ctx context.Context, r *search.Reader, q LookupRequest) (Lookup, error) {
	n := namesOf(q.Prompt, q.Dir, q.Limits.MaxCandidates)
	l := Lookup{State: q.State, Spellings: n.spellings}
	if len(n.spellings) == 0 {
		l.Reason = NoNames
		return l, nil
	}
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return l, err
	}
	defer snap.Close()
	l.Opened = snap.Stored()
	if l.WatermarkSessionNo, err = snap.NewestSession(ctx); err != nil {
		return l, err
	}
	view, err := snap.View(ctx, search.Scope{Dir: q.Dir})
	if err != nil || view.Reason != "" {
		l.Reason, l.Excluded = view.Reason, view.Excluded
		return l, err
	}
	if l.Reason = switchedOff(view, q.Enabled); l.Reason != "" {
		return l, nil
	}
	k := lookup{Lookup: l, snap: snap, view: view, q: q, names: n}
	if err := k.orient(ctx); err != nil {
		return l, err
	}
	if err := k.choose(ctx); err != nil {
		return l, err
	}
	if err := k.write(ctx); err != nil {
		return l, err
	}
	k.Looked = true
	return k.Lookup, nil
}

// A lookup is being made.
type lookup struct {
	Lookup
	snap  *search.Snapshot
	view  search.View
	q     LookupRequest
	names names

	session    int64 // that the prompt was typed in, where inSession
	inSession  bool
	compaction *search.Compaction // the newest one of it
	chosen     []search.PromptHit
}

// orient finds out where the prompt was typed, and whether a compaction waits for
// it. One that the archive has not recorded yet goes on waiting.
func (k *lookup) orient(ctx context.Context) (err error) {
	k.session, k.inSession, err = k.snap.SessionAt(ctx, k.q.Transcript)
	if err != nil || !k.inSession {
		return err
	}
	if k.compaction, err = k.snap.Compaction(ctx, k.session); err != nil || k.compaction == nil || !k.State.CompactionOwed {
		return err
	}
	if k.State.Spent >= k.compaction.Boundary && k.State.Spent > 0 {
		return nil // the one that is owed is not recorded yet
	}
	k.Compacted, k.State.CompactionOwed, k.State.Spent, k.Changed = true, false, k.compaction.Boundary, true
	k.Dropped, err = k.snap.DroppedTurns(ctx, k.compaction)
	return err
}

// visible reports whether a turn is in the context of the session: it is one of
// its own, and no compaction took it out.
func (k *lookup) visible(id int64) bool {
	return k.inSession && id>>search.TurnBits == k.session && !k.compaction.Dropped(id)
}

// known reports whether the session has, or had, a turn in its context, and why.
func (k *lookup) known(ids ...int64) (reason string) {
	for _, x := range []struct {
		reason string
		holds  func(id int64) bool
	}{
		{AlreadyInjected, func(id int64) bool { return slices.Contains(k.State.Injected, id) }},
		{VisibleInSession, k.visible},
		{CarriedByBrief, func(id int64) bool { return slices.Contains(k.State.Brief, id) }},
	} {
		if slices.ContainsFunc(ids, x.holds) {
			return x.reason
		}
	}
	return ""
}

// choose searches, and picks the turns that are handed over.
func (k *lookup) choose(ctx context.Context) error {
	limit := k.q.Limits.looked(k.Compacted)
	query := search.PromptQuery{Spellings: k.names.spellings, Words: k.names.weighed(), Limit: limit, Pass: k.visible}
	if k.Compacted {
		query.Pass = func(id int64) bool { return !k.compaction.Dropped(id) }
	}
	hits, err := k.snap.PromptHits(ctx, k.view, query)
	if err != nil {
		return err
	}
	k.Reason = reasonNothing
	for rank, looked := 0, 0; rank < len(hits) && looked < limit; rank++ {
		h := &hits[rank]
		copies, err := k.snap.Copies(ctx, h.ID)
		if err != nil {
			return err
		}
		if k.Compacted || k.known(copies...) == "" {
			looked++
		}
		k.Candidates = append(k.Candidates, Candidate{
			TurnID: h.ID, Relevance: h.Relevance, EntityScore: h.EntityScore, EntityCount: len(h.MatchedOn), MatchedOn: h.MatchedOn,
		})
		if len(k.chosen) >= k.q.Limits.MaxTurns {
			continue
		}
		if !k.consider(rank, h, copies) {
			continue
		}
		if err := k.offer(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// consider reports whether a hit is to be handed over, and notes what speaks
// against it.
func (k *lookup) consider(rank int, h *search.PromptHit, copies []int64) bool {
	if !k.q.Limits.enough(rank, len(h.MatchedOn)) {
		k.Reason = reasonTooLow
		return false
	}
	if h.ToolResult {
		k.Reason = reasonResults
		return false
	}
	if k.Compacted && !slices.ContainsFunc(copies, k.compaction.Dropped) {
		k.Reason = reasonDropped
		return false
	}
	reason := k.known(copies...)
	if slices.ContainsFunc(k.chosen, func(c search.PromptHit) bool { return slices.Contains(copies, c.ID) }) {
		reason = AlreadyInjected
	}
	if reason != "" {
		k.Reason = reasonKnown
		k.Suppressed = append(k.Suppressed, Suppressed{h.ID, reason})
		if k.State.suppress(Suppressed{h.ID, reason}) {
			k.Changed = true
		}
		return false
	}
	return true
}

// offer chooses a hit, unless retention dropped its bytes: a line that quotes
// nothing tells nothing.
func (k *lookup) offer(ctx context.Context, h *search.PromptHit) error {
	t, ok, err := k.snap.Turn(ctx, k.view, h.ID)
	if err == nil && ok && t.Session.Evicted {
		var record []byte
		if record, err = k.snap.Bytes(ctx, &t); record == nil && err == nil {
			k.Reason = reasonEvicted
			k.Suppressed = append(k.Suppressed, Suppressed{h.ID, Evicted})
			return nil
		}
	}
	if err == nil {
		k.chosen = append(k.chosen, *h)
	}
	return err
}

// write makes the text of the chosen turns. Of those for which the budget has no
// place nothing is handed over.
func (k *lookup) write(ctx context.Context) error {
	if len(k.chosen) == 0 {
		return nil
	}
	turns := make([]search.Turn, 0, len(k.chosen))
	for _, c := range k.chosen {
		// What is found is in view, so that none is missing.
		if t, ok, err := k.snap.Turn(ctx, k.view, c.ID); err != nil {
			return err
		} else if ok {
			turns = append(turns, t)
		}
	}
	if err := k.snap.Prefetch(ctx, turns); err != nil {
		return err
	}
	lines := make([]line, len(turns))
	terms, _ := derive.Terms(strings.Join(k.names.typed, " "))
	for i := range turns {
		excerpt, err := k.snap.Quote(ctx, &turns[i], terms)
		if err != nil {
			return err
		}
		lines[i] = newLine(&turns[i], excerpt)
	}
	k.Text, k.Injected = within(lines, budgeted(k.q.Budget))
	if k.Text == "" {
		k.Reason = reasonNoBudget
		return nil
	}
	k.Reason = ""
	for _, x := range k.Injected {
		k.State.Injected = append(slices.Clone(k.State.Injected), x.TurnID)
		k.Changed = true
	}
	return nil
}

// A line is what is handed over of one turn.
type line struct {
	turn    int64
	label   string
	excerpt string
}

func newLine(t *search.Turn, excerpt string) line {
	label := fmt.Sprintf("- turn %d: ", t.ID)
	if t.TS != nil {
		label = fmt.Sprintf("- turn %d (%s): ", t.ID, day(*t.TS))
	}
	return line{t.ID, defuse(label), strings.TrimSpace(defuse(excerpt))}
}

// within lays the lines out in a budget of characters. What the rest leaves is
// shared among the excerpts in equal parts. Where the rest alone is too long, the
// text is cut from its end.
func within(lines []line, budget int) (string, []Injected) {
	text := render(lines)
	if n := utf8.RuneCountInString(text); n > budget && len(lines) > 0 {
		for _, l := range lines {
			n -= utf8.RuneCountInString(l.excerpt)
		}
		share := max(budget-n, 0) / len(lines)
		lines = slices.Clone(lines)
		for i := range lines {
			lines[i].excerpt = cut(lines[i].excerpt, share)
		}
		text = fit(render(lines), budget)
	}
	var injected []Injected
	for _, l := range lines {
		_, rest, found := strings.Cut(text, "\n"+l.label)
		if !found {
			continue
		}
		excerpt, _, _ := strings.Cut(rest, "\n")
		injected = append(injected, Injected{l.turn, utf8.RuneCountInString(excerpt)})
	}
	return text, injected
}

func render(lines []line) string {
	block := make([]string, len(lines))
	for i, l := range lines {
		block[i] = l.label + l.excerpt
	}
	return frame(transcript.RecallIntro, strings.Join(block, "\n"))
}
