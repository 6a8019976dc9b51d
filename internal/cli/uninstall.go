package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/wire"
	"github.com/terminus-archive/terminus/internal/wire/claude"
)

func newUninstall(e *env) *cobra.Command {
	var yes, purge bool
	cmd := &cobra.Command{
		Use:     "uninstall",
		Short:   "Take back what install did",
		GroupID: groupAgents,
		Long: `Take the hooks and the MCP server out of Claude Code's files, remove the program
from where install put it, the timer and the receipt. A file that nobody else
changed gets its bytes back; in any other only what is ours goes. The archive
stays, unless --purge asks for it to be deleted as well: then its path and its
size are shown first, and the answer is no unless it is yes.`,
		Example: `  terminus uninstall
  terminus uninstall --purge`,
		Args: noArgs,
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "with --purge: delete the archive without asking")
	cmd.Flags().BoolVar(&purge, "purge", false, "delete the archive as well")
	cmd.RunE = e.action(func(ctx context.Context) error {
		o, err := e.wiring()
		if err != nil {
			return err
		}
		dirs, dirsErr := config.Dirs(e.environ)
		removals, err := wire.Uninstall(ctx, o)
		if err != nil {
			return unchanged(err)
		}
		for _, r := range removals {
			e.printRemoval(r)
		}
		w := claude.Wiring{Settings: o.Places.ClaudeSettings, State: o.Places.ClaudeState}
		if plugin := w.Status().Plugin; plugin != "" {
			e.notef("the plugin %s is still enabled, and archives as long as it finds the program. To remove it: claude plugin uninstall %s", plugin, plugin)
		}
		if dirsErr != nil {
			return dirsErr
		}
		return e.archiveAfter(dirs.Data, purge, yes)
	})
	return cmd
}

func (e *env) printRemoval(r wire.Removal) {
	if r.Err != nil {
		e.failed = true
		e.row(r.What, r.Path+" (left alone)")
		for _, path := range r.Kept {
			e.row("", "as it was before install: "+path)
		}
		e.errorf("%v", r.Err)
		return
	}
	news := map[wire.Result]string{
		wire.Nothing:  "(nothing of Terminus there)",
		wire.Cleaned:  "(took out " + strings.Join(r.Changed, ", ") + ")",
		wire.Restored: "(as it was before install)",
		wire.Removed:  "(removed)",
		wire.Kept:     "(not put there by install: left alone)",
	}[r.Result]
	e.row(r.What, r.Path+" "+news)
	for _, remark := range r.Remarks {
		e.row("", remark)
	}
	for _, path := range r.Kept {
		e.row("", "as it was before install: "+path)
	}
	for _, o := range r.Orphans {
		e.warnf("%s: %s still runs %s, which is gone: it is not an entry of install, and was left alone", r.Path, o.Key, o.Program)
	}
}

// archiveAfter says where the archive is, or deletes it.
func (e *env) archiveAfter(dataDir string, purge, yes bool) error {
	a, err := wire.FindArchive(dataDir)
	switch {
	case err != nil:
		return err
	case !a.Exists:
		e.row("archive", dataDir+" (none there)")
		return nil
	case !purge:
		e.row("archive", fmt.Sprintf("%s (%s, kept; uninstall --purge deletes it)", dataDir, byteCount(a.Bytes)))
		return nil
	}
	e.row("archive", fmt.Sprintf("%s (%s)", dataDir, byteCount(a.Bytes)))
	ok, err := e.confirm("Delete the archive at "+dataDir+"? What is gone from the agents is gone for good then.", yes)
	if err != nil {
		return fmt.Errorf("the archive is kept: %w", err)
	}
	if !ok {
		e.notef("the archive is kept")
		return nil
	}
	left, err := a.Purge()
	switch {
	case errors.Is(err, fsx.ErrLocked):
		return errors.New("the archive is kept: a pass is at work; try again when it is done")
	case err != nil:
		return fmt.Errorf("delete the archive: %w", err)
	}
	e.row("archive", dataDir+" (deleted)")
	if left {
		e.notef("%s holds other files, which are kept", dataDir)
	}
	return nil
}
