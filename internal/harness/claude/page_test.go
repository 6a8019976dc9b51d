package claude

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestThePageListsTheMachineryThatIsNotIndexed(t *testing.T) {
	text, err := os.ReadFile("../../../docs/harnesses/claude.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Machinery\n")
	if !ok {
		t.Fatal("the page has no section about machinery")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(section, -1) {
		if listed[m[1]] {
			t.Errorf("the page lists %s twice", m[1])
		}
		listed[m[1]] = true
	}
	for name := range machinery {
		if !listed[name] {
			t.Errorf("the page lacks %s", name)
		}
	}
	for name := range listed {
		if !machinery[name] {
			t.Errorf("the page lists %s, which is indexed", name)
		}
	}
}
