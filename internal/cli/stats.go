package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/feedback"
	"github.com/terminus-archive/terminus/internal/search"
)

func newStats(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Show how well recall did on the prompts so far",
		GroupID: groupAgents,
		Long: `Count the prompts that the hook saw, what was handed over for them, and what came of
it. A turn that was handed over is a hit where the session named something of it
itself afterwards. Sessions are judged once they have been idle for six hours, so that
what was typed last is not judged yet.`,
		Example: `  terminus stats
  terminus stats --json | jq .data.precision`,
		Args: noArgs,
	}
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return feedback.Stats{} },
		run: func(ctx context.Context) (answer, error) {
			st, warnings, err := ask(ctx, e, func(r *search.Reader) (feedback.Stats, error) { return feedback.Tally(ctx, r) })
			return answer{data: st, reason: st.Reason, warnings: warnings, text: func() error {
				e.printStats(st)
				return nil
			}}, err
		},
	})
}

func (e *env) printStats(st feedback.Stats) {
	if st.Reason != "" {
		e.notef("%s", st.Reason)
		return
	}
	precision := "(nothing labelled yet)"
	if st.Precision != nil {
		precision = fmt.Sprintf("%.2f", *st.Precision)
	}
	const width = 18
	number := func(label string, n int64) { e.labelledIn(width, label, "%d", n) }
	number("decisions", st.Decisions)
	number("  compacted", st.CompactedDecisions)
	number("  ordinary", st.OrdinaryDecisions)
	if unknown := st.Decisions - st.CompactedDecisions - st.OrdinaryDecisions; unknown != 0 {
		number("  not recorded", unknown)
	}
	number("injected turns", st.InjectedTurns)
	number("hits", st.Hits)
	number("false positives", st.FalsePositives)
	e.labelledIn(width, "precision", "%s", precision)
	number("misses", st.Misses)
	number("wasted budget", st.WastedBudget)
	number("chars injected", st.CharsInjected)
	number("chars referenced", st.CharsReferenced)
}
