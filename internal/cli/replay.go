package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/feedback"
	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
)

func newReplay(e *env) *cobra.Command {
	limits := recall.DefaultLimits
	cmd := &cobra.Command{
		Use:     "replay",
		Short:   "Show what other thresholds would have done on your prompts",
		GroupID: groupAgents,
		Long: `Decide the logged prompts of closed sessions once more, by the thresholds of the
flags, and compare the labels with those that the archive holds. Nothing is changed, and
no flag or setting changes what the hook hands over.`,
		Example: `  terminus replay --entity-rank 5
  terminus replay --max-turns 1 --json | jq .data.changed`,
		Args: noArgs,
	}
	fl := cmd.Flags()
	fl.Var(wholeFlag{&limits.Ranked, 0}, "ranked", "hits that are looked at")
	fl.Var(wholeFlag{&limits.CompactedRanked, 0}, "compacted-ranked", "hits that are looked at after a compaction")
	fl.Var(wholeFlag{&limits.EntityRank, 0}, "entity-rank", "ranks in which one thing that the prompt names is enough")
	fl.Var(wholeFlag{&limits.CoOccurring, 0}, "co-occurring", "things that it must name in any other rank")
	fl.Var(wholeFlag{&limits.MaxTurns, 0}, "max-turns", "turns that are handed over (0: none)")
	fl.Var(wholeFlag{&limits.MaxCandidates, 0}, "max-candidates", "names that are looked up (0: none)")
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return feedback.NothingReplayed(limits) },
		run: func(ctx context.Context) (answer, error) {
			m := e.meter()
			m.unit = "session"
			res, warnings, err := ask(ctx, e, func(r *search.Reader) (feedback.Replay, error) {
				return feedback.Run(ctx, r, limits, m.update)
			})
			m.clear()
			return answer{data: res, reason: res.Reason, warnings: warnings, text: func() error {
				e.printReplay(res)
				return nil
			}}, err
		},
	})
}

func (e *env) printReplay(r feedback.Replay) {
	if r.Reason != "" {
		e.notef("%s", r.Reason)
		return
	}
	const width = 17
	e.labelledIn(width, "decisions", "%d", r.Decisions)
	for _, x := range r.Labels {
		e.labelledIn(width, x.Label, "%d -> %d", x.Old, x.New)
	}
	e.labelledIn(width, "changed", "%s", count(len(r.Changed), "decision"))
}
