package feedback

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/document"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
)

const session = "5e0a94cf-7a0b-4c1e-9a71-1f6d1a0e5f11"

func ptr[T any](v T) *T { return &v }

// fired is a decision that handed something over.
func fired() Decision {
	return Decision{
		Format: Format, SessionID: session, AtMS: 1_786_654_740_123, CWD: "/work/app", Prompt: "look at\n\"src/a.go\" \u2028 \x01",
		WatermarkSessionNo: ptr[int64](7), Spellings: []string{"/work/app/src/a.go", "src/a.go"},
		Candidates: []recall.Candidate{{
			TurnID: 42, Relevance: 1.5, EntityScore: 1, EntityCount: 1,
			MatchedOn: []search.Match{{Kind: "path", Value: "src/a.go"}},
		}},
		Injected: []recall.Injected{{TurnID: 42, Chars: 9}}, CharsInjected: 14, Suppressed: []recall.Suppressed{{TurnID: 3, Reason: recall.AlreadyInjected}},
		Compacted: ptr(true), Dropped: []int64{1, 2}, Thresholds: Thresholds{recall.DefaultLimits, 4000}, Text: ptr("what was\ngiven"),
	}
}

// silent is a decision that handed nothing over.
func silent(reason string) Decision {
	return Decision{
		SessionID: session, AtMS: 1_786_654_741_000, CWD: "/work/app", Prompt: "go on", Compacted: ptr(false),
		Thresholds: Thresholds{recall.DefaultLimits, 4000}, Reason: &reason,
	}
}

func save(t *testing.T, dir string, d Decision) string {
	t.Helper()
	path, err := Save(dir, d)
	if err != nil || path == "" {
		t.Fatalf("%q, %v", path, err)
	}
	return path
}

func TestADecisionComesBackFromItsFile(t *testing.T) {
	dir := t.TempDir()
	want := fired()
	path := save(t, dir, want)
	if got, _, err := read(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	want.Text, want.Reason = nil, ptr("late")
	if err := Replace(path, want); err != nil {
		t.Fatal(err)
	}
	if got, _, err := read(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("replaced: %+v, %v", got, err)
	}
	names, err := waiting(dir)
	if err != nil || len(names) != 1 || !strings.HasPrefix(names[0], session+"-") || atOf(names[0]) != want.AtMS {
		t.Errorf("waiting: %q, %v", names, err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, mode := range map[string]os.FileMode{path: fsx.OwnerFile, filepath.Dir(path): fsx.OwnerDir} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has the mode %v, %v", path, info.Mode(), err)
		}
	}
}

func TestTheFileIsOneLineOfThePublishedShape(t *testing.T) {
	path := save(t, t.TempDir(), silent("the prompt names nothing"))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"at_ms":1786654741000,"candidates":[],"chars_injected":0,"compacted":false,"cwd":"/work/app","dropped":[],"format":1,` +
		`"injected":[],"looked":null,"prompt":"go on","reason":"the prompt names nothing","session_id":"5e0a94cf-7a0b-4c1e-9a71-1f6d1a0e5f11",` +
		`"spellings":[],"suppressed":[],"text":null,"thresholds":{"co_occurring":2,"compacted_ranked":50,"entity_rank":3,` +
		`"max_candidates":8,"max_turns":3,"prompt_chars":4000,"ranked":10},"watermark_session_no":null}` + "\n"
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

func TestDecisionsOfOneMillisecondHaveFilesOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	d := silent("x")
	for range maxSameName {
		save(t, dir, d)
	}
	if path, err := Save(dir, d); err == nil {
		t.Errorf("one more: %s", path)
	}
	if names, err := waiting(dir); err != nil || len(names) != maxSameName {
		t.Errorf("%d files, %v", len(names), err)
	}
}

func TestNothingIsWrittenForAHostileSessionID(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{
		"", ".", "..", "../5e0a94cf", "5e0a94cf/../x", `5e0a94cf\x`, "5e0a94cf\x00", "5e0a94cf.json", "5e0a94cf 1", "short",
		"5e0a94c", strings.Repeat("a", 65), "nothexadecimal",
	} {
		d := silent("x")
		d.SessionID = id
		if path, err := Save(dir, d); path != "" || err != nil {
			t.Errorf("%q: %q, %v", id, path, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("made %v, %v", left, err)
	}
}

func TestNoDataDirectoryIsMade(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	if path, err := Save(none, silent("x")); path != "" || err != nil {
		t.Errorf("%q, %v", path, err)
	}
	if _, err := os.Stat(none); !os.IsNotExist(err) {
		t.Errorf("made: %v", err)
	}
}

// FuzzDecision holds the reader of files to: what it takes is written again as
// it was read.
func FuzzDecision(f *testing.F) {
	for _, d := range []Decision{fired(), silent("x")} {
		d.Format = Format
		data, err := document.Encode(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"format":2}`))
	f.Add([]byte(`{"format":1,"session_id":"../../etc","at_ms":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parse(data)
		if err != nil {
			return
		}
		if !recall.ValidSessionID(d.SessionID) || len(d.stamp()) != len("2006-01-02T15:04:05.000Z") {
			t.Fatalf("took %+v", d)
		}
		again, err := document.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		back, err := parse(again)
		if err != nil {
			t.Fatal(err)
		}
		if third, err := document.Encode(back); err != nil || string(third) != string(again) {
			t.Fatalf("%s\nis read as\n%s, %v", again, third, err)
		}
	})
}
