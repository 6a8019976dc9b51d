package testscripts

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/npmtest"
)

// buildOthers builds what a release is upgraded to, and gone back to: directories with a
// terminus, by the names that scripts have for them.
//
//	OLDER, NEWER  another version, and nothing else
//	DERIVES       one that derives otherwise
//	FORMAT        one whose archive format is newer
func buildOthers(t *testing.T) map[string]string {
	t.Helper()
	dirs := map[string]string{}
	for name, other := range map[string]struct{ version, raised string }{
		"OLDER": {version: "0.0.0-alpha"}, "NEWER": {version: "99.0.0"},
		"DERIVES": {version: "99.1.0", raised: "DerivedSchema"}, "FORMAT": {version: "99.2.0", raised: "ArchiveFormat"},
	} {
		dirs[name] = filepath.Join(t.TempDir(), name)
		args := []string{"build", "-trimpath", "-ldflags", "-s -w -X " + cliPackage + ".version=" + other.version, "-o", filepath.Join(dirs[name], "terminus")}
		if other.raised != "" {
			args = append(args, "-overlay", raise(t, other.raised))
		}
		build := exec.Command("go", append(args, "github.com/terminus-archive/terminus/cmd/terminus")...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	return dirs
}

// raise is an overlay of the build in which one of the store's version numbers is one higher,
// as it is in the build that comes after a change of the store.
func raise(t *testing.T, name string) (overlay string) {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("..", "internal", "store", "store.go"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^\t` + name + ` = (\d+)$`)
	found := line.FindAllSubmatch(text, -1)
	if len(found) != 1 {
		t.Fatalf("%s declares %s %d times", source, name, len(found))
	}
	n, err := strconv.Atoi(string(found[0][1]))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "store.go"), filepath.Join(dir, "overlay.json")
	text = line.ReplaceAll(text, fmt.Appendf(nil, "\t%s = %d", name, n+1))
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{source: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{changed: text, overlay: list} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}

// releasedVersion is what a release says of itself.
func releasedVersion(t *testing.T, dist string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dist, "metadata.json"))
	var meta struct{ Version string }
	if err == nil {
		err = json.Unmarshal(text, &meta)
	}
	if err != nil || meta.Version == "" {
		t.Fatalf("%s is no release: %v", dist, err)
	}
	return meta.Version
}

// binaryOf is a release's binary for this system.
func binaryOf(t *testing.T, dist string) string {
	t.Helper()
	return artefact(t, dist, "terminus_"+runtime.GOOS+"_"+runtime.GOARCH+"*/terminus")
}

// publishVersions is a registry with the npm packages of this system in several versions:
// the binary of each lies in the directory that the map names. Nil where npm is not here.
func publishVersions(t *testing.T, binaries map[string]string) *npmtest.Registry {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil
		}
	}
	registry, home := npmtest.New(t), t.TempDir()
	for version, dir := range binaries {
		dist, out := filepath.Join(t.TempDir(), "dist"), filepath.Join(t.TempDir(), "out")
		text, err := os.ReadFile(filepath.Join(dir, "terminus"))
		if err != nil {
			t.Fatal(err)
		}
		for _, system := range []string{"linux", "darwin", "windows"} {
			for _, processor := range []string{"amd64", "arm64"} {
				file := filepath.Join(dist, "terminus_"+system+"_"+processor, "terminus")
				if system == "windows" {
					file += ".exe"
				}
				content := []byte("no program of this system")
				if system == runtime.GOOS && processor == runtime.GOARCH {
					content = text
				}
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, content, 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
		run := func(dir, program string, args ...string) string {
			cmd := exec.Command(program, args...)
			cmd.Dir, cmd.Env = dir, append(registry.Env(home), "PATH="+os.Getenv("PATH"))
			text, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s %v: %v\n%s", program, args, err, text)
			}
			return strings.TrimSpace(string(text))
		}
		run(".", "node", filepath.Join("..", "packaging", "npm", "build.js"), dist, version, out)
		processor := map[string]string{"amd64": "x64"}[runtime.GOARCH]
		if processor == "" {
			processor = runtime.GOARCH
		}
		for _, name := range []string{"terminus", "terminus-" + runtime.GOOS + "-" + processor} {
			packed := filepath.Join(out, name)
			if _, err := registry.PublishFile(filepath.Join(packed, run(packed, "npm", "pack", "--silent"))); err != nil {
				t.Fatal(err)
			}
		}
	}
	return registry
}
