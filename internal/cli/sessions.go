package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/search"
)

func newSessions(e *env) *cobra.Command {
	var q search.SessionQuery
	cmd := &cobra.Command{
		Use:     "sessions",
		Short:   "List the archived sessions",
		GroupID: groupRecall,
		Long: `List the sessions of a project in the order in which they were archived: the day
of the first turn, the transcript, the number of turns, project and branch.
--since and --until keep the sessions that were alive in between.`,
		Example: `  terminus sessions
  terminus sessions --project '*' --since 2026-08-01 --json`,
		Args: noArgs,
	}
	fl := cmd.Flags()
	projectFlag(fl, &q.Scope.Project)
	harnessFlag(fl, &q.Scope.Harnesses)
	sinceUntilFlags(fl, &q.Since, &q.Until)
	fl.Var(wholeFlag{&q.Limit, 1}, "limit", "at most this many sessions (default all)")
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return search.SessionList{} },
		run: func(ctx context.Context) (answer, error) {
			list, warnings, err := ask(ctx, e, func(r *search.Reader) (search.SessionList, error) {
				q.Scope.Dir = e.environ.WorkDir
				return r.Sessions(ctx, q)
			})
			return answer{data: list, reason: list.Reason, warnings: warnings, text: func() error {
				e.printSessions(list)
				return nil
			}}, err
		},
	})
}

func (e *env) printSessions(list search.SessionList) {
	for _, s := range list.Sessions {
		e.printf("%s\n", e.screen.row(0,
			cell{day(s.FirstTurnAt), never}, cell{fileName(s.SessionKey), gladly}, cell{count(s.Turns, "turn"), never},
			cell{orNone(s.Project, "(no project)"), gladly}, cell{orNone(s.Branch, "(no branch)"), last},
			mark(s.Sidecar, "(subagent)"), mark(s.Evicted, "(evicted)")))
	}
	if list.Reason != "" {
		e.reason(list.Reason, list.Elsewhere)
		return
	}
	e.notef("%s", count(len(list.Sessions), "session"))
}
