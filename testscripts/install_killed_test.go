package testscripts

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// An installed is a home with Claude Code's two files.
type installed struct {
	t    *testing.T
	home string
}

const killedSettings = "{\n    \"model\": \"opus\"\n}"

// killedState is large, so that there is a while between the two files.
func killedState() string {
	var b strings.Builder
	b.WriteString("{\n  \"projects\": {\n")
	for i := range 40_000 {
		fmt.Fprintf(&b, "    \"/work/%d\": {\"allowedTools\": [], \"history\": [null], \"lastCost\": 1.0},\n", i)
	}
	b.WriteString("    \"last\": null\n  }\n}\n")
	return b.String()
}

func newInstalled(t *testing.T, state string) installed {
	t.Helper()
	h := installed{t, t.TempDir()}
	if err := os.Mkdir(filepath.Join(h.home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{h.settings(): killedSettings, h.state(): state} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h installed) settings() string { return filepath.Join(h.home, ".claude", "settings.json") }
func (h installed) state() string    { return filepath.Join(h.home, ".claude.json") }

func (h installed) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(binDir, "terminus"+exeSuffix()), args...)
	cmd.Dir = h.home
	cmd.Env = []string{"HOME=" + h.home, "PATH=" + os.Getenv("PATH")}
	return cmd
}

func (h installed) run(args ...string) {
	h.t.Helper()
	if out, err := h.command(args...).CombinedOutput(); err != nil {
		h.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// is reports whether a file holds a text.
func is(path, text string) bool {
	got, err := os.ReadFile(path)
	return err == nil && string(got) == text
}

// C244: the install is killed between its two files. Both ways out are open: the next
// install finishes, and uninstall takes back.
func TestAnInstallKilledBetweenTheFilesIsFinishedOrTakenBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the home of another system")
	}
	state := killedState()
	for _, way := range []string{"install", "uninstall"} {
		t.Run(way, func(t *testing.T) {
			h := between(t, state)
			if _, err := os.Stat(filepath.Join(h.home, ".config", "terminus", "install.json")); err != nil {
				t.Fatalf("settings.json is edited, and there is no receipt: %v", err)
			}
			if way == "install" {
				h.run("install")
				if err := wired(h.home); err != nil {
					t.Fatal(err)
				}
			}
			h.run("uninstall")
			h.asBefore(state)
		})
	}
}

// attempts is how often the moment between the two files is tried to be met. A busy machine may
// stop this process just then.
const attempts = 40

// between is a home in which an install was killed after the first of the two files
// and before the second.
func between(t *testing.T, state string) installed {
	t.Helper()
	for range attempts {
		h := newInstalled(t, state)
		cmd := h.command("install")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		running := true
		for running && is(h.settings(), killedSettings) {
			select {
			case <-ended:
				running = false
			default:
			}
		}
		_ = cmd.Process.Kill()
		<-ended
		if !is(h.settings(), killedSettings) && is(h.state(), state) {
			return h
		}
	}
	t.Fatal("the moment between the two files was never met")
	return installed{}
}

// asBefore fails unless the home holds the two files as they were, and nothing else.
func (h installed) asBefore(state string) {
	h.t.Helper()
	if !is(h.settings(), killedSettings) || !is(h.state(), state) {
		h.t.Error("a file did not get its bytes back")
	}
	all, err := traces(h.home)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, path := range []string{h.home, filepath.Dir(h.settings()), h.settings(), h.state()} {
		delete(all, path)
	}
	// An install that is killed before it has written its first receipt leaves a
	// directory or two that nobody can tell from the user's own.
	config := filepath.Join(h.home, ".config")
	for _, path := range []string{config, filepath.Join(config, "terminus")} {
		if entries, err := os.ReadDir(path); err == nil && len(entries) == 0 || path == config && len(entries) == 1 {
			delete(all, path)
		}
	}
	for path := range all {
		h.t.Errorf("%s is left", path)
	}
}

// Killed at any moment, an install or an uninstall leaves two files that are whole,
// before or after; and one more uninstall leaves what was there before.
func TestAKilledInstallConverges(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the home of another system")
	}
	state := "{\n  \"numStartups\": 1\n}\n"
	calm := newInstalled(t, state)
	start := time.Now()
	calm.run("install")
	whole := time.Since(start)
	after := map[string][]byte{}
	for _, path := range []string{calm.settings(), calm.state()} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		after[filepath.Base(path)] = text
	}
	kills := crashKills
	if s := os.Getenv("TERMINUS_CRASH_KILLS"); s != "" {
		if _, err := fmt.Sscan(s, &kills); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(2, 7))
	for i := range kills {
		h := newInstalled(t, state)
		if i%3 == 2 {
			h.run("install")
			killSoon(t, h.command("uninstall"), time.Duration(r.Int64N(int64(whole/4))))
		} else {
			killSoon(t, h.command("install"), time.Duration(r.Int64N(int64(whole))))
		}
		for path, before := range map[string]string{h.settings(): killedSettings, h.state(): state} {
			got, err := os.ReadFile(path)
			installed := bytes.ReplaceAll(after[filepath.Base(path)], []byte(calm.home), []byte(h.home))
			if err != nil || string(got) != before && !bytes.Equal(got, installed) {
				t.Fatalf("kill %d left %s as\n%s\n%v", i, path, got, err)
			}
		}
		if i%2 == 0 {
			h.run("install")
			if err := wired(h.home); err != nil {
				t.Fatal(err)
			}
		}
		h.run("uninstall")
		h.asBefore(state)
	}
}

// killSoon starts a process and kills it after a while.
func killSoon(t *testing.T, cmd *exec.Cmd, after time.Duration) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
