package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/feedback"
	"github.com/terminus-archive/terminus/internal/search"
)

const (
	// defaultEntries is a screen or two.
	defaultEntries = 10
	// promptShown is how much of a prompt people are shown, in columns: as much as
	// an excerpt has. The document holds it whole.
	promptShown = 240
)

func newLog(e *env) *cobra.Command {
	q := feedback.LogQuery{Limit: defaultEntries}
	cmd := &cobra.Command{
		Use:     "log",
		Short:   "Show what each prompt was given, and why",
		GroupID: groupAgents,
		Long: `List the prompts that the hook saw, the newest first: what was looked up for each,
and the exact text that was handed over, or the reason why there was none. Every
project is listed but those that the configuration excludes.`,
		Example: `  terminus log -n 3
  terminus log --session 5e0a94cf --json`,
		Args: noArgs,
	}
	fl := cmd.Flags()
	fl.VarP(wholeFlag{&q.Limit, 1}, "number", "n", "at most this many prompts")
	fl.Var(textFlag{&q.Session, "id"}, "session", "only prompts of the sessions whose id begins so")
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return feedback.EntryList{} },
		run: func(ctx context.Context) (answer, error) {
			q.Session = strings.TrimSuffix(q.Session, ".jsonl") // a session key
			list, warnings, err := ask(ctx, e, func(r *search.Reader) (feedback.EntryList, error) {
				return feedback.Log(ctx, r, e.loaded.DataDir, q)
			})
			if list.Warning != "" {
				warnings = append(warnings, list.Warning)
			}
			return answer{data: list, reason: list.Reason, warnings: warnings, text: func() error {
				e.printLog(list)
				return nil
			}}, err
		},
	})
}

func (e *env) printLog(list feedback.EntryList) {
	for i := range list.Decisions {
		if i > 0 {
			e.printf("\n")
		}
		e.printEntry(&list.Decisions[i])
	}
	if list.Reason != "" {
		e.notef("%s", list.Reason)
		return
	}
	e.notef("%s", count(len(list.Decisions), "prompt"))
}

func (e *env) printEntry(d *feedback.Entry) {
	when := visible(d.TS)
	if e.screen.terminal() {
		when = localTime(d.TS)
	}
	head := gap + e.screen.row(width(when)+len(gap), cell{visible(d.SessionID), gladly}, cell{orNone(&d.CWD, "(no directory)"), gladly},
		mark(d.Compacted != nil && *d.Compacted, "(after a compaction)"))
	e.printf("%s%s\n", e.screen.style(bold, when), e.screen.style(faint, head))
	e.printBelow(excerptIndent, fit(visible(strings.Join(strings.Fields(d.Prompt), " ")), promptShown))
	if len(d.Spellings) > 0 {
		e.printBelow(excerptIndent, "looked up: "+visible(strings.Join(d.Spellings, ", ")))
	}
	if len(d.Suppressed) > 0 {
		var held []string
		for _, x := range d.Suppressed {
			held = append(held, fmt.Sprintf("turn %d (%s)", x.TurnID, visible(strings.ReplaceAll(x.Reason, "_", " "))))
		}
		e.printBelow(excerptIndent, "held back: "+strings.Join(held, ", "))
	}
	if d.Text == nil {
		e.printBelow(excerptIndent, "nothing handed over: "+orNone(d.Reason, "(no reason)"))
		return
	}
	e.printBelow(excerptIndent, "handed over, "+count(d.CharsInjected, "character")+":")
	for line := range strings.SplitSeq(*d.Text, "\n") {
		e.printBelow(excerptIndent+excerptIndent, visible(line))
	}
}

// printBelow prints one line of text behind an indent, on a terminal in as many
// lines as it takes.
func (e *env) printBelow(indent, line string) {
	limit := 0
	if e.screen.terminal() {
		limit = max(e.screen.width-len(indent), 1)
	}
	for _, part := range wrap(line, limit) {
		e.printf("%s%s\n", indent, part)
	}
}

// localTime is a time stamp of ours where the reader is.
func localTime(ts string) string {
	t, err := time.Parse(time.RFC3339Nano, ts)
	if err != nil {
		return visible(ts)
	}
	return t.Local().Format(time.DateTime) + " (local)"
}
