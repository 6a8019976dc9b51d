package testscripts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// What scripts can do with doctor:
//
//	findings N check...        run doctor, which must exit with N; the lines of the
//	                           checks, with their fixes, are stdout, as norm-doctor
//	                           leaves them and with one blank between columns
//	norm-doctor FILE OUT       copy FILE, with what varies from run to run replaced
//	list DIR OUT               write the name, mode, size and time of everything
//	                           below DIR to OUT
func init() {
	commands["findings"] = cmdFindings
	commands["norm-doctor"] = cmdNormDoctor
	commands["list"] = cmdList
}

// What varies from run to run in a finding.
var findingRules = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`the pass of \S+Z`), `the pass of TIME`},
	{regexp.MustCompile(`that is \d+ days ago`), `that is N days ago`},
	{regexp.MustCompile(`is to go on \d{4}-\d\d-\d\d`), `is to go on DAY`},
	{regexp.MustCompile(`to go is (\S+), on \d{4}-\d\d-\d\d`), `to go is $1, on DAY`},
}

func normFindings(ts *testscript.TestScript, text string) string {
	for _, place := range []struct{ path, name string }{
		{resolved(ts.Getenv("BIN")), "$$BIN"}, {ts.Getenv("BIN"), "$$BIN"}, {ts.Getenv("DATA"), "$$DATA"}, {ts.Getenv("WORK"), "$$WORK"},
	} {
		text = strings.ReplaceAll(text, place.path, place.name[1:])
	}
	for _, rule := range findingRules {
		text = rule.re.ReplaceAllString(text, rule.with)
	}
	return text
}

func cmdNormDoctor(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "norm-doctor FILE OUT")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(normFindings(ts, ts.ReadFile(args[0]))), 0o600))
}

var columns = regexp.MustCompile(` {2,}`)

func cmdFindings(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "findings N check...")
	checkCode(ts, number(ts, args[0]), ts.Exec("terminus", "doctor"))
	var kept strings.Builder
	within := false
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		fields := strings.Fields(line)
		if !strings.HasPrefix(line, "  ") || len(fields) < 2 {
			continue
		}
		if fields[0] != "fix" {
			within = slices.Contains(args[1:], fields[1])
		}
		if within {
			kept.WriteString(columns.ReplaceAllString(strings.TrimLeft(line, " "), " "))
		}
	}
	_, err := fmt.Fprint(ts.Stdout(), normFindings(ts, kept.String()))
	ts.Check(err)
}

func cmdList(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "list DIR OUT")
	var b strings.Builder
	err := filepath.Walk(ts.MkAbs(args[0]), func(path string, info os.FileInfo, err error) error {
		if err == nil {
			fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
}
