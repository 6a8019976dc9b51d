package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The one test that says whether the flake can be built: it is red from the change of a
// dependency until `make vendor-hash`.
func TestPackageNamesTheHashOfTheModules(t *testing.T) {
	if testing.Short() {
		t.Skip("copies every module")
	}
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, packageFile))
	if err != nil {
		t.Fatal(err)
	}
	named, err := namedHash(text)
	if err != nil {
		t.Fatal(err)
	}
	err = withVendor(t.Context(), root, func(vendor string) error {
		hash, err := hashPath(vendor)
		if err != nil {
			return err
		}
		if hash != named {
			t.Errorf("%s names %s, and the modules have %s: run make vendor-hash", packageFile, named, hash)
		}
		if nix, ok := nixHash(t, vendor); ok && hash != nix {
			t.Errorf("we take %s of the modules, and nix %s", hash, nix)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Code that the package leaves out may ask for modules that it then does not have, and
// the hash would be another one.
func TestPackageHasAllGoCode(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, packageFile))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || e.Name() == "vendor" || e.Name() == "build" || e.Name() == "testdata" {
			continue
		}
		if hasGo(t, filepath.Join(root, e.Name())) && !strings.Contains(string(text), "\n      ../"+e.Name()+"\n") {
			t.Errorf("%s lacks ../%s", packageFile, e.Name())
		}
	}
}

func hasGo(t *testing.T, dir string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".go") {
			found = true
			return fs.SkipAll
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// nixHash is what nix itself says, where it is installed.
func nixHash(t *testing.T, path string) (string, bool) {
	t.Helper()
	if _, err := exec.LookPath("nix"); err != nil {
		t.Log("nix is not installed: our hash is not compared with its")
		return "", false
	}
	home := t.TempDir()
	cmd := exec.Command("nix", "--extra-experimental-features", "nix-command", "hash", "path", path)
	cmd.Env = append(os.Environ(), "HOME="+home, "NIX_STORE_DIR="+filepath.Join(home, "store"),
		"NIX_STATE_DIR="+filepath.Join(home, "var"), "NIX_CONF_DIR="+filepath.Join(home, "etc"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("nix hash path: %v", err)
	}
	return strings.TrimSpace(string(out)), true
}

func TestHashIsThatOfNix(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no executable bit, and no links without a privilege")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a":         "",
		"a.b":       "12345678",
		"a/":        "",
		"dir/x":     "1234567",
		"dir/é":     strings.Repeat("long", 30_000),
		"dir/z/run": "#!/bin/sh\n",
	} {
		path := filepath.Join(dir, "tree", name)
		if strings.HasSuffix(name, "/") {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o640)
		if strings.HasSuffix(name, "run") {
			mode = 0o700
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	tree := filepath.Join(dir, "tree")
	if err := os.Symlink("dir/nowhere", filepath.Join(tree, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(tree, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{tree, filepath.Join(tree, "a"), filepath.Join(tree, "dir"), filepath.Join(tree, "link"), filepath.Join(tree, "dir", "z", "run")} {
		got, err := hashPath(path)
		if err != nil {
			t.Fatal(err)
		}
		if want, ok := nixHash(t, path); ok && got != want {
			t.Errorf("%s: %s, and nix says %s", path, got, want)
		}
	}
}

func TestNamedHashIsTheOneThatIsThere(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  vendorHash = \"sha256-AAA=\"; # why\n}\n": "sha256-AAA=",
		"  # vendorHash = \"no\";\n":                    "",
		"vendorHash = \"a\";\nvendorHash = \"b\";\n":    "",
	} {
		got, err := namedHash([]byte(text))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q names %q (%v), want %q", text, got, err, want)
		}
	}
}
