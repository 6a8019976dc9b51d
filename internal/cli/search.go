package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/search"
)

func newSearch(e *env) *cobra.Command {
	var q search.Query
	cmd := &cobra.Command{
		Use:     "search <word>...",
		Short:   "Find turns that hold all the words",
		GroupID: groupRecall,
		Long: `Find the turns of archived sessions that hold all the words, best first. A turn
is printed as its id, its day, its transcript and its project, with the text
around the match below. ` + "`terminus show <id>`" + ` prints a turn's record.`,
		Example: `  terminus search retry budget
  terminus search --project '*' --since 2026-08-01 "jwt refresh"
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
	fl.Var(textFlag{&q.Kind, "type"}, "kind", "only turns of this record type: user, assistant, system or attachment")
	fl.Var(textFlag{&q.Tool, "name"}, "tool", "only turns whose first tool call is of the tool of this name")
	sinceUntilFlags(fl, &q.Since, &q.Until)
	fl.Var(wholeFlag{&q.Limit, 1}, "limit", "at most this many hits, 50 at most (default 10)")
	rawFlag(fl, &q.Raw)
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return search.Empty(q.Words) },
		run: func(ctx context.Context) (answer, error) {
			res, warnings, err := ask(ctx, e, func(r *search.Reader) (search.Result, error) {
				q.Scope.Dir = e.environ.WorkDir
				return r.Find(ctx, q)
			})
			if res.Truncated || search.Empty(q.Words).Truncated {
				warnings = append(warnings, "the query has too many words: only the first were searched")
			}
			return answer{data: res, reason: res.Reason, warnings: warnings, text: func() error {
				e.printHits(res)
				return nil
			}}, err
		},
	})
}

// excerptIndent stands before the text below a hit.
const excerptIndent = "    "

func (e *env) printHits(res search.Result) {
	for _, h := range res.Hits {
		id := strconv.FormatInt(h.TurnID, 10)
		head := gap + e.screen.row(len(id+gap), cell{day(h.TS), never}, cell{fileName(h.SessionKey), gladly},
			cell{orNone(h.Project, "(no project)"), gladly}, mark(h.Sidechain, "(subagent)"))
		e.printf("%s%s\n", e.screen.style(bold, id), e.screen.style(faint, head))
		e.printIndented(visible(h.Excerpt))
	}
	if res.Reason != "" {
		e.reason(res.Reason, res.Elsewhere)
		return
	}
	e.notef("%s", count(len(res.Hits), "hit"))
}

// printIndented prints one line of text below its heading.
func (e *env) printIndented(line string) {
	limit := 0
	if e.screen.terminal() {
		limit = max(e.screen.width-len(excerptIndent), 1)
	}
	for _, part := range wrap(line, limit) {
		e.printf("%s%s\n", excerptIndent, part)
	}
}
