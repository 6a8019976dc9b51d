package packaging

import (
	"regexp"
	"strings"
	"testing"
)

// The flake's files name the one home, and the package the newest release.
func TestTheFlakeNamesHomeAndRelease(t *testing.T) {
	o := owner(t)
	home, module := o["TERMINUS_HOME"], strings.TrimPrefix(o["TERMINUS_HOME"], "https://")
	pkg := read(t, "../nix/package.nix")
	for _, line := range []string{
		"  home = \"" + home + "\";\n",
		"  cli = \"" + module + "/internal/cli\";\n",
		"    mainProgram = \"" + o["TERMINUS_REPO"] + "\";\n",
		"  version = \"" + newestRelease(t) + "\";",
	} {
		if !strings.Contains(pkg, line) {
			t.Errorf("nix/package.nix lacks %q", line)
		}
	}
	flake := "github:" + o["TERMINUS_OWNER"] + "/" + o["TERMINUS_REPO"]
	page := read(t, "../nix/README.md")
	if !strings.Contains(page, flake) {
		t.Errorf("nix/README.md lacks %q", flake)
	}
	for _, named := range regexp.MustCompile(`github:[\w-]+/[\w-]+`).FindAllString(page, -1) {
		if named != flake {
			t.Errorf("nix/README.md names %s, and not %s", named, flake)
		}
	}
}

// newestRelease is the version of the first release in the changelog; where there was
// none yet, what a build calls itself that nobody told a version.
func newestRelease(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^## \[(\d[^\]]*)\]`).FindStringSubmatch(read(t, "../CHANGELOG.md"))
	if m == nil {
		return "0.0.0-dev"
	}
	return m[1]
}
