package testscripts

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// dist is the directory of release artefacts under test, made by `make release-check`; again
// is one of a second build of the same commit, in another directory.
func dist(t *testing.T) (dist, again string) {
	t.Helper()
	dist, again = os.Getenv("TERMINUS_DIST"), os.Getenv("TERMINUS_DIST_AGAIN")
	if dist == "" {
		t.Skip("TERMINUS_DIST names no release: make release-check builds one")
	}
	return dist, again
}

// artefact is the one file of a release whose name has that end.
func artefact(t *testing.T, dist, end string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dist, "*"+end))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d files end with %s: %v", len(found), end, err)
	}
	return found[0]
}

// released are the artefacts that have to be the same whenever they are built.
func released(t *testing.T, dist string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	err := filepath.WalkDir(dist, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dist, path)
		switch filepath.Ext(name) {
		case ".gz", ".zip", ".deb", ".rpm", ".apk", ".zst", ".rb", ".exe", "":
		default:
			return nil // SBOMs and checksums of them carry the time at which they were made
		}
		text, err := os.ReadFile(path)
		sum := sha256.Sum256(text)
		sums[filepath.ToSlash(name)] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func TestReleasedTwiceIsTheSame(t *testing.T) {
	dist, again := dist(t)
	if again == "" {
		t.Skip("TERMINUS_DIST_AGAIN names no second build")
	}
	first, second := released(t, dist), released(t, again)
	for name, sum := range first {
		if second[name] != sum {
			t.Errorf("%s differs", name)
		}
	}
	// Six binaries, six archives, two of each of four kinds of package, the cask.
	if want := 6 + 6 + 8 + 1; len(first) != want || len(second) != want {
		t.Errorf("%d and %d artefacts, want %d", len(first), len(second), want)
	}
}

func TestReleasedChecksumsFit(t *testing.T) {
	dist, _ := dist(t)
	f, err := os.Open(artefact(t, dist, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		want, name, _ := strings.Cut(lines.Text(), "  ")
		text, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has another sum", name)
		}
	}
	if n < 20 {
		t.Errorf("%d checksums", n)
	}
}

func TestReleasedArchivesHoldEverything(t *testing.T) {
	dist, _ := dist(t)
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, processor := range []string{"amd64", "arm64"} {
			end, binary := ".tar.gz", "terminus"
			if system == "windows" {
				end, binary = ".zip", "terminus.exe"
			}
			names := contents(t, artefact(t, dist, "_"+system+"_"+processor+end))
			for _, want := range []string{
				binary, "LICENSE", "README.md", "CHANGELOG.md", "man/terminus.1", "man/terminus-search.1",
				"completions/terminus.bash", "completions/_terminus", "completions/terminus.fish", "completions/terminus.ps1",
			} {
				if !slices.Contains(names, want) {
					t.Errorf("%s %s: %s is missing in %v", system, processor, want, names)
				}
			}
		}
	}
}

// contents lists an archive.
func contents(t *testing.T, path string) (names []string) {
	t.Helper()
	if strings.HasSuffix(path, ".zip") {
		r, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, f := range r.File {
			names = append(names, f.Name)
		}
		return names
	}
	eachFile(t, path, func(h *tar.Header, _ io.Reader) { names = append(names, h.Name) })
	return names
}

func eachFile(t *testing.T, path string, see func(*tar.Header, io.Reader)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		see(h, r)
	}
}

// What a person does with an artefact, from the first to the last command, in the scripts of
// the directory released. $TARBALL, $DEB and $RPM are artefacts of this system, $VERSION is
// theirs; $OLDER, $NEWER, $DERIVES and $FORMAT are directories with the other builds.
func TestReleased(t *testing.T) {
	dist, _ := dist(t)
	if runtime.GOOS != "linux" {
		t.Skip("the packages of Linux are used here")
	}
	version := releasedVersion(t, dist)
	others := buildOthers(t)
	npm := publishVersions(t, map[string]string{
		"0.0.0-alpha": others["OLDER"], version: filepath.Dir(binaryOf(t, dist)), "99.0.0": others["NEWER"],
	})
	processor := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	testscript.Run(t, testscript.Params{
		Dir: "released",
		Setup: func(env *testscript.Env) error {
			if err := setup(env); err != nil {
				return err
			}
			env.Setenv("TARBALL", artefact(t, dist, "_linux_"+runtime.GOARCH+".tar.gz"))
			env.Setenv("DEB", artefact(t, dist, "_"+runtime.GOARCH+".deb"))
			env.Setenv("RPM", artefact(t, dist, "."+processor+".rpm"))
			env.Setenv("VERSION", version)
			for name, dir := range others {
				env.Setenv(name, dir)
			}
			if npm != nil {
				for _, variable := range npm.Env(env.Getenv("HOME")) {
					name, value, _ := strings.Cut(variable, "=")
					env.Setenv(name, value)
				}
			}
			env.Setenv("SYSTEMPATH", os.Getenv("PATH"))
			env.Defer(func() { passesEnd(env.Getenv("HOME")) })
			return nil
		},
		Cmds: commands, Condition: condition, UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
	})
}
