package packaging

import (
	"regexp"
	"strings"
	"testing"
)

// sections are the parts of a page below its headings of the second level, by heading.
func sections(text string) map[string]string {
	all := map[string]string{}
	for i, part := range strings.Split("\n"+text, "\n## ") {
		if heading, body, _ := strings.Cut(part, "\n"); i > 0 {
			all[heading] = body
		}
	}
	return all
}

var channelRow = regexp.MustCompile(`(?m)^\| \[[^]]+\]\(#([a-z-]+)\) \|`)

// Each channel says how one gets in, on and out, and what of it was tried; or names the page that does.
func TestEveryChannelSaysHowToUpgradeToUninstallAndWhatWasTried(t *testing.T) {
	page := read(t, "../docs/install.md")
	rows := channelRow.FindAllStringSubmatch(page, -1)
	if len(rows) < 9 {
		t.Fatalf("install.md lists %d channels", len(rows))
	}
	bodies := map[string]string{}
	for heading, body := range sections(page) {
		bodies[strings.ReplaceAll(strings.ToLower(heading), " ", "-")] = body
	}
	elsewhere := map[string]string{"nix": "../nix/README.md", "container-image": "container.md"}
	for _, row := range append(rows, []string{"", "the-plugin-of-claude-code"}) {
		name, body := row[1], bodies[strings.ReplaceAll(row[1], ",", "")]
		if link, ok := elsewhere[name]; ok {
			if !strings.Contains(body, "]("+link+")") {
				t.Errorf("%s does not name %s", name, link)
			}
			continue
		}
		for _, word := range []string{"**Upgrade**", "**Uninstall**"} {
			if !strings.Contains(body, word) {
				t.Errorf("%s lacks %s", name, word)
			}
		}
		if !strings.Contains(body, "**Tested here**") && !strings.Contains(body, "**Not run here**") {
			t.Errorf("%s does not say what was tried", name)
		}
	}
	for _, line := range []string{
		owner(t)["TERMINUS_HOME"] + "/releases/latest/download/install.sh", owner(t)["TERMINUS_HOME"] + "/releases/latest/download/install.ps1",
		"github:" + owner(t)["TERMINUS_OWNER"] + "/" + owner(t)["TERMINUS_REPO"], "go install " + strings.TrimPrefix(owner(t)["TERMINUS_HOME"], "https://") + "/cmd/terminus@",
		"npm install -g @" + owner(t)["TERMINUS_OWNER"] + "/terminus", "claude plugin marketplace add " + owner(t)["TERMINUS_OWNER"] + "/",
	} {
		if !strings.Contains(page, line) {
			t.Errorf("install.md lacks %q", line)
		}
	}
}

var makeSpan = regexp.MustCompile("`make ([a-z-]+)[^`]*`")

// What CONTRIBUTING tells people to type is there, and it says what each part of `make full` needs.
func TestContributingNamesTheTargetsThatThereAre(t *testing.T) {
	page, known := read(t, "../CONTRIBUTING.md"), targets(t)
	named := map[string]bool{}
	for _, m := range makeSpan.FindAllStringSubmatch(page, -1) {
		named[m[1]] = true
		if _, ok := known[m[1]]; !ok {
			t.Errorf("CONTRIBUTING names make %s, which the Makefile does not make", m[1])
		}
	}
	for _, part := range known["full"] {
		if !named[part] && part != "vet" { // which needs nothing
			t.Errorf("CONTRIBUTING does not say what make %s needs, which make full makes", part)
		}
	}
}
