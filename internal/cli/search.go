package cli

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/search"
)

func newSearch(e *env) *cobra.Command {
	var q search.Query
	var resumeHint bool
	cmd := &cobra.Command{
		Use:     "search <word>...",
		Short:   "Find turns that hold all the words",
		GroupID: groupRecall,
		Long: `Find the turns of archived sessions that hold all the words, best first. A turn
is printed as its id, its day, its transcript and its project, with the text
around the match below. ` + "`terminus show <id>`" + ` prints a turn's record.`,
		Example: `  terminus search retry budget
  terminus search --project '*' --since 2026-08-01 "jwt refresh"
  terminus search --path src/worker/S.ts budget
  terminus search --kind user --json migration | jq .data.hits`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errNoWords
			}
			q.Words = strings.Join(args, " ")
			return nil
		},
	}
	fl := cmd.Flags()
	projectFlag(fl, &q.Scope.Project)
	harnessFlag(fl, &q.Scope.Harnesses)
	fl.Var(textFlag{&q.Kind, "type"}, "kind", "only turns of this record type: user, assistant, system or attachment")
	fl.Var(textFlag{&q.Tool, "name"}, "tool", "only turns whose first tool call is of the tool of this name")
	fl.Var(listFlag{&q.Paths, "path"}, "path", "only turns whose tool fields name exactly this path (may be repeated: any of them)")
	fl.Var(textFlag{&q.Session, "key"}, "session", "only turns of the session of this key, or whose key begins with it")
	sinceUntilFlags(fl, &q.Since, &q.Until)
	fl.Var(wholeFlag{&q.Limit, 1}, "limit", "at most this many hits, 50 at most (default 10)")
	fl.Var(wholeFlag{&q.Offset, 0}, "offset", "leave out the first so many hits; the order ends after 200")
	fl.BoolVar(&resumeHint, "resume-hint", false, "print below each hit how to go on with its session")
	rawFlag(fl, &q.Raw)
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return search.Empty(q.Words) },
		run: func(ctx context.Context) (answer, error) {
			q.ForPeople = !e.json
			res, warnings, err := ask(ctx, e, func(r *search.Reader) (search.Result, error) {
				q.Scope.Dir = e.environ.WorkDir
				return r.Find(ctx, q)
			})
			if res.Truncated || search.Empty(q.Words).Truncated {
				warnings = append(warnings, "the query has too many words: only the first were searched")
			}
			return answer{data: res, reason: res.Reason, warnings: warnings, text: func() error {
				e.printHits(res, resumeHint)
				return nil
			}}, err
		},
	})
}

// excerptIndent stands before the text below a hit.
const excerptIndent = "    "

func (e *env) printHits(res search.Result, resumeHint bool) {
	for _, h := range res.Hits {
		id := strconv.FormatInt(h.TurnID, 10)
		when := day(h.TS)
		if e.screen.terminal() {
			when = localDay(h.TS)
		}
		head := gap + e.screen.row(len(id+gap), cell{when, never}, cell{fileName(h.SessionKey), gladly},
			cell{orNone(h.Project, "(no project)"), gladly}, mark(h.Sidechain, "(subagent)"))
		e.printf("%s%s\n", e.screen.style(bold, id), e.screen.style(faint, head))
		e.printExcerpt(visible(h.Excerpt), res.Terms)
		if resumeHint {
			e.printf("%s%s\n", excerptIndent, e.screen.style(faint, visible(resumeLine(h.Resume))))
		}
	}
	if res.Reason != "" {
		e.reason(res.Reason, res.Elsewhere)
		return
	}
	e.notef("%s", count(len(res.Hits), "hit"))
	// One word alone has nothing to tell: it stands nowhere.
	if len(res.Counts) > 1 {
		for _, c := range res.Counts {
			e.notef("%s%s: %s", excerptIndent, c.Word, count(c.Turns, "turn"))
		}
	}
}

// printExcerpt prints one line of text below its heading, on a terminal with
// the words that were searched standing out.
func (e *env) printExcerpt(line string, terms []string) {
	limit := 0
	if e.screen.terminal() {
		limit = max(e.screen.width-len(excerptIndent), 1)
	}
	for _, part := range wrap(line, limit) {
		if e.screen.colour {
			part = highlight(part, terms)
		}
		e.printf("%s%s\n", excerptIndent, part)
	}
}

// highlight makes the words of terms in a line stand out.
func highlight(line string, terms []string) string {
	var b strings.Builder
	done := 0
	for _, span := range derive.Mark(line, terms) {
		b.WriteString(line[done:span[0]])
		b.WriteString(bold + line[span[0]:span[1]] + plain)
		done = span[1]
	}
	return b.String() + line[done:]
}

// localDay is the day of a time stamp where the reader is, and says so. A stamp
// that is no time is shown as day shows it.
func localDay(ts *string) string {
	if ts != nil {
		if t, err := time.Parse(time.RFC3339Nano, *ts); err == nil {
			return t.Local().Format(time.DateOnly) + " (local)"
		}
	}
	return day(ts)
}

// resumeLine is what to type in a shell to go on with a session, or why that
// cannot be done.
func resumeLine(r search.Resume) string {
	if len(r.Command) == 0 {
		return "(no session to resume)"
	}
	if _, err := os.Stat(r.Transcript); err != nil {
		return "(its transcript is gone: it can be read here and not resumed)"
	}
	words := make([]string, len(r.Command))
	for i, w := range r.Command {
		words[i] = shellWord(w)
	}
	line := strings.Join(words, " ")
	if r.Dir != "" {
		line = "cd " + shellWord(r.Dir) + " && " + line
	}
	return line
}

// shellWord quotes a word for a shell where it needs it.
func shellWord(w string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,"
	if w != "" && strings.Trim(w, bare) == "" {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
