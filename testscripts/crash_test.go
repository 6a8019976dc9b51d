package testscripts

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/corpus"
)

// crashKills is how many kills the everyday run makes; TERMINUS_CRASH_KILLS
// asks for more (`make crash`: 100 of each).
const crashKills = 6

// A pass that is killed at any moment loses nothing and repeats nothing: one
// more pass, and the store is the one of an undisturbed run.
func TestAKilledPassConverges(t *testing.T) {
	kills := crashKills
	if s := os.Getenv("TERMINUS_CRASH_KILLS"); s != "" {
		if _, err := fmt.Sscan(s, &kills); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(t.TempDir(), "claude")
	if _, err := corpus.Generate(root, corpus.Options{Seed: 7, Bytes: 24 << 20, Projects: 4}); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"ingest"}, {"backfill", "--work"}} {
		t.Run(command[0], func(t *testing.T) {
			start := time.Now()
			calm := home(t, root)
			mustRun(t, calm, command...)
			whole := time.Since(start)
			want := dump(t, filepath.Join(dataDir(calm), "terminus.db"))
			if len(want) < 1000 {
				t.Fatalf("the undisturbed run archived only %d rows", len(want))
			}
			r := rand.New(rand.NewPCG(1, uint64(kills)))
			shared := home(t, root)
			for i := range kills {
				// Every third kill meets a store that earlier kills left behind.
				h := shared
				if i%3 != 2 {
					h = home(t, root)
				}
				killed := killAfter(t, h, time.Duration(r.Int64N(int64(whole))), command...)
				mustRun(t, h, command...)
				store := filepath.Join(dataDir(h), "terminus.db")
				differ(t, fmt.Sprintf("kill %d after %v", i, killed), dump(t, store), want)
				if h == shared {
					// Start over with the next kill, in the same home.
					for _, suffix := range []string{"", "-wal", "-shm"} {
						_ = os.Remove(store + suffix)
					}
				} else {
					_ = os.RemoveAll(h)
				}
			}
		})
	}
}

// home makes a home whose configuration names root as Claude Code's directory.
func home(t *testing.T, root string) string {
	t.Helper()
	h := t.TempDir()
	dir := filepath.Join(h, ".config", "terminus")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	toml := fmt.Sprintf("roots = [%q]\n", root)
	if err := os.WriteFile(filepath.Join(dir, "terminus.toml"), []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

func command(h string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(binDir, "terminus"+exeSuffix()), args...)
	c.Env = []string{"HOME=" + h, "USERPROFILE=" + h, "TZ=UTC", "PATH=" + os.Getenv("PATH"), "LOCALAPPDATA=" + filepath.Join(h, "AppData", "Local"), "TERMINUS_CONFIG_DIR=" + filepath.Join(h, ".config", "terminus")}
	c.Dir = h
	return c
}

// mustRun runs the binary and returns what it wrote to stdout.
func mustRun(t testing.TB, h string, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	c := command(h, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("terminus %s: %v\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}

// killAfter starts the binary and ends it with SIGKILL.
func killAfter(t *testing.T, h string, after time.Duration, args ...string) time.Duration {
	t.Helper()
	c := command(h, args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = c.Process.Kill()
	_ = c.Wait()
	return after
}
