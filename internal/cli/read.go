package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/recall"
)

// A readDocument is the data of read:
//
//	{"session_key": "5e0a....jsonl", "project": "/abs/path/repo", "branch": "main", "turns": [
//	  {"turn_id": 42, "turn_seq": 1, "record_type": "assistant", "tool_name": null, "ts": "...",
//	   "typed": false, "rewound": false, "text": "..."}]}
//
// session_key is the key of the session that the name meant, and null with an
// empty turns where it meant none. project and branch are null for a session
// that has none. Turns stand in the order of the conversation. typed is true
// for what a person typed, rewound for a turn that its transcript no longer
// holds. text is the text that search knows of the turn, 256 KiB at most, and
// is empty where the archive does not give the turn's bytes.
type readDocument struct {
	SessionKey *string       `json:"session_key"`
	Project    *string       `json:"project"`
	Branch     *string       `json:"branch"`
	Turns      []recall.Turn `json:"turns"`
}

func newRead(e *env) *cobra.Command {
	var q recall.ReadRequest
	cmd := &cobra.Command{
		Use:     "read <session>",
		Short:   "Read a whole session as text",
		GroupID: groupRecall,
		Long: `Print a session's turns as text, in the order of the conversation, through $PAGER
on a terminal. The session is named by its key, as ` + "`terminus sessions --json`" + `
gives it, or by as much of its beginning as no other session shares; a subagent's
also by the name that search and sessions print.`,
		Example: `  terminus read 5e0a94cf
  terminus read 5e0a94cf --from 167772164
  terminus read 5e0a94cf --turns 10-20 --json`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || args[0] == "":
				return errors.New("no session")
			case len(args) > 1:
				return fmt.Errorf("unexpected word %q: one session at a time", args[1])
			}
			q.Name = args[0]
			return nil
		},
	}
	fl := cmd.Flags()
	fl.Var(idFlag{&q.From}, "from", "begin with the turn of this id")
	fl.Var(rangeFlag{&q.First, &q.Last}, "turns", "only turns number a-b of the session, counted from 0")
	rawFlag(fl, &q.Raw)
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return readDocument{} },
		run:   func(ctx context.Context) (answer, error) { return e.readSession(ctx, q) },
	})
}

func (e *env) readSession(ctx context.Context, q recall.ReadRequest) (answer, error) {
	r, warnings, err := e.open(ctx)
	if err != nil {
		return answer{}, err
	}
	a := answer{warnings: warnings, close: r.Close}
	reading, err := recall.Read(ctx, r, q)
	if err != nil {
		return a, err
	}
	if reading.Reason != "" {
		a.reason = reading.Reason
		a.text = func() error {
			e.notef("%s", reading.Reason)
			return nil
		}
		return a, nil
	}
	a.text = func() error { return e.page(func() error { return e.printReading(ctx, reading) }) }
	a.collect = func() (any, error) {
		doc := readDocument{SessionKey: &reading.SessionKey, Project: reading.Project, Branch: reading.Branch}
		for t, err := range reading.Turns(ctx) {
			if err != nil {
				return nil, err
			}
			doc.Turns = append(doc.Turns, t)
		}
		return doc, nil
	}
	return a, nil
}

func (e *env) printReading(ctx context.Context, r *recall.Reading) error {
	e.printf("%s", e.screen.style(bold, visible(r.SessionKey)))
	e.printf("  %s  %s", orNone(r.Project, "(no project)"), orNone(r.Branch, "(no branch)"))
	if r.Sidechain {
		e.printf("  (subagent)")
	}
	if r.Evicted {
		e.printf("  (evicted)")
	}
	e.printf("\n")
	for t, err := range r.Turns(ctx) {
		if err != nil {
			return err
		}
		if e.out.done() {
			return nil
		}
		e.printTurn(t)
	}
	return nil
}

func (e *env) printTurn(t recall.Turn) {
	head := "  " + orNone(t.TS, "(no time)") + "  " + turnKind(t.RecordType, t.ToolName)
	if t.Typed {
		head += "  (typed)"
	}
	if t.Rewound {
		head += "  (rewound)"
	}
	e.printf("\n%s%s\n", e.screen.style(bold, strconv.FormatInt(t.TurnID, 10)), e.screen.style(faint, head))
	if t.Machinery && t.Text != "" {
		e.printf("%s\n", e.screen.style(faint, "(about the client itself; terminus show prints it)"))
		return
	}
	if text := strings.TrimRight(t.Text, "\n"); text != "" {
		e.printf("%s\n", visibleText(text))
	}
}

// An idFlag takes a turn id.
type idFlag struct{ value **int64 }

func (f idFlag) String() string {
	if f.value == nil || *f.value == nil {
		return ""
	}
	return strconv.FormatInt(**f.value, 10)
}

func (f idFlag) Set(s string) error {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return errors.New("not a turn id")
	}
	*f.value = &id
	return nil
}

func (idFlag) Type() string { return "id" }

// A rangeFlag takes "a-b", both included; "a-", "-b" and "a" are short for
// everything from a, everything up to b, and a alone.
type rangeFlag struct{ first, last **int64 }

func (f rangeFlag) String() string { return "" }

func (f rangeFlag) Set(s string) error {
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		to = from
	}
	first, err1 := bound(from)
	last, err2 := bound(to)
	if err1 != nil || err2 != nil || first == nil && last == nil {
		return errors.New("not a range of turns (a-b)")
	}
	if first != nil && last != nil && *first > *last {
		return errors.New("the range ends before it begins")
	}
	*f.first, *f.last = first, last
	return nil
}

func (rangeFlag) Type() string { return "a-b" }

// bound reads one end of a range; an empty one is no bound.
func bound(s string) (*int64, error) {
	if s == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return nil, err
	}
	v := int64(n)
	return &v, nil
}
