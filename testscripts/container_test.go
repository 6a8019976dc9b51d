package testscripts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// imageOwner owns the image's home, and is who runs in it where nobody else is named.
const imageOwner = 65532

// container is the version of the images under test, made by `make container-check`, which
// also names the storage that they are in: localhost/terminus:VERSION, two of other versions, one
// that was built a second time, and one for arm64.
func container(t *testing.T) (version string) {
	t.Helper()
	version = os.Getenv("TERMINUS_IMAGE")
	if version == "" {
		t.Skip("TERMINUS_IMAGE names no image: make container-check builds one")
	}
	return version
}

func buildah(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("buildah", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("buildah %v: %v\n%s", args, err, &errs)
	}
	return strings.TrimSpace(string(out))
}

// An image is what a registry would be given.
type image struct {
	digest string // of its manifest
	config struct {
		Architecture, OS, Created string
		Config                    struct {
			User, WorkingDir string
			Env, Entrypoint  []string
			Cmd              []string
			Labels           map[string]string
			Volumes          map[string]any
		}
	}
	compressed int64 // bytes of its layers
	layers     int
	headers    []tar.Header
	files      map[string][]byte
}

// pull reads an image out of the storage.
func pull(t *testing.T, name string) image {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "oci")
	buildah(t, "push", "-q", "--format", "oci", name, "oci:"+dir+":x")
	blob := func(digest string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, "blobs", strings.Replace(digest, ":", "/", 1)))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	type descriptor struct {
		Digest string
		Size   int64
	}
	var index struct{ Manifests []descriptor }
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	im := image{files: map[string][]byte{}}
	if err := json.Unmarshal(text, &index); err != nil || len(index.Manifests) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	im.digest = index.Manifests[0].Digest
	if err := json.Unmarshal(blob(im.digest), &manifest); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(blob(manifest.Config.Digest), &im.config); err != nil {
		t.Fatal(err)
	}
	im.layers = len(manifest.Layers)
	for _, layer := range manifest.Layers {
		im.compressed += layer.Size
		im.unpack(t, blob(layer.Digest))
	}
	return im
}

func (im *image) unpack(t *testing.T, layer []byte) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Trim(h.Name, "./")
		im.headers = append(im.headers, *h)
		if h.Typeflag == tar.TypeReg {
			im.files[name] = text
		}
	}
}

func TestContainerImageIsAStaticBinaryAndNothingElse(t *testing.T) {
	im := pull(t, "localhost/terminus:"+container(t))
	var names []string
	for _, h := range im.headers {
		names = append(names, fmt.Sprintf("%s %o %d:%d", strings.Trim(h.Name, "./"), h.Mode&0o7777, h.Uid, h.Gid))
	}
	slices.Sort(names)
	want := []string{
		"home 755 0:0", fmt.Sprintf("home/terminus 700 %d:%d", imageOwner, imageOwner), "tmp 1777 0:0", "usr 755 0:0", "usr/bin 755 0:0",
		"usr/bin/terminus 755 0:0", "usr/share 755 0:0", "usr/share/doc 755 0:0", "usr/share/doc/terminus 755 0:0", "usr/share/doc/terminus/copyright 644 0:0",
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, " ") }) // the root, where a tar names it
	if im.layers != 1 || !slices.Equal(names, want) {
		t.Errorf("%d layers with\n%s\nwant\n%s", im.layers, strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
	binary := im.files["usr/bin/terminus"]
	static(t, binary, map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH])
	t.Logf("the image takes %d bytes to download, the binary in it is of %d", im.compressed, len(binary))
}

// static holds a program to what runs where there is nothing else.
func static(t *testing.T, binary []byte, machine elf.Machine) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != machine {
		t.Errorf("it is for %v, want %v", f.Machine, machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("it is not static: %v", p.Type)
		}
	}
}

func TestContainerImageSaysWhatItIs(t *testing.T) {
	version := container(t)
	im := pull(t, "localhost/terminus:"+version)
	c := im.config.Config
	if c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/usr/bin/terminus"}) || len(c.Cmd) > 0 || !slices.Contains(c.Env, "HOME=/home/terminus") {
		t.Errorf("it runs %v %v as %s with %v", c.Entrypoint, c.Cmd, c.User, c.Env)
	}
	const label = "org.opencontainers.image."
	commit, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"title": "terminus", "licenses": "MIT", "source": "https://github.com/terminus-archive/terminus",
		"version": version, "revision": strings.TrimSpace(string(commit)),
	} {
		if got := c.Labels[label+name]; got != want {
			t.Errorf("the label %s is %q, want %q", name, got, want)
		}
	}
	if created := c.Labels[label+"created"]; created == "" || created != im.config.Created {
		t.Errorf("it was created at %q, and at %q", created, im.config.Created)
	}
	if pulled := pull(t, "localhost/terminus-arm64:"+version); pulled.config.Architecture != "arm64" || pulled.config.OS != "linux" {
		t.Errorf("that for arm64 is for %s on %s", pulled.config.OS, pulled.config.Architecture)
	} else {
		static(t, pulled.files["usr/bin/terminus"], elf.EM_AARCH64)
	}
}

func TestContainerImageBuiltTwiceIsTheSame(t *testing.T) {
	version := container(t)
	first, second := pull(t, "localhost/terminus:"+version), pull(t, "localhost/terminus-again:"+version)
	if first.digest != second.digest {
		t.Errorf("%s and %s", first.digest, second.digest)
	}
}

// A release that was built in a container has the bytes of one that was built here, and the
// image has its binary.
func TestContainerReleaseIsTheSame(t *testing.T) {
	version := container(t)
	inside := os.Getenv("TERMINUS_DIST_CONTAINER")
	sums := released(t, inside)
	if want := 6 + 6 + 8 + 1; len(sums) != want {
		t.Errorf("%d artefacts, want %d", len(sums), want)
	}
	binary := sha256.Sum256(pull(t, "localhost/terminus:"+version).files["usr/bin/terminus"])
	text, err := os.ReadFile(artefact(t, inside, "terminus_linux_"+runtime.GOARCH+"*/terminus"))
	if sum := sha256.Sum256(text); err != nil || sum != binary {
		t.Errorf("the image has another binary than the release: %x and %x %v", binary, sum, err)
	}
	outside := os.Getenv("TERMINUS_DIST")
	if outside == "" {
		t.Skip("no release was built outside: make release-snapshot builds one")
	}
	for name, sum := range released(t, outside) {
		if sums[name] != sum {
			t.Errorf("%s differs", name)
		}
	}
}

// What a person does with the image, in the scripts of the directory container. There
// terminus, older and newer run a command in a container of its own, on the home of the script
// at its own path, as the user of the image.
func TestContainer(t *testing.T) {
	version := container(t)
	bin := t.TempDir()
	for name, image := range map[string]string{"terminus": version, "older": "0.0.0-alpha", "newer": "99.0.0"} {
		id := buildah(t, "from", "localhost/terminus:"+image)
		t.Cleanup(func() { buildah(t, "rm", id) })
		run := "#!/bin/sh\nexec buildah run --volume \"$HOME:$HOME\" --env HOME=\"$HOME\" " + id + " -- /usr/bin/terminus \"$@\"\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(run), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "container",
		Setup: func(env *testscript.Env) error {
			if err := setup(env); err != nil {
				return err
			}
			home := env.Getenv("HOME")
			err := filepath.WalkDir(home, func(path string, _ os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				return os.Lchown(path, imageOwner, imageOwner)
			})
			for _, name := range []string{"CONTAINERS_STORAGE_CONF", "BUILDAH_ISOLATION"} {
				env.Setenv(name, os.Getenv(name))
			}
			env.Setenv("IMAGES", bin)
			env.Setenv("VERSION", version)
			env.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			env.Defer(func() { passesEnd(home) })
			return err
		},
		Cmds: commands, Condition: condition, UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
	})
}
