package testscripts

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/corpus"
)

// moveKills is how many moves are killed: enough to meet the copy and the removal.
const moveKills = 8

// A data move that is killed at any moment loses nothing, whatever the pointer names
// answers, and the same command once more finishes it.
func TestAKilledDataMoveLosesNothing(t *testing.T) {
	root := filepath.Join(t.TempDir(), "claude")
	if _, err := corpus.Generate(root, corpus.Options{Seed: 11, Bytes: 24 << 20, Projects: 2}); err != nil {
		t.Fatal(err)
	}
	h := home(t, root)
	mustRun(t, h, "ingest")
	sessions := mustRun(t, h, "sessions", "--project", "*", "--json")
	at := func(n int) string { return filepath.Join(h, fmt.Sprintf("place-%d", n)) }
	start := time.Now()
	mustRun(t, h, "data", "move", "--yes", at(0))
	whole := time.Since(start)
	r := rand.New(rand.NewPCG(3, moveKills))
	for i := range moveKills {
		from, to := at(i), at(i+1)
		after := killAfter(t, h, time.Duration(r.Int64N(int64(whole))), "data", "move", "--yes", to)
		if got := mustRun(t, h, "sessions", "--project", "*", "--json"); got != sessions {
			t.Fatalf("killed after %v, other sessions are listed", after)
		}
		c := command(h, "data", "move", "--yes", to)
		if out, err := c.CombinedOutput(); err != nil && !strings.Contains(string(out), "is at "+to+" already") {
			t.Fatalf("killed after %v, the next run: %v\n%s", after, err, out)
		}
		if got := mustRun(t, h, "sessions", "--project", "*", "--json"); got != sessions {
			t.Errorf("killed after %v and finished, other sessions are listed", after)
		}
		if exists(from) {
			t.Errorf("killed after %v and finished, %s is still there", after, from)
		}
		names, err := filepath.Glob(filepath.Join(to, "*"))
		if err != nil || slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "moved-from") }) {
			t.Errorf("killed after %v and finished, %v", after, names)
		}
	}
	if out := mustRun(t, h, "verify", "--json"); !strings.Contains(out, `"failures":[]`) {
		t.Errorf("verify: %s", out)
	}
}
