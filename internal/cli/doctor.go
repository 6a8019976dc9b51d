package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/clock"
	"github.com/terminus-archive/terminus/internal/doctor"
)

func newDoctor(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Look for what keeps Terminus from working, and say how to mend it",
		GroupID: groupCare,
		Long: `Look at the program, the wiring of Claude Code, the directories, the archive, and
the two settings of Claude Code that decide what there is to archive. Each of
fourteen checks says ok, note, unknown or problem, and where one command or one
edit mends it, which. Nothing is changed, nothing is created.

The exit code is 1 where a check found a problem.`,
		Example: `  terminus doctor
  terminus doctor --json | jq '.data[] | select(.state == "problem")'`,
		Args: noArgs,
	}
	return e.bind(cmd, dataCommand{
		empty: func(why string) any { return doctor.Unrun(why).Data() },
		run: func(ctx context.Context) (answer, error) {
			exe, err := os.Executable()
			if err != nil {
				return answer{}, fmt.Errorf("find this program: %w", err)
			}
			report := doctor.Run(ctx, doctor.Options{Environ: e.environ, Exe: exe, Version: Version(), Now: clock.Now()})
			a := answer{data: report.Data(), text: func() error {
				e.printReport(report)
				return nil
			}}
			if names := report.Problems(); len(names) > 0 {
				a.bad = true
				a.reason = count(len(names), "problem") + ": " + strings.Join(names, ", ")
			}
			return a, nil
		},
	})
}

// stateLooks are the states that stand out on a terminal.
var stateLooks = map[doctor.State]string{doctor.Problem: bold, doctor.Note: bold, doctor.OK: faint, doctor.Unknown: faint}

// printReport prints a line for each check, and one for its fix. On a terminal
// findings are folded below their beginning.
func (e *env) printReport(report doctor.Report) {
	const stateWidth = 7 // "problem" and "unknown"
	nameWidth := 0
	for _, entry := range report {
		nameWidth = max(nameWidth, len(entry.Name))
	}
	indent := len(gap) + stateWidth + len(gap) + nameWidth + len(gap)
	line := func(state, look, name, text string) {
		e.printf("%s%s%s%-*s%s%s\n", gap, e.screen.style(look, fmt.Sprintf("%-*s", stateWidth, state)), gap, nameWidth, name, gap,
			text)
	}
	e.printf("terminus doctor\n\n")
	for _, entry := range report {
		line(string(entry.State), stateLooks[entry.State], entry.Name,
			e.screen.fold(indent, visible(entry.Finding.Finding)))
		if entry.Fix != nil {
			line("fix", "", "", visible(*entry.Fix)) // whole, to be copied
		}
	}
	verdict := "no problems"
	if n := len(report.Problems()); n > 0 {
		verdict = count(n, "problem")
	}
	e.printf("\n%s; doctor changes nothing itself\n", verdict)
}

// minFold is the narrowest column into which text is folded.
const minFold = 30

// fold puts text that is wider than a terminal on several lines, between words, each
// but the first behind indent columns. On anything else, and where hardly any room
// is left, it stays on one.
func (s screen) fold(indent int, text string) string {
	room := s.width - indent
	if !s.terminal() || room < minFold {
		return text
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(text, " ") {
		w := width(word)
		switch {
		case i == 0:
		case used+1+w > room:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = 0
		default:
			b.WriteString(" ")
			used++
		}
		b.WriteString(word)
		used += w
	}
	return b.String()
}
