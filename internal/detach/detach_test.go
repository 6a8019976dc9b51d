package detach

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What the test binary does when it stands in for another process.
const (
	roleHook   = "hook"
	roleWorker = "worker"
)

func TestMain(m *testing.M) {
	args := os.Args[1:]
	switch {
	case Reparented(args):
		os.Exit(Handoff(os.Args[0], args))
	case len(args) > 1 && args[0] == roleHook:
		os.Exit(hook(args[1:]))
	case len(args) > 1 && args[0] == roleWorker:
		os.Exit(worker(args[1]))
	}
	os.Exit(m.Run())
}

func TestReparentedOnlyByTheFirstArgument(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want bool
	}{
		{nil, false},
		{[]string{}, false},
		{[]string{"ingest"}, false},
		{[]string{"ingest", Marker}, false},
		{[]string{Marker}, true},
		{[]string{Marker, "ingest"}, true},
	} {
		if got := Reparented(tc.args); got != tc.want {
			t.Errorf("%q: %v", tc.args, got)
		}
	}
}

func TestHandoffSucceedsWhateverHappens(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for _, args := range [][]string{nil, {Marker}, {Marker, "ingest"}, {"ingest"}} {
		if code := Handoff(none, args); code != 0 {
			t.Errorf("%q: exit %d", args, code)
		}
	}
}

func TestStartNamesTheProgramThatIsMissing(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	if err := Start(none, "ingest"); err == nil || !strings.Contains(err.Error(), none) {
		t.Errorf("%v", err)
	}
}

func TestWorkerGetsItsArgumentsWithoutTheMarker(t *testing.T) {
	file := filepath.Join(t.TempDir(), "beats")
	if err := Start(os.Args[0], roleWorker, file); err != nil {
		t.Fatal(err)
	}
	w := waitForWorker(t, file)
	if want := []string{os.Args[0], roleWorker, file}; !slices.Equal(w.Args, want) {
		t.Errorf("arguments are %q, want %q", w.Args, want)
	}
}

// patience is how long a test waits for a process on a busy machine.
const patience = 30 * time.Second

// eventually waits until done is true.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen within %v", what, patience)
		}
	}
}
