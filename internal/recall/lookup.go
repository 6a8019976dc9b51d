package recall

import (
	"context"

	"github.com/terminus-archive/terminus/internal/search"
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

// DefaultLimits are those of the contract. No setting changes them.
var DefaultLimits = Limits{Ranked: 10, CompactedRanked: 50, EntityRank: 3, CoOccurring: 2, MaxTurns: 3, MaxCandidates: 8}

// A LookupRequest is a prompt, and what is known of the session it was typed in.
type LookupRequest struct {
	SessionID string
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

// LookUp finds the past turns that a prompt is given. A prompt that names no
// path and no identifier is answered without asking the store.
func LookUp(ctx context.Context, r *search.Reader, q LookupRequest) (Lookup, error) {
	return Lookup{State: q.State}, nil
}

// Spellings are what is looked up for a prompt typed in dir: the paths that it
// names and its identifier-shaped words, at most limit of them. A relative path
// is one name and gives two spellings: below dir, and as it was typed.
func Spellings(prompt, dir string, limit int) []string { return nil }
