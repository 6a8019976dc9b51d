package codex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/codex"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
)

const (
	first   = "0a1b2c3d-0000-7000-8000-000000000001"
	rollout = "sessions/2026/02/10/rollout-2026-02-10T09-00-00-" + first + ".jsonl"
)

func move(t *testing.T, home *harnesstest.Home, from, to string) {
	t.Helper()
	from, to = filepath.Join(home.Dir, ".codex", from), filepath.Join(home.Dir, ".codex", to)
	err := os.MkdirAll(filepath.Dir(to), 0o700)
	if err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func turnsOfFirst(home *harnesstest.Home) string {
	return strings.Join(home.Rows(`SELECT turns FROM session_meta WHERE session_key = ?`, "codex:"+first), " ")
}

func TestASessionIsOneWhereverItsRolloutGoes(t *testing.T) {
	home := harnesstest.Open(t, codex.Harness{}, harnesstest.Options{})
	home.Pass()
	want := turnsOfFirst(home)
	for _, step := range []struct{ name, from, to string }{
		{"archived", rollout, "archived_sessions/" + filepath.Base(rollout)},
		{"gone, with its prompts in history.jsonl", "archived_sessions/" + filepath.Base(rollout), "gone.jsonl"},
		{"back", "gone.jsonl", rollout},
	} {
		move(t, home, step.from, step.to)
		if res := home.Pass(); res.TurnsAdded != 0 || len(res.Failures) > 0 {
			t.Errorf("%s: %d turns, failures %v", step.name, res.TurnsAdded, res.Failures)
		}
		if got := turnsOfFirst(home); got != want {
			t.Errorf("%s: %s turns, want %s", step.name, got, want)
		}
	}
	home.Verify()
}

func TestPromptsAreTakenOverByTheRolloutThatComesBack(t *testing.T) {
	home := harnesstest.Open(t, codex.Harness{}, harnesstest.Options{})
	home.Pass()
	want := turnsOfFirst(home)
	home = harnesstest.Open(t, codex.Harness{}, harnesstest.Options{})
	move(t, home, rollout, "gone.jsonl")
	home.Pass()
	if got := turnsOfFirst(home); got != "1" {
		t.Errorf("%s turns of history.jsonl, want 1", got)
	}
	move(t, home, "gone.jsonl", rollout)
	home.Pass()
	if got := turnsOfFirst(home); got != want {
		t.Errorf("%s turns, want %s", got, want)
	}
	if n := home.Finds("whistle"); n != 3 { // the prompt, the test's command and its output
		t.Errorf("found %d times", n)
	}
	home.Verify()
}

func TestPromptsThatTellNoDirectoryAreLeftAloneWhereAnythingIsExcluded(t *testing.T) {
	home := harnesstest.Open(t, codex.Harness{}, harnesstest.Options{})
	move(t, home, rollout, "gone.jsonl")
	home.Configure("exclude = [\"/nowhere\"]\n")
	home.Pass()
	if got := turnsOfFirst(home); got != "" {
		t.Errorf("%s turns of history.jsonl", got)
	}
}
