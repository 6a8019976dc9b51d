package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/search"
)

func newUsage(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "usage",
		Short:   "Show what takes the space, by project, by month and by table",
		GroupID: groupCare,
		Long: `Show what takes the space. The first two blocks say what the archived sessions
take, by their project and by the month of their first turn, and each adds up to
the size of the archive. The third says what the database file consists of, and
adds up to the size of the file. That is more than the archive: it holds the
search index, too, and pages that are free, which the next pass uses again.`,
		Example: `  terminus usage
  terminus usage --json | jq '.data.by_project[0]'`,
		Args: noArgs,
	}
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return search.Usage{} },
		run: func(ctx context.Context) (answer, error) {
			u, warnings, err := ask(ctx, e, func(r *search.Reader) (search.Usage, error) { return r.Usage(ctx) })
			return answer{data: u, reason: u.Reason, warnings: warnings, text: func() error {
				e.printUsage(u)
				return nil
			}}, err
		},
	})
}

// Widths of the columns of usage.
const (
	usageSize     = 14
	usageSessions = 5
)

func (e *env) printUsage(u search.Usage) {
	if u.Reason != "" {
		e.notef("%s", u.Reason)
		return
	}
	line := func(bytes int64, sessions, name string) {
		e.printf("%*s  %s%s\n", usageSize, binarySize(bytes), sessions, name)
	}
	number := func(n int64) string { return fmt.Sprintf("%*d  ", usageSessions, n) }
	block := func(title string) { e.printf("%s\n", e.screen.style(bold, title)) }

	block("by project")
	for _, p := range u.ByProject {
		line(p.Bytes, number(p.Sessions), orNone(p.Project, noneRecorded))
	}
	line(u.ArchiveBytes, number(u.Sessions), "total")
	block("\nby month")
	for _, m := range u.ByMonth {
		line(m.Bytes, number(m.Sessions), orNone(m.Month, noneRecorded))
	}
	line(u.ArchiveBytes, number(u.Sessions), "total")
	block("\nfootprint")
	for _, p := range u.Footprint {
		line(p.Bytes, "", visible(p.Name))
	}
	line(u.FileBytes, "", "total")
}

// noneRecorded stands for the project or month of sessions that have none.
const noneRecorded = "(none recorded)"
