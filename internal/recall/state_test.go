package recall_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/recall"
)

const someSession = "5e0a1111-2222-4333-8444-abcdefABCDEF"

func stateFile(data string) string { return filepath.Join(data, "injection", someSession+".json") }

func TestWhatKilledHooksLeftIsSweptAfterAnHour(t *testing.T) {
	data := filepath.Join(t.TempDir(), "da[ta")
	dir := filepath.Join(data, "injection")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{
		".inject-1-1.tmp": 2 * time.Hour, ".inject-2-1.tmp": time.Minute, someSession + ".json": 2 * time.Hour,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	recall.SweepStates(data, now)
	recall.SweepStates(filepath.Join(data, "absent"), now)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || left[0].Name() != ".inject-2-1.tmp" {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestAStateIsKeptForItsSession(t *testing.T) {
	data := filepath.Join(t.TempDir(), "not", "there")
	if s := recall.LoadState(data, someSession); !reflect.DeepEqual(s, recall.State{}) {
		t.Errorf("a new session: %+v", s)
	}
	want := recall.State{
		Injected: []int64{1, 1 << 40}, Brief: []int64{7}, CompactionOwed: true,
		Suppressed: []recall.Suppressed{{TurnID: 3, Reason: recall.CarriedByBrief}},
	}
	for range 2 { // made, then replaced
		if err := want.Save(data, someSession); err != nil {
			t.Fatal(err)
		}
	}
	if got := recall.LoadState(data, someSession); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	text, err := os.ReadFile(stateFile(data))
	const form = `{
  "format": 1,
  "injected": [
    1,
    1099511627776
  ],
  "brief": [
    7
  ],
  "suppressed": [
    {
      "turn_id": 3,
      "reason": "carried_by_brief"
    }
  ],
  "compaction_owed": true
}
`
	if err != nil || string(text) != form {
		t.Errorf("got %s, %v", text, err)
	}
	entries, err := os.ReadDir(filepath.Dir(stateFile(data)))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside it: %v, %v", entries, err)
	}
	if other := recall.LoadState(data, "99999999"); !reflect.DeepEqual(other, recall.State{}) {
		t.Errorf("another session: %+v", other)
	}
}

func TestAStateIsItsOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	data := filepath.Join(t.TempDir(), "data")
	if err := (recall.State{}).Save(data, someSession); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{data: 0o700, filepath.Join(data, "injection"): 0o700, stateFile(data): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

func TestAnEmptyStateHasLists(t *testing.T) {
	data := t.TempDir()
	if err := (recall.State{}).Save(data, someSession); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(stateFile(data)); err != nil || strings.Contains(string(text), "null") {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestWhatIsNoStateIsANewSession(t *testing.T) {
	for _, text := range []string{
		"", "null", "{}", "[]", "x", `{"format":2}`, `{"format":"1"}`, `{"format":1}x`, `{"format":1,"injected":[1.5]}`,
		`{"format":1,"injected":{"a":1}}`, `{"format":1,"suppressed":[{"turn_id":1,"reason":"moon"}]}`, `{"format":1,"injected":[1],"brief":"x"}`,
		`{"format":1,"injected":[1]` + strings.Repeat(" ", 5<<20) + `}`,
	} {
		data := t.TempDir()
		if err := os.Mkdir(filepath.Dir(stateFile(data)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(stateFile(data), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := recall.LoadState(data, someSession); !reflect.DeepEqual(got, recall.State{}) {
			t.Errorf("%.80q: %+v", text, got)
		}
	}
	data := t.TempDir()
	if err := os.MkdirAll(stateFile(data), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := recall.LoadState(data, someSession); !reflect.DeepEqual(got, recall.State{}) {
		t.Errorf("a directory: %+v", got)
	}
}

func TestOnlyTheFormatMustBeThere(t *testing.T) {
	data := t.TempDir()
	if err := (recall.State{}).Save(data, someSession); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stateFile(data), []byte(`{"later":true,"format":1,"injected":[4]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := recall.LoadState(data, someSession); !reflect.DeepEqual(got, recall.State{Injected: []int64{4}}) {
		t.Errorf("got %+v", got)
	}
}

// A hostile session id names no file, and makes none.
func TestAHostileSessionIDTouchesNothing(t *testing.T) {
	for _, id := range []string{
		"", "short", "..", "../../../../etc/passwd", "aaaaaaaa/bbbb", `aaaaaaaa\bbbb`, "aaaaaaaa\x00bbb", "aaaa.aaaa", "aaaa aaaa",
		"gggggggg", "ａａａａａａａａ", strings.Repeat("a", 65), "aaaaaaa", "aaaaaaaa\n",
	} {
		if recall.ValidSessionID(id) {
			t.Errorf("%q is valid", id)
		}
		data := filepath.Join(t.TempDir(), "data")
		if err := (recall.State{CompactionOwed: true}).Save(data, id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := os.Stat(data); !os.IsNotExist(err) {
			t.Errorf("%q made %s", id, data)
		}
		if got := recall.LoadState(data, id); !reflect.DeepEqual(got, recall.State{}) {
			t.Errorf("%q: %+v", id, got)
		}
	}
	for _, id := range []string{someSession, "aaaaaaaa", "--------", strings.Repeat("F", 64)} {
		if !recall.ValidSessionID(id) {
			t.Errorf("%q is not valid", id)
		}
	}
}

func TestTheNewestSuppressedTurnsAreKept(t *testing.T) {
	m := newMachine(t)
	m.session(1, readCall("/work/app/src/retry.go"))
	var s recall.State
	for i := range int64(100) {
		s.Suppressed = append(s.Suppressed, recall.Suppressed{TurnID: 1000 + i, Reason: recall.VisibleInSession})
	}
	s.Injected = []int64{turn(0, 0)}
	l := m.prompt(now, "src/retry.go", s)
	got := l.State.Suppressed
	if len(got) != 100 || got[0].TurnID != 1001 || got[99] != (recall.Suppressed{TurnID: turn(0, 0), Reason: recall.AlreadyInjected}) {
		t.Errorf("%d: %+v", len(got), got)
	}
	if s.Suppressed[0].TurnID != 1000 {
		t.Error("the request's state was changed")
	}
}
