package recall

import (
	"context"

	"github.com/terminus-archive/terminus/internal/search"
)

// MaxChars is the most that is handed over at once, whatever the budget says:
// Claude Code takes no more than 10,000 characters of a hook, and shows only a
// preview of what is longer.
const MaxChars = 10_000

// A BriefRequest asks for the text of a session's start.
type BriefRequest struct {
	// Dir is the working directory that the session was started in.
	Dir string
	// Budget bounds the text in characters; more than MaxChars is lowered to it.
	Budget int
	// Enabled says whether text may be handed over in a project; nil is always.
	Enabled func(project string) bool
}

// A Brief is the text of a session's start.
type Brief struct {
	// Text is all of it, "" where there is nothing to say.
	Text string
	// Quoted are the turns that the text quotes.
	Quoted []int64
	// Reason says to people why there is nothing to say.
	Reason string
}

// MakeBrief says where the last session of a project left off. It asks no clock:
// as long as the store stays as it is, the text stays the same to the byte.
func MakeBrief(ctx context.Context, r *search.Reader, q BriefRequest) (Brief, error) {
	return Brief{}, nil
}
