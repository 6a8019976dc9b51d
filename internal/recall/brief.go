package recall

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/transcript"
)

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

const (
	reasonNoBudget = "the budget leaves no room for any text"
	patternOff     = "injection is off for %s"
)

// MakeBrief says where the last session of a project left off. It asks no clock:
// as long as the store stays as it is, the text stays the same to the byte.
func MakeBrief(ctx context.Context, r *search.Reader, q BriefRequest) (Brief, error) {
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return Brief{}, err
	}
	defer snap.Close()
	view, err := snap.View(ctx, search.Scope{Dir: q.Dir})
	if err != nil || view.Reason != "" {
		return Brief{Reason: view.Reason}, err
	}
	if off := switchedOff(view, q.Enabled); off != "" {
		return Brief{Reason: off}, nil
	}
	b, err := gather(ctx, snap, view)
	if err != nil {
		return Brief{}, err
	}
	out := b.within(budgeted(q.Budget))
	if out.Text == "" {
		out.Reason = reasonNoBudget
	}
	return out, nil
}

// switchedOff is the reason where injection is off for a project of the view.
func switchedOff(view search.View, enabled func(project string) bool) string {
	for _, project := range view.Projects() {
		if enabled != nil && !enabled(project) {
			return fmt.Sprintf(patternOff, project)
		}
	}
	return ""
}

// A brief is what the text is made of. head, asked and answered are empty where
// there is nothing to say of the last session.
type brief struct {
	head            string
	asked, answered quote
	pointer         string
}

// A quote is a turn and what is shown of it.
type quote struct {
	turn int64
	text string
}

func gather(ctx context.Context, snap *search.Snapshot, view search.View) (brief, error) {
	var b brief
	sessions, turns, err := snap.Counts(ctx, view)
	if err != nil {
		return b, err
	}
	last, found, err := snap.LastSession(ctx, view)
	if err != nil {
		return b, err
	}
	project := view.Projects()[0]
	if found && last.Project != nil {
		project = *last.Project
	}
	project = oneLine(project)
	b.pointer = fmt.Sprintf("Terminus has %s and %s archived for %s, searchable at turn granularity.\n"+
		"Reach them with the recall_search, recall_context and recall_get tools rather than guessing.",
		counted(sessions, "session"), counted(turns, "turn"), project)
	if !found {
		return b, nil
	}
	b.head = head(project, last.LastTurnAt, last.Branch)
	err = b.quoteLast(ctx, snap, last.No)
	return b, err
}

func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// head says when and where the last session ended, as far as that is known.
func head(project string, lastTurnAt, branch *string) string {
	b := "The last session in " + project
	switch {
	case lastTurnAt != nil && branch != nil:
		return b + " ended " + day(*lastTurnAt) + ", on branch " + oneLine(*branch) + "."
	case lastTurnAt != nil:
		return b + " ended " + day(*lastTurnAt) + "."
	case branch != nil:
		return b + " was on branch " + oneLine(*branch) + "."
	}
	return b + " is archived."
}

// day is the day of a time as harnesses write it: its first ten bytes.
func day(ts string) string {
	const length = len("2006-01-02")
	if len(ts) <= length || !utf8.RuneStart(ts[length]) {
		return oneLine(ts)
	}
	return oneLine(ts[:length])
}

// quoteLast quotes the last prompt and the last answer of a session, neither where
// there is none.
func (b *brief) quoteLast(ctx context.Context, snap *search.Snapshot, session int64) error {
	typed, asked, err := snap.LastTyped(ctx, session)
	if err != nil {
		return err
	}
	reply, answered, err := snap.LastReply(ctx, session)
	if err != nil {
		return err
	}
	if err := snap.Prefetch(ctx, []search.Turn{typed, reply}); err != nil {
		return err
	}
	if asked {
		text, err := snap.QuoteTyped(ctx, &typed)
		if err != nil {
			return err
		}
		b.asked = quote{typed.ID, defuse(text)}
	}
	if answered {
		text, err := snap.Quote(ctx, &reply, nil)
		if err != nil {
			return err
		}
		b.answered = quote{reply.ID, defuse(text)}
	}
	return nil
}

// within is the brief in a budget of characters. What the lines around the quotes
// leave is shared between the two in halves, and what one does not need goes to
// the other; a quote for which nothing is left goes with its line. Where the lines
// around the quotes are too long by themselves, the text is cut from its end.
func (b brief) within(budget int) Brief {
	whole := b.render(b.asked.text, b.answered.text)
	if n := utf8.RuneCountInString(whole); n > budget {
		asked, answered := utf8.RuneCountInString(b.asked.text), utf8.RuneCountInString(b.answered.text)
		left := max(budget-(n-asked-answered), 0)
		answered = min(answered, left-min(asked, left/2))
		asked = min(asked, left-answered)
		b.asked.text, b.answered.text = cut(b.asked.text, asked), cut(b.answered.text, answered)
		whole = fit(b.render(b.asked.text, b.answered.text), budget)
	}
	out := Brief{Text: whole}
	for _, q := range []quote{b.asked, b.answered} {
		if q.text != "" {
			out.Quoted = append(out.Quoted, q.turn)
		}
	}
	return out
}

const (
	askedLabel    = "It last asked: "
	answeredLabel = "It last answered: "
)

// render lays out the brief. An empty quote has no line.
func (b brief) render(asked, answered string) string {
	var lines []string
	if b.head != "" {
		lines = append(lines, b.head)
		if asked != "" {
			lines = append(lines, askedLabel+asked)
		}
		if answered != "" {
			lines = append(lines, answeredLabel+answered)
		}
		lines = append(lines, "")
	}
	lines = append(lines, b.pointer)
	return frame(transcript.BriefIntro, strings.Join(lines, "\n"))
}
