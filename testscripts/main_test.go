// Package testscripts verifies the command-line contract end to end: every
// script runs the real binary in a home of its own. COVERAGE.md says which
// sentence of the contract stands in which script.
//
// `go test ./testscripts -update` rewrites the expected output in the scripts.
package testscripts

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

// binDir holds the binary under test, for the life of the test process.
var binDir string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "terminus-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binDir = dir
	build := exec.Command("go", "build", "-trimpath", "-tags", "testclock", "-ldflags", linkerFlags,
		"-o", filepath.Join(dir, "terminus"+exeSuffix()), "github.com/terminus-archive/terminus/cmd/terminus")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the binary: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// linkerFlags are those of a release, with values of our own.
const linkerFlags = "-X " + cliPackage + ".version=" + testVersion + " -X " + cliPackage + ".commit=0123456789abcdef0123456789abcdef01234567" +
	" -X " + cliPackage + ".commitDate=2026-08-12T23:59:00+02:00"

const cliPackage = "github.com/terminus-archive/terminus/internal/cli"

// testVersion is what the binary under test takes for its version.
const testVersion = "1.2.3-test"

func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 ".",
		Setup:               setup,
		Cmds:                commands,
		Condition:           condition,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// setup gives a script a home of its own, with nothing of the caller's
// environment but the path.
func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"HOME": home, "USERPROFILE": home, "TZ": "UTC",
		"LOCALAPPDATA": filepath.Join(home, "AppData", "Local"),
		"APPDATA":      filepath.Join(home, "AppData", "Roaming"),
		"PATH":         binDir + string(os.PathListSeparator) + os.Getenv("PATH"),
		// The places that scripts look at most.
		"BIN":    binDir,
		"DATA":   dataDir(home),
		"DB":     filepath.Join(dataDir(home), "terminus.db"),
		"CLAUDE": filepath.Join(home, ".claude", "projects"),
	} {
		env.Setenv(name, value)
	}
	area, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(env.WorkDir), "script-"), "_")
	if slices.Contains([]string{"hook", "log", "labels", "replay"}, area) {
		env.Defer(func() { passesEnd(home) }) // a pass must not meet the removal of its home
	}
	return nil
}

// dataDir is where the archive of a home lies by default.
func dataDir(home string) string {
	switch runtime.GOOS {
	case "windows":
		return filepath.Join(home, "AppData", "Local", "terminus")
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "terminus")
	default:
		return filepath.Join(home, ".local", "share", "terminus")
	}
}

func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "pty":
		return havePTY, nil
	case "tmpfs":
		return canMount(), nil
	case "unprivileged":
		return canBeUnprivileged(), nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}
