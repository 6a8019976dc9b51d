package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/hook"
)

// newHook is the command for help and completion. A command line that is just
// right never comes here: Main answers it.
func newHook(e *env) *cobra.Command {
	var event string
	cmd := &cobra.Command{
		Use:     hook.Name + " <event>",
		Short:   "Answer a hook of Claude Code",
		GroupID: groupAgents,
		Long: `Answer one hook of Claude Code: it is what the agent runs, with the event's JSON
on stdin. Each event starts a pass in the background. SessionStart prints where
the last session in the project left off, UserPromptSubmit the past turns that
match what the prompt names, both as JSON for the agent; SessionEnd and
PostCompact print nothing. Once the event is known the exit code is 0.

` + "`terminus log`" + ` shows what each prompt was given.`,
		Example:   `  echo '{"cwd":"'"$PWD"'"}' | terminus hook SessionStart`,
		ValidArgs: hook.Events(),
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("no event: one of " + strings.Join(hook.Events(), ", "))
			case len(args) > 1:
				return fmt.Errorf("unexpected word %q: one event at a time", args[1])
			case !slices.Contains(hook.Events(), args[0]):
				return fmt.Errorf("unknown event %q: one of %s", args[0], strings.Join(hook.Events(), ", "))
			}
			event = args[0]
			return nil
		},
	}
	cmd.RunE = e.action(func(context.Context) error {
		hook.Run(event, e.environ, e.stdin, e.out, e.stderr)
		return nil
	})
	return cmd
}
