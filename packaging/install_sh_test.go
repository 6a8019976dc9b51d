//go:build unix

package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// shells are those that may be a system's sh, as command lines.
var shells = [][]string{
	{"sh"}, {"dash"}, {"bash", "--posix"}, {"bash"}, {"busybox", "sh"}, {"zsh", "--emulate", "sh"}, {"mksh"}, {"ksh"},
}

// script is install.sh, and mark what stands in every build.
const (
	script = "install.sh"
	mark   = "terminus-program:01d3affa-9921-4c0e-ba7a-77ca62fb714b"
)

func eachShell(t *testing.T, run func(t *testing.T, shell []string)) {
	for _, shell := range shells {
		t.Run(strings.Join(shell, " "), func(t *testing.T) {
			path, err := exec.LookPath(shell[0])
			if err != nil {
				t.Skipf("%s is not here", shell[0])
			}
			run(t, append([]string{path}, shell[1:]...))
		})
	}
}

// The scripts of testdata/install_sh run install.sh with every shell, in a home of
// their own, against a server of theirs that gives out $WORK/www. They have, beyond
// testscript's own commands:
//
//	install.sh ARGS...    the script; uname says $UNAME_S and $UNAME_M
//	release VERSION SYSTEM...
//	                      make a release for systems, as linux_amd64, below www
func TestInstallSh(t *testing.T) {
	abs, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	eachShell(t, func(t *testing.T, shell []string) {
		// Not below t.TempDir, into which nobody else may look.
		root, err := os.MkdirTemp("", "terminus-install-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		if err := os.Chmod(root, 0o755); err != nil {
			t.Fatal(err)
		}
		testscript.Run(t, testscript.Params{
			Dir: filepath.Join("testdata", "install_sh"), WorkdirRoot: root,
			RequireExplicitExec: true, RequireUniqueNames: true,
			Setup: func(env *testscript.Env) error {
				server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(env.WorkDir, "www"))))
				env.Defer(server.Close)
				tools := filepath.Join(env.WorkDir, "tools")
				for _, dir := range []string{tools, filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, "tmp")} {
					if err := os.Mkdir(dir, 0o755); err != nil {
						return err
					}
				}
				for name, value := range map[string]string{
					"PATH": tools + ":" + os.Getenv("PATH"), "HOME": filepath.Join(env.WorkDir, "home"), "TMPDIR": filepath.Join(env.WorkDir, "tmp"),
					"URL": server.URL, "UNAME_S": "Linux", "UNAME_M": "x86_64", "INSTALL": abs,
				} {
					env.Setenv(name, value)
				}
				for name, text := range map[string]string{
					script:  fmt.Sprintf("exec %s %s \"$@\"", strings.Join(shell, " "), abs),
					"uname": `case $1 in -s) echo "$UNAME_S" ;; *) echo "$UNAME_M" ;; esac`,
				} {
					if err := os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
						return err
					}
				}
				return nil
			},
			Condition: func(name string) (bool, error) { return name == "root" && os.Geteuid() == 0, nil },
			Cmds:      map[string]func(*testscript.TestScript, bool, []string){"release": cmdRelease},
		})
	})
}

func cmdRelease(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: release VERSION SYSTEM...")
	}
	ts.Check(release(ts.MkAbs("www"), args[0], args[1:]...))
}

// release makes the archives of a version, whose binary is a script that says it, and
// the list of their sums. It is the newest one.
func release(www, version string, systems ...string) error {
	dir, newest := filepath.Join(www, "download", "v"+version), filepath.Join(www, "latest", "download")
	for _, d := range []string{dir, newest} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	list := ""
	for _, system := range systems {
		name := fmt.Sprintf("terminus_%s_%s.tar.gz", version, system)
		text, err := archive(map[string]string{
			"LICENSE": "a licence\n", "terminus": fmt.Sprintf("#!/bin/sh\n# %s %s\necho %s\n", mark, system, version),
		})
		if err != nil {
			return err
		}
		list += fmt.Sprintf("%x  %s\n", sha256.Sum256(text), name)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	list += fmt.Sprintf("%x  terminus_%s_amd64.deb\n", sha256.Sum256(nil), version)
	for _, d := range []string{dir, newest} {
		if err := os.WriteFile(filepath.Join(d, "checksums.txt"), []byte(list), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func archive(files map[string]string) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

// quiet is a home in which nothing may appear, and an environment with it.
func quiet(t *testing.T, url string) (home string, env []string) {
	t.Helper()
	home = t.TempDir()
	tmp := filepath.Join(home, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	return home, []string{"HOME=" + home, "TMPDIR=" + tmp, "PATH=" + os.Getenv("PATH"), "TERMINUS_BASE_URL=" + url}
}

func untouched(t *testing.T, home, when string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, _ os.DirEntry, err error) error {
		if err == nil && path != home && path != filepath.Join(home, "tmp") {
			t.Errorf("%s, %s is there", when, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A download that is cut off is a script of which a shell runs nothing, wherever the
// cut is.
func TestInstallShCutOffAnywhereDoesNothing(t *testing.T) {
	text := read(t, script)
	var cuts []int
	for i := range len(text) - 1 {
		// The whole of it without its last newline is whole.
		if text[i] == '\n' || i > len(text)-80 && i < len(text)-1 {
			cuts = append(cuts, i)
		}
	}
	eachShell(t, func(t *testing.T, shell []string) {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
		defer server.Close()
		home, env := quiet(t, server.URL)
		for _, cut := range cuts {
			cmd := exec.Command(shell[0], shell[1:]...)
			cmd.Env, cmd.Stdin = env, strings.NewReader(text[:cut])
			out, _ := cmd.Output() // some cuts are errors of syntax, and some are none
			if len(out) > 0 || asked > 0 {
				t.Fatalf("cut at byte %d, it printed %q and asked %d times", cut, out, asked)
			}
		}
		untouched(t, home, "after all cuts")
	})
}

// Interrupted while it downloads it leaves nothing.
func TestInstallShInterruptedLeavesNothing(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		asked := make(chan bool, 8)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("the first bytes"))
			w.(http.Flusher).Flush()
			asked <- true
			<-r.Context().Done()
		}))
		defer server.Close()
		home, env := quiet(t, server.URL)
		cmd := exec.Command(shell[0], append(shell[1:len(shell):len(shell)], script)...)
		cmd.Env, cmd.SysProcAttr = env, &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-asked:
		case <-time.After(time.Minute):
			t.Error("it asks for nothing")
		}
		// As a terminal does: to everything that the command started.
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Error("it says that it succeeded")
		}
		untouched(t, home, "interrupted")
	})
}

// The artefacts of a real release are installed as those that are made up are.
func TestInstallShFromARelease(t *testing.T) {
	heavy(t)
	dist := os.Getenv(distVar)
	if dist == "" {
		t.Skip(distVar + " names no release")
	}
	version := releaseVersion(t, dist)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dir, name := path.Split(r.URL.Path)
		if dir != "/latest/download/" && dir != "/download/v"+version+"/" {
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, filepath.Join(dist, name))
	}))
	defer server.Close()
	home, env := quiet(t, server.URL)
	cmd := exec.Command("sh", script)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(home, ".local", "bin", "terminus"), "--version").Output()
	if err != nil || string(out) != version+"\n" {
		t.Errorf("%v %q", err, out)
	}
}
