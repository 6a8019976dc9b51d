// Package packaging holds what carries Terminus to a machine, beside the archives and
// packages of a release: the install scripts, the npm packages and the Claude Code
// plugin. It has tests and no code.
//
// What needs a shell alone runs with every other test. What builds the binary and needs
// npm runs where TERMINUS_PACKAGING is set, which `make packaging-check` does.
package packaging

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// heavyVar switches the tests on that build, pack and install.
const heavyVar = "TERMINUS_PACKAGING"

func heavy(t *testing.T) {
	t.Helper()
	if os.Getenv(heavyVar) == "" {
		t.Skip("make packaging-check runs this")
	}
}

// distVar names the directory of a release that was built, whose artefacts are used then.
const distVar = "TERMINUS_DIST"

func releaseVersion(t *testing.T, dist string) string {
	t.Helper()
	var meta struct{ Version string }
	decode(t, filepath.Join(dist, "metadata.json"), &meta)
	if meta.Version == "" {
		t.Fatalf("%s is no release", dist)
	}
	return meta.Version
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// owner is what packaging/owner.env says, by the names of its variables.
func owner(t *testing.T) map[string]string {
	t.Helper()
	values := map[string]string{}
	for line := range strings.Lines(read(t, "owner.env")) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			values[name] = value
		}
	}
	return values
}

// The module, the release and everything in this directory name one home.
func TestEverythingNamesTheOneHome(t *testing.T) {
	o := owner(t)
	home, module := o["TERMINUS_HOME"], strings.TrimPrefix(o["TERMINUS_HOME"], "https://")
	if home == "" || module != "github.com/"+o["TERMINUS_OWNER"]+"/"+o["TERMINUS_REPO"] {
		t.Fatalf("owner.env says %v", o)
	}
	for path, lines := range map[string][]string{
		"../go.mod":          {"module " + module + "\n"},
		"../Makefile":        {"MODULE  := " + module + "\n"},
		"../goreleaser.yaml": {"homepage: " + home + "\n", "-X " + module + "/internal/cli.version=", "owner: " + o["TERMINUS_OWNER"] + "\n", "name: " + o["TERMINUS_REPO"] + "\n"},
		"../Dockerfile":      {`image.source="` + home + `"`, `image.url="` + home + `"`, `image.documentation="` + home + "/"},
		"install.sh":         {"home_url=" + home + "\n"},
		"install.ps1":        {"$HomeUrl = '" + home + "'\n"},
	} {
		for _, line := range lines {
			if !strings.Contains(read(t, path), line) {
				t.Errorf("%s lacks %q", path, line)
			}
		}
	}
	var plugin struct{ Homepage, Repository string }
	decode(t, "claude-plugin/.claude-plugin/plugin.json", &plugin)
	if plugin.Homepage != home || plugin.Repository != home {
		t.Errorf("the plugin names %+v", plugin)
	}
	var market struct {
		Name  string
		Owner struct{ Name string }
	}
	decode(t, "../.claude-plugin/marketplace.json", &market)
	if market.Name != o["TERMINUS_OWNER"] {
		t.Errorf("the marketplace is %q", market.Name)
	}
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, path)), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// The container is built by one version of Go, of the line that the module asks for, and its
// image has no root.
func TestTheContainerIsPinned(t *testing.T) {
	dockerfile := read(t, "../Dockerfile")
	base := regexp.MustCompile(`(?m)^ARG BASE=docker\.io/library/golang:(\d+\.\d+)\.\d+-[a-z]+(@sha256:[0-9a-f]{64})?$`).FindStringSubmatch(dockerfile)
	if len(base) == 0 || !strings.Contains(read(t, "../go.mod"), "\ngo "+base[1]+".") {
		t.Errorf("the base is %q", base)
	}
	last := dockerfile[strings.LastIndex(dockerfile, "\nFROM "):]
	if !strings.HasPrefix(last, "\nFROM scratch\n") || !regexp.MustCompile(`\nUSER [1-9]\d*:[1-9]\d*\n`).MatchString(last) || strings.Contains(last, "\nRUN ") {
		t.Errorf("the image is made by %s", last)
	}
}

// The scripts know a build of Terminus by its mark, as install does.
func TestTheScriptsKnowTheMark(t *testing.T) {
	_, rest, _ := strings.Cut(read(t, "../internal/wire/binary.go"), "\nconst mark = \"")
	mark, _, ok := strings.Cut(rest, "\"\n")
	if !ok || !strings.HasPrefix(mark, "terminus-program:") {
		t.Fatalf("the mark is %q", mark)
	}
	for _, path := range []string{"install.sh", "install.ps1"} {
		if !strings.Contains(read(t, path), mark) {
			t.Errorf("%s lacks the mark", path)
		}
	}
}
