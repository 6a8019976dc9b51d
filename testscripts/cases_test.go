package testscripts

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A case is a fault that was met in the field, by its number: C34. A test that
// pins one names it in a comment or at the beginning of a name; several may
// stand as C37-C39. docs/cases.md says what each of them is.
var (
	caseName  = regexp.MustCompile(`\bC([1-9]\d*)\b(?:-C([1-9]\d*)\b)?`)
	caseEntry = regexp.MustCompile(`(?m)^\*\*C([1-9]\d*)\b`)
	// What of a test is asked: comments, and strings that begin with a case.
	goPart     = regexp.MustCompile(`//.*|"C[1-9]\d*\b[^"]*"`)
	scriptPart = regexp.MustCompile(`(?m)^#.*`)
)

func TestTheCasesOfThePageAreThoseThatTestsName(t *testing.T) {
	pinned := map[int]string{}
	for _, top := range []string{".", "../internal"} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			part := goPart
			switch {
			case strings.HasSuffix(path, ".txtar"):
				part = scriptPart
			case !strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "cases_test.go":
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			script, _, _ := strings.Cut(string(text), "\n-- ") // the files of a script say nothing
			if part == goPart {
				script = string(text)
			}
			for _, m := range caseName.FindAllStringSubmatch(strings.Join(part.FindAllString(script, -1), "\n"), -1) {
				first, _ := strconv.Atoi(m[1])
				last, err := strconv.Atoi(m[2])
				if err != nil {
					last = first
				}
				for n := first; n <= last; n++ {
					pinned[n] = path
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	listed := map[int]bool{}
	for _, m := range caseEntry.FindAllStringSubmatch(page(t, "../docs/cases.md"), -1) {
		n, _ := strconv.Atoi(m[1])
		if listed[n] {
			t.Errorf("docs/cases.md tells C%d twice", n)
		}
		listed[n] = true
		if pinned[n] == "" {
			t.Errorf("docs/cases.md tells C%d, which no test names", n)
		}
	}
	for n, path := range pinned {
		if !listed[n] {
			t.Errorf("%s names C%d, which docs/cases.md does not tell", path, n)
		}
	}
}
