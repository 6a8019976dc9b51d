package testscripts

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var named = regexp.MustCompile("`([a-z0-9_]+(?:\\.txtar|_test\\.go))`")

func TestCoverageNamesEveryScriptThatExists(t *testing.T) {
	text, err := os.ReadFile("COVERAGE.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]bool)
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		listed[m[1]] = true
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("COVERAGE.md names %s: %v", m[1], err)
		}
	}
	scripts, err := filepath.Glob("*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		if !listed[name] {
			t.Errorf("%s is not in COVERAGE.md", name)
		}
		script, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(script), "# ") {
			t.Errorf("%s does not begin with the sentence that it pins", name)
		}
	}
}
