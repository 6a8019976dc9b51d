package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/document"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/observe"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/store"
)

const (
	observationsCommand = "observations"
	regenerateCommand   = "regenerate"
)

func newObservations(e *env) *cobra.Command {
	var scope search.Scope
	cmd := &cobra.Command{
		Use:     observationsCommand,
		Short:   "Show what each finished session did",
		GroupID: groupRecall,
		Long: `List the facts of the finished sessions of a project, in the order in which they
were archived: the files that were read and changed, the tools, commands, errors
and commits, and how long it took. They are read from the records themselves; no
model is asked.

A session is finished when its last turn is more than six hours old, and the next
ingest notes its facts. One that grows afterwards is finished again later.`,
		Example: `  terminus observations
  terminus observations --project '*' --json
  terminus observations regenerate --since 2026-08-01`,
		Args: noArgs,
	}
	projectFlag(cmd.Flags(), &scope.Project)
	cmd.AddCommand(newRegenerate(e))
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return search.ObservationList{} },
		run: func(ctx context.Context) (answer, error) {
			list, warnings, err := ask(ctx, e, func(r *search.Reader) (search.ObservationList, error) {
				scope.Dir = e.environ.WorkDir
				return r.Observations(ctx, scope)
			})
			return answer{data: list, reason: list.Reason, warnings: warnings, text: func() error {
				return e.printObservations(list)
			}}, err
		},
	})
}

func (e *env) printObservations(list search.ObservationList) error {
	for _, o := range list.Observations {
		if err := e.printObservation(o); err != nil {
			return err
		}
	}
	if list.Reason != "" {
		e.reason(list.Reason, list.Elsewhere)
		return nil
	}
	e.notef("%s", count(len(list.Observations), "observation"))
	return nil
}

func (e *env) printObservation(o search.Observation) error {
	text, err := document.Encode(o.Mechanical)
	if err != nil {
		return err
	}
	f, ok := observe.Decode(text)
	if _, isObject := o.Mechanical.(map[string]any); !ok || !isObject {
		e.printf("%s  (no facts that can be read)\n", e.screen.style(bold, fileName(o.SessionKey)))
		return nil
	}
	e.printf("%s\n", e.screen.row(0,
		cell{fileName(o.SessionKey), gladly}, cell{orNone(f.Branch, "(no branch)"), last}, cell{count(f.Turns, "turn"), never},
		cell{lasted(f.DurationSeconds), never}, cell{count(f.Compactions, "compaction"), never}))
	for _, l := range []struct {
		label  string
		values []string
	}{
		{"files modified", f.FilesModified},
		{"files read", f.FilesRead},
		{"tools", f.Tools},
		{"commands", f.Commands},
		{"errors", f.Errors},
		{"commits", f.Commits},
		{"truncated", f.Truncated},
	} {
		if len(l.values) > 0 {
			const labelWidth = 15
			e.printBelow(gap, fmt.Sprintf("%-*s%s", labelWidth, l.label, visible(strings.Join(l.values, ", "))))
		}
	}
	return nil
}

// lasted is how long a session took.
func lasted(seconds *int64) string {
	switch {
	case seconds == nil:
		return "(no duration)"
	case *seconds < 1:
		return fmt.Sprintf("%ds", *seconds)
	}
	return duration(time.Duration(*seconds) * time.Second)
}

// A regenerateDocument is the data of observations regenerate.
type regenerateDocument struct {
	Since       *string  `json:"since"`
	Selected    int64    `json:"selected"`
	Regenerated int64    `json:"regenerated"`
	Notes       []string `json:"notes"`
}

func newRegenerate(e *env) *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   regenerateCommand,
		Short: "Compute the facts of finished sessions again",
		Long: `Compute the facts of sessions again that have some already, out of the archived
bytes: of all that are not excluded, or with --since of those whose last turn is at
or after that date. When an observation was made stays as it was, and no session
gets one that had none. What cannot be computed again, because the bytes are gone,
stays and is named.`,
		Example: `  terminus observations regenerate
  terminus observations regenerate --since 2026-08-01 --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if i := slices.Index(e.args, observationsCommand); i+1 >= len(e.args) || e.args[i+1] != regenerateCommand {
				return fmt.Errorf("%s comes first, and its flags after it", regenerateCommand)
			}
			return noArgs(cmd, args)
		},
	}
	cmd.Flags().Var(timeFlag{&since, search.Since}, "since",
		"only sessions whose last turn is at or after this date (YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SS.mmmZ)")
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return regenerateData(since, observe.Regenerated{}) },
		run:   func(ctx context.Context) (answer, error) { return e.regenerate(ctx, since) },
	})
}

func regenerateData(since string, r observe.Regenerated) regenerateDocument {
	doc := regenerateDocument{Selected: r.Selected, Regenerated: r.Regenerated, Notes: r.Notes}
	if since != "" {
		doc.Since = &since
	}
	return doc
}

func (e *env) regenerate(ctx context.Context, since string) (answer, error) {
	cfg, err := e.config()
	if err != nil {
		return answer{}, err
	}
	from, _ := archive.ParseTime(since) // the flag has read it; without it the zero time
	warnings, err := e.warningsOf(ctx)
	if err != nil {
		return answer{}, err
	}
	debug.SetMemoryLimit(ingest.MemoryLimit)
	m := e.meter()
	done, err := ingest.Regenerate(ctx, cfg, from, m.update)
	m.clear()
	if errors.Is(err, store.ErrNoStore) {
		return e.noStoreAnswer(cfg.DataDir), nil
	}
	if err != nil {
		return answer{warnings: warnings}, err
	}
	return answer{data: regenerateData(since, done), warnings: warnings, text: func() error {
		for _, note := range done.Notes {
			e.notef("%s", note)
		}
		e.notef("%d of %s regenerated", done.Regenerated, count(done.Selected, "observation"))
		return nil
	}}, nil
}
