package testscripts

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdMCP runs the server in the working directory with the lines of a file on
// its stdin. Its answers are stdout, normalised as norm does it. A line
//
//	call TOOL ARGUMENTS
//
// stands for the request of that call; its id is its number among the lines.
// Every other line is sent as it is.
func cmdMCP(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "mcp FILE")
	cmd := program(ts, []string{"terminus", "mcp"})
	cmd.Stdin = strings.NewReader(requests(ts.ReadFile(args[0])))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, ts.Stderr()
	err := cmd.Run()
	ts.Check(os.WriteFile(ts.MkAbs("answers"), out.Bytes(), 0o600))
	ts.Check(err)
	cmdNorm(ts, false, []string{"answers", "answers"})
	fmt.Fprint(ts.Stdout(), ts.ReadFile("answers"))
}

func requests(text string) string {
	var b strings.Builder
	for i, line := range strings.SplitAfter(text, "\n") {
		call, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "call ")
		if !ok {
			b.WriteString(line)
			continue
		}
		tool, arguments, _ := strings.Cut(call, " ")
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", i+1, tool, arguments)
	}
	return b.String()
}

// cmdChomp copies a file without the newline at its end.
func cmdChomp(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "chomp FILE OUT")
	text := strings.TrimSuffix(ts.ReadFile(args[0]), "\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}
