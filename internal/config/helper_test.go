package config

import (
	"os"
	"path/filepath"
	"testing"
)

// environ returns an Environ with the variables and a home that nothing is in.
func environ(goos, home string, vars map[string]string) Environ {
	return Environ{Get: func(name string) string { return vars[name] }, Home: home, WorkDir: home, GOOS: goos}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// abs makes a slash path that is absolute on this system.
func abs(path string) string {
	return filepath.VolumeName(os.TempDir()) + filepath.FromSlash(path)
}

// onDrive is a path that begins with a slash as seen from a working directory
// that abs made.
func onDrive(path string) string { return filepath.VolumeName(os.TempDir()) + path }
