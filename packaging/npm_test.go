//go:build unix

package packaging

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/npmtest"
)

// madeUp is what the packages are published as whose binary is built here.
const madeUp = "1.2.3-test.4"

const thin = "@terminus-archive/terminus"

// nodeNames are the names of Node.js for what Go calls otherwise.
var nodeNames = map[string]string{"amd64": "x64", "windows": "win32"}

func nodeName(name string) string {
	if other := nodeNames[name]; other != "" {
		return other
	}
	return name
}

// An npm is a registry that holds our packages, and a client in a home of its own.
type npm struct {
	t       *testing.T
	home    string
	version string
	binary  string // the one that was packed for this system
	packed  []npmtest.Package
	env     []string
	*npmtest.Registry
}

func newNPM(t *testing.T) *npm {
	t.Helper()
	heavy(t)
	for _, program := range []string{"node", "npm", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not here", program)
		}
	}
	n := &npm{t: t, home: t.TempDir(), Registry: npmtest.New(t)}
	n.env = append(n.Env(n.home), "PATH="+n.bin()+":"+os.Getenv("PATH"))
	n.publish()
	return n
}

func (n *npm) prefix() string { return npmtest.Prefix(n.home) }
func (n *npm) bin() string    { return filepath.Join(n.prefix(), "bin") }

// entry is what npm puts on PATH.
func (n *npm) entry() string { return filepath.Join(n.bin(), "terminus") }

// run runs a program with nothing of the caller's environment but the path.
func (n *npm) run(dir, program string, args ...string) string {
	n.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = n.env, dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		n.t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// publish makes the packages of a release, and packs them: with a cache of its own, in
// which install does not find them.
func (n *npm) publish() {
	n.t.Helper()
	dist, out := n.release(), filepath.Join(n.home, "out")
	n.run(".", "node", "npm/build.js", dist, n.version, out)
	names, err := os.ReadDir(out)
	if err != nil || len(names) != 7 {
		n.t.Fatalf("%d packages: %v", len(names), err)
	}
	for _, name := range names {
		dir := filepath.Join(out, name.Name())
		file := strings.TrimSpace(n.run(dir, "npm", "pack", "--silent", "--cache", filepath.Join(n.home, "packing")))
		p, err := n.PublishFile(filepath.Join(dir, file))
		if err != nil {
			n.t.Fatal(err)
		}
		n.packed = append(n.packed, p)
	}
}

// release is the directory of the release under test. Where none is named it is made:
// its binaries for other systems are no programs.
func (n *npm) release() (dist string) {
	n.t.Helper()
	if dist = os.Getenv(distVar); dist != "" {
		n.version = releaseVersion(n.t, dist)
		found, err := filepath.Glob(filepath.Join(dist, "terminus_"+runtime.GOOS+"_"+runtime.GOARCH+"*", "terminus"))
		if err != nil || len(found) != 1 {
			n.t.Fatalf("the binaries for this system are %v: %v", found, err)
		}
		n.binary = found[0]
		return dist
	}
	n.version, dist = madeUp, filepath.Join(n.home, "dist")
	for _, system := range []string{"linux_amd64_v1", "linux_arm64_v8.0", "darwin_amd64_v1", "darwin_arm64_v8.0", "windows_amd64_v1", "windows_arm64_v8.0"} {
		file := filepath.Join(dist, "terminus_"+system, "terminus")
		if strings.HasPrefix(system, "windows") {
			file += ".exe"
		}
		if strings.HasPrefix(system, runtime.GOOS+"_"+runtime.GOARCH) {
			n.binary = file
			build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X github.com/terminus-archive/terminus/internal/cli.version="+madeUp,
				"-o", file, "github.com/terminus-archive/terminus/cmd/terminus")
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if text, err := build.CombinedOutput(); err != nil {
				n.t.Fatalf("build: %v\n%s", err, text)
			}
			continue
		}
		n.write(file, "no program of this system")
	}
	return dist
}

func (n *npm) write(path, text string) {
	n.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		n.t.Fatal(err)
	}
}

// From npm install to npm uninstall, out of a registry, by the client that people use.
func TestNPM(t *testing.T) {
	n := newNPM(t)
	system := thin + "-" + nodeName(runtime.GOOS) + "-" + nodeName(runtime.GOARCH)
	for _, part := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"the packages hold what they have to, and run nothing", n.hold},
		{"npm installs the thin package and the one of this system", func(t *testing.T) {
			n.run(n.home, "npm", "install", "-g", thin)
			asked := n.Served()
			slices.Sort(asked)
			if want := []string{thin, system}; !slices.Equal(asked, want) {
				t.Errorf("npm asked for %v, want %v", asked, want)
			}
			if got := n.run(n.home, n.entry(), "--version"); got != n.version+"\n" {
				t.Errorf("it says %q", got)
			}
		}},
		{"arguments, streams and exit codes pass", n.streams},
		{"signals pass both ways", n.signals},
		{"install copies the binary, and no hook starts Node.js", n.install},
		{"what the wrapper costs", n.cost},
		{"npm uninstall leaves nothing, and what install copied goes on", func(t *testing.T) {
			n.run(n.home, "npm", "uninstall", "-g", thin)
			for _, gone := range []string{n.entry(), filepath.Join(n.prefix(), "lib", "node_modules", thin)} {
				if _, err := os.Lstat(gone); err == nil {
					t.Errorf("%s is left", gone)
				}
			}
			stable := filepath.Join(n.home, ".local", "bin", "terminus")
			if got := n.run(n.home, stable, "--version"); got != n.version+"\n" {
				t.Errorf("it says %q", got)
			}
			n.run(n.home, stable, "uninstall")
		}},
		{"without optional dependencies it says what is missing", func(t *testing.T) {
			dir := filepath.Join(n.home, "project")
			n.write(filepath.Join(dir, "package.json"), "{}")
			n.run(dir, "npm", "install", "--omit=optional", thin) // with -g npm installs them all the same
			cmd := exec.Command(filepath.Join(dir, "node_modules", ".bin", "terminus"), "--version")
			cmd.Env = n.env
			out, err := cmd.CombinedOutput()
			want := "terminus: the package " + system + " is not installed: install again without --omit=optional\n"
			if cmd.ProcessState.ExitCode() != 1 || string(out) != want {
				t.Errorf("%v: %s", err, out)
			}
		}},
	} {
		if !t.Run(part.name, func(t *testing.T) { n.t = t; part.run(t) }) {
			return // what follows builds on it
		}
	}
}

func (n *npm) hold(t *testing.T) {
	for _, p := range n.packed {
		name := p.Name
		if p.Manifest["scripts"] != nil || p.Version != n.version {
			t.Errorf("%s: %v", name, p.Manifest)
		}
		want := []string{"package/LICENSE", "package/bin/terminus", "package/package.json"}
		switch {
		case name == thin:
			want = []string{"package/LICENSE", "package/README.md", "package/bin/terminus.js", "package/package.json"}
			if deps := p.Manifest["optionalDependencies"].(map[string]any); len(deps) != len(n.packed)-1 {
				t.Errorf("it depends on %v", deps)
			}
		case strings.Contains(name, "win32"):
			want[1] += ".exe"
		}
		if !slices.Equal(p.Files, want) {
			t.Errorf("%s holds %v", name, p.Files)
		}
	}
}

func (n *npm) streams(t *testing.T) {
	cmd := exec.Command("terminus", "search", "a b", "--limit", "x y")
	for i, entry := range []string{n.bin() + "/terminus", n.binary} {
		cmd = exec.Command(entry, cmd.Args[1:]...)
		var out, errs bytes.Buffer
		cmd.Env, cmd.Stdout, cmd.Stderr = n.env, &out, &errs
		_ = cmd.Run()
		if cmd.ProcessState.ExitCode() != 2 || out.Len() > 0 || !strings.Contains(errs.String(), `"x y"`) {
			t.Errorf("%d: %d %q %q", i, cmd.ProcessState.ExitCode(), &out, &errs)
		}
	}
	cmd = exec.Command(n.entry(), "mcp")
	cmd.Env, cmd.Stdin = n.env, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"id":1`) {
		t.Errorf("%v %s", err, out)
	}
}

// signals: a signal for the wrapper ends the binary, and the wrapper ends by it as well.
func (n *npm) signals(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		cmd := exec.Command(n.entry(), "mcp")
		cmd.Env = n.env
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// An answer tells that the binary runs.
		_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
		_, err = out.Read(make([]byte, 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, _ = io.Copy(io.Discard, out) // ends when nobody holds it open any more: the binary, too
			ended <- cmd.Wait()
		}()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatalf("%v does not end it", signal)
		}
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != signal {
			t.Errorf("%v: it ended with %v", signal, cmd.ProcessState)
		}
	}
}

func (n *npm) install(t *testing.T) {
	n.run(n.home, n.entry(), "install")
	stable, err := os.ReadFile(filepath.Join(n.home, ".local", "bin", "terminus"))
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(n.binary)
	if err != nil || !bytes.Equal(stable, binary) {
		t.Errorf("the stable path holds something else: %v", err)
	}
	settings, err := os.ReadFile(filepath.Join(n.home, ".claude", "settings.json"))
	if err != nil || strings.Contains(string(settings), "node") {
		t.Errorf("%v %s", err, settings)
	}
}

// cost compares a hook that goes through the wrapper with one that does not. It is a
// figure to read, not a limit.
func (n *npm) cost(t *testing.T) {
	const times = 20
	payload := fmt.Sprintf(`{"session_id":"22222222-2222-4222-8222-222222222222","cwd":%q,"hook_event_name":"SessionStart"}`, n.home)
	for _, entry := range []string{filepath.Join(n.home, ".local", "bin", "terminus"), n.entry()} {
		var took []time.Duration
		for range times {
			cmd := exec.Command(entry, "hook", "SessionStart")
			cmd.Env, cmd.Stdin = n.env, strings.NewReader(payload)
			start := time.Now()
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		t.Logf("%s: a hook takes %v, at most %v", strings.TrimPrefix(entry, n.home), took[times/2], took[times-1])
	}
}
