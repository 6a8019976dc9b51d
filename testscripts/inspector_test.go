package testscripts

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inspectorVar names the program of the protocol's inspector. `make inspector`
// installs it with npm and sets this.
const inspectorVar = "TERMINUS_MCP_INSPECTOR"

// The inspector exits with this where a tool says that it could not be called so.
const inspectorToolError = 5

// The protocol's own inspector lists the tools, without a word about their
// schemas, and calls them, in every era that it speaks.
func TestTheInspectorListsAndCalls(t *testing.T) {
	inspector := os.Getenv(inspectorVar)
	if inspector == "" {
		t.Skip("needs the MCP inspector: make inspector runs this")
	}
	h := converse(t, said(1, "user", `"zebra quartz"`), said(2, "assistant", `"an answer"`))
	inspect := func(t *testing.T, era string, args ...string) (stdout, stderr string, code int) {
		t.Helper()
		server := filepath.Join(binDir, "terminus"+exeSuffix())
		cmd := exec.Command(inspector, append([]string{"--cli", server, "mcp", "--protocol-era", era}, args...)...)
		cmd.Dir = h.dir
		cmd.Env = h.command().Env
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	type result struct {
		Tools   []struct{ Name string }
		Content []struct{ Type, Text string }
		IsError bool
	}
	for _, era := range []string{"legacy", "auto", "modern"} {
		t.Run(era, func(t *testing.T) {
			out, errs, code := inspect(t, era, "--method", "tools/list", "--strict")
			var list result
			if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || errs != "" {
				t.Fatalf("tools/list: %d %v %s%s", code, err, out, errs)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if got := strings.Join(names, " "); got != "recall_search recall_context recall_get" {
				t.Errorf("tools %s", got)
			}
			for _, c := range []struct {
				tool string
				args []string
				want string
				code int
			}{
				{"recall_search", []string{"query=zebra", "project=*", "limit=1"}, `"excerpt":"zebra quartz"`, 0},
				{"recall_context", []string{"turn_id=0", "project=*"}, `"text":"an answer"`, 0},
				{"recall_get", []string{"turn_ids=[0,1,2]", "project=*"}, `"absent":[{"reason":"no turn 2 is archived","turn_id":2}]`, 0},
				{"recall_get", []string{"turn_ids=[]"}, `"reason":"turn_ids is empty"`, inspectorToolError},
			} {
				args := append([]string{"--method", "tools/call", "--tool-name", c.tool, "--tool-arg"}, c.args...)
				out, errs, code := inspect(t, era, args...)
				var r result
				if err := json.Unmarshal([]byte(out), &r); err != nil || code != c.code || len(r.Content) != 1 {
					t.Errorf("%s %v: %d %v %s%s", c.tool, c.args, code, err, out, errs)
					continue
				}
				if !strings.Contains(r.Content[0].Text, c.want) || r.IsError != (c.code != 0) {
					t.Errorf("%s %v answers %+v", c.tool, c.args, r)
				}
			}
		})
	}
}
