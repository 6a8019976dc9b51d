package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
)

func newShow(e *env) *cobra.Command {
	var q recall.Request
	cmd := &cobra.Command{
		Use:     "show <id>...",
		Short:   "Print the archived record of turns, with the turns around them",
		GroupID: groupRecall,
		Long: `Print turns by their ids, which search names: the archived record, byte for byte
into a pipe, and with --before or --after what the turns around it say.`,
		Example: `  terminus show 167772164
  terminus show 167772164 --before 3 --after 3
  terminus show --json 167772164 | jq -r .data.records[].body`,
		Args: func(_ *cobra.Command, args []string) (err error) {
			q.IDs, err = turnIDs(args)
			return err
		},
	}
	fl := cmd.Flags()
	projectFlag(fl, &q.Scope.Project)
	fl.Var(wholeFlag{&q.Before, 0}, "before", "show this many turns before it, 25 at most (default 0)")
	fl.Var(wholeFlag{&q.After, 0}, "after", "show this many turns after it, 25 at most (default 0)")
	rawFlag(fl, &q.Raw)
	return e.bind(cmd, dataCommand{
		empty: func(why string) any { return allAbsent(q.IDs, why) },
		run: func(ctx context.Context) (answer, error) {
			res, warnings, err := ask(ctx, e, func(r *search.Reader) (recall.Records, error) {
				q.Scope.Dir = e.environ.WorkDir
				return recall.Get(ctx, r, q)
			})
			return answer{data: res, reason: res.Reason, warnings: warnings, text: func() error {
				e.printRecords(res)
				return nil
			}}, err
		},
	})
}

func turnIDs(words []string) ([]int64, error) {
	if len(words) == 0 {
		return nil, errors.New("no turn id")
	}
	ids := make([]int64, len(words))
	for i, w := range words {
		id, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a turn id", w)
		}
		ids[i] = id
	}
	return ids, nil
}

// allAbsent is the data of an answer without records: it says of every id why.
func allAbsent(ids []int64, why string) recall.Records {
	var res recall.Records
	seen := make(map[int64]bool, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			res.Absent = append(res.Absent, recall.Absent{TurnID: id, Reason: why})
		}
	}
	return res
}

func (e *env) printRecords(res recall.Records) {
	for i := range res.Records {
		if e.out.done() {
			return
		}
		e.printRecord(&res.Records[i])
	}
	reasons := make([]string, 0, len(res.Absent))
	for _, a := range res.Absent {
		// One reason for all ids is said once.
		if !slices.Contains(reasons, a.Reason) {
			reasons = append(reasons, a.Reason)
			e.notef("%s", a.Reason)
		}
	}
	e.hintElsewhere(res.Elsewhere)
}

func (e *env) printRecord(r *recall.Record) {
	id := strconv.FormatInt(r.TurnID, 10)
	head := gap + e.screen.row(len(id+gap), cell{orNone(r.TS, "(no time)"), never}, cell{fileName(r.SessionKey), gladly},
		cell{orNone(r.Project, "(no project)"), gladly}, mark(r.BodyEvicted && r.Body == nil, "(body evicted)"))
	e.printf("%s%s\n", e.screen.style(bold, id), e.screen.style(faint, head))
	switch {
	case r.Body != nil && e.screen.terminal():
		e.printf("%s\n", visibleText(string(r.Raw)))
	case r.Body != nil:
		_, _ = e.out.Write(append(r.Raw, '\n'))
	case !r.BodyEvicted:
		e.printf("(its bytes cannot be read: terminus verify says what is damaged)\n")
	}
	if r.Context != nil {
		e.printWindow(r.Context)
	}
}

// windowIndent stands before every line of a window.
const windowIndent = "  "

func (e *env) printWindow(w *recall.Window) {
	say := func(line string) {
		limit := 0
		if e.screen.terminal() {
			limit = max(e.screen.width-len(windowIndent), 1)
		}
		for _, part := range wrap(line, limit) {
			e.printf("%s%s\n", windowIndent, part)
		}
	}
	if len(w.Turns) == 0 {
		say("(no context: " + orNone(w.Reason, "no turns around it") + ")")
		return
	}
	if w.AtSessionStart {
		say("(start of the session)")
	}
	for _, t := range w.Turns {
		mark := "  "
		if t.IsAnchor {
			mark = "> "
		}
		say(mark + strconv.FormatInt(t.TurnSeq, 10) + "  " + turnKind(t.RecordType, t.ToolName) + "  " + visible(t.Text))
	}
	if w.AtSessionEnd {
		say("(end of the session)")
	}
	if w.ContinuesFrom != nil {
		say("(continues from session " + visible(*w.ContinuesFrom) + ")")
	}
}

// turnKind is a turn's record type, with the tool that it calls.
func turnKind(recordType string, tool *string) string {
	if tool == nil {
		return visible(recordType)
	}
	return visible(recordType + "/" + *tool)
}
