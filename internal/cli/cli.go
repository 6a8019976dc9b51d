// Package cli is the command line: the command tree, what each command prints
// for people, and the JSON document that each data command writes for programs.
//
// It promises the contract of the streams: with --json a run writes one
// document on one line to stdout, or, where the command line could not be
// used, nothing; the exit code and the document's ok never disagree; misuse is
// found before anything is opened; a closed stdout ends a run quietly, with the
// exit code it would have had.
//
// A command is one file: its flags, one call of the package that does the
// work, and two renderers. There is no other logic here.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/detach"
	"github.com/terminus-archive/terminus/internal/hook"
)

// Main runs the command line args (without the program's name) and returns the
// exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if detach.Reparented(args) {
		exe, err := os.Executable()
		if err != nil {
			return exitFailed
		}
		return detach.Handoff(exe, args)
	}
	keepClosedPipe()
	if event, ok := hook.Event(args); ok {
		// Before the commands are built: somebody waits for every millisecond.
		return hook.Run(event, config.OS(), stdin, stdout, stderr)
	}
	e := &env{environ: config.OS(), stdin: stdin, stdout: stdout, stderr: stderr}
	e.out = newSink(stdout)
	e.screen = screenOf(stdout, e.environ.Get)
	return e.main(context.Background(), args)
}

// An env is what one run of a command works with.
type env struct {
	environ config.Environ
	stdin   io.Reader
	stdout  io.Writer // only to start a pager on; data goes to out
	stderr  io.Writer
	out     *sink
	screen  screen // what out shows on
	loaded  *config.Config
	args    []string // the command line, without the program's name

	json   bool // a data command is to answer with a document
	begun  bool // the command line was usable: from here on an error is a failure
	failed bool // the run was carried out, and its verdict is bad
}

func (e *env) main(ctx context.Context, args []string) (code int) {
	defer func() {
		// Left alone, a panic would end the process with 2: the code of misuse.
		if p := recover(); p != nil {
			e.errorf("internal error: %v", p)
			_, _ = e.stderr.Write(debug.Stack())
			code = exitFailed
		}
	}()
	root := newRoot(e)
	e.args = args
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !e.begun {
		if !asksForHelp(args) {
			e.misused(cmd, err)
			return exitCode(err, e.begun, e.failed)
		}
		cmd.InitDefaultHelpFlag()
		err = cmd.Help()
	}
	if err != nil {
		e.errorf("%s", firstLine(err))
	}
	code = exitCode(err, e.begun, e.failed)
	if err := e.out.close(); err != nil {
		e.errorf("%v", err)
		code = exitFailed
	}
	return code
}

// misused says why the command line could not be used, and how it can be.
func (e *env) misused(cmd *cobra.Command, err error) {
	e.errorf("%s", firstLine(err))
	if cmd.Name() == helpCommand {
		cmd = cmd.Root() // the topics of help are the commands
	}
	for _, line := range strings.Split(rest(err)+cmd.UsageString(), "\n") {
		e.say(line)
	}
}

// asksForHelp reports whether a command line that cannot be used asks for help
// all the same: --help works anywhere.
func asksForHelp(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--help") || slices.Contains(args, "-h")
}

// firstLine and rest part an error of several lines: cobra puts what the
// caller may have meant below an unknown command.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func rest(err error) string {
	_, more, ok := strings.Cut(err.Error(), "\n")
	if !ok {
		return ""
	}
	return strings.Trim(more, "\n") + "\n\n"
}

// config reads the configuration, once. Commands call it after their flags are
// known to be good.
func (e *env) config() (*config.Config, error) {
	if e.loaded != nil {
		return e.loaded, nil
	}
	cfg, err := config.Load(e.environ)
	if err != nil {
		return nil, err
	}
	e.loaded = cfg
	return cfg, nil
}

// configToArchive is config for a command that archives by it: what the
// configuration probably means otherwise is said first.
func (e *env) configToArchive() (*config.Config, error) {
	cfg, err := e.config()
	if err != nil {
		return nil, err
	}
	for _, w := range cfg.Warnings {
		e.warnf("%s", w)
	}
	return cfg, nil
}

// action wraps the body of a command that writes no document.
func (e *env) action(run func(ctx context.Context) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		e.begun = true
		return run(cmd.Context())
	}
}

// Command groups, in the order in which help lists them.
const (
	groupArchive = "archive"
	groupRecall  = "recall"
	groupAgents  = "agents"
	groupCare    = "care"
)

// Commands is the command tree, for whoever describes it: manual pages and completions are
// made of it. Nothing of it is to be run.
func Commands() *cobra.Command {
	return newRoot(&env{out: newSink(io.Discard), stdin: strings.NewReader(""), stderr: io.Discard})
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "terminus",
		Short: "Keep every coding-agent session, and find any turn of it",
		Long: `Terminus keeps every coding-agent session for good, byte for byte, finds any
turn of it in milliseconds, and hands it back when it is needed. It works on
this machine alone: no network, no daemon, no model.`,
		Example: `  terminus ingest                     archive what the agents wrote
  terminus search retry budget        find turns in this project
  terminus show 167772164             print the archived record of a turn
  terminus read 5e0a                  read a whole session`,
		Version:       Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(e.stdin)
	root.SetOut(e.out)
	root.SetErr(e.stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpTemplate(root.HelpTemplate() + exitCodeHelp)
	root.Flags().BoolP("version", "V", false, "print the version")
	root.AddGroup(
		&cobra.Group{ID: groupArchive, Title: "Archiving:"},
		&cobra.Group{ID: groupRecall, Title: "Finding and reading:"},
		&cobra.Group{ID: groupAgents, Title: "Serving agents:"},
		&cobra.Group{ID: groupCare, Title: "Looking after the archive:"},
	)
	root.AddCommand(newIngest(e), newBackfill(e), newHook(e), newMCP(e), newInstall(e), newUninstall(e), newDataDir(e))
	for _, c := range dataCommands {
		root.AddCommand(c(e))
	}
	root.SetHelpCommand(newHelp())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	completeCompletion(root)
	return root
}

// completeCompletion adds cobra's command for completions now. Cobra lets it take
// any word for a shell, and answers with help.
func completeCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == completionCommand {
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// The commands that cobra brings along.
const (
	helpCommand       = "help"
	completionCommand = "completion"
)

const exitCodeHelp = `
Exit codes:
  0  done; an empty answer is one, too
  1  it could not be done, or verify found damage
  2  the command line could not be used

With --json a data command writes one JSON document on one line to stdout, also
where it fails; only misuse (2) writes none.
`

// newHelp is cobra's help command, but for a topic that does not exist: that
// is misuse.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if len(args) == 0 {
				for _, c := range cmd.Root().Commands() {
					if c.IsAvailableCommand() {
						names = append(names, c.Name()+"\t"+c.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, left, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(left) > 0 {
				return fmt.Errorf("no help about %q", strings.Join(args, " "))
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

var errNoWords = errors.New("no words to look for")
