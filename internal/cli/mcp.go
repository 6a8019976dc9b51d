package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/mcp"
	"github.com/terminus-archive/terminus/internal/wire/claude"
)

func newMCP(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "mcp",
		Short:   "Answer an agent's questions over stdio (Model Context Protocol)",
		GroupID: groupAgents,
		Long: `Serve three tools to an agent that speaks the Model Context Protocol over stdio:
recall_search finds turns, recall_context shows the turns around one, recall_get
reads turns in full. An agent starts it itself, in the directory whose project it
is to look at, and ends it by closing its stdin. It reads only.`,
		Example: `  claude mcp add --scope user terminus -- terminus mcp`,
		Args:    noArgs,
		RunE:    e.action(e.serveMCP),
	}
}

func (e *env) serveMCP(ctx context.Context) error {
	if f, ok := e.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		e.notef("waiting for an agent's messages on stdin; Ctrl-D ends it")
	}
	debug.SetMemoryLimit(memoryLimit)
	out := &answers{w: e.stdout}
	err := mcp.New(mcp.Options{
		Version: Version(),
		WorkDir: e.environ.WorkDir,
		Quiet:   e.servedTwice(),
		Config:  func() (*config.Config, error) { return config.Load(e.environ) },
		Warn:    func(text string) { e.warnf("%s", text) },
	}).Serve(ctx, e.stdin, out)
	switch {
	case out.gone:
		return nil
	case err != nil:
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// servedTwice reports whether the plugin of Claude Code started this server beside the
// one that install wired: then that one has the tools.
func (e *env) servedTwice() bool {
	if !e.environ.ByPlugin() {
		return false
	}
	places, err := e.environ.Wiring()
	return err == nil && claude.RunsServer(places.ClaudeState)
}

// answers is stdout as the server needs it: a reader that has gone is an error,
// which ends the loop, and no failure.
type answers struct {
	w    io.Writer
	gone bool
}

func (a *answers) Write(p []byte) (int, error) {
	n, err := a.w.Write(p)
	a.gone = a.gone || err != nil && readerGone(err)
	return n, err
}
