package joined_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/harness/joined"
	"github.com/terminus-archive/terminus/internal/harness/opencode"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/harness/tasks"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func kilo(t testing.TB) joined.Harness {
	t.Helper()
	h, _ := registry.ByID("kilocode")
	j, ok := h.(joined.Harness)
	if !ok {
		t.Fatalf("kilocode is a %T", h)
	}
	return j
}

func TestKiloHasThePropertiesOfAHarness(t *testing.T) {
	harnesstest.Run(t, kilo(t), harnesstest.Options{Absent: []string{"unsaid"}})
}

func FuzzTurns(f *testing.F) {
	for _, seed := range []string{
		`{"id":"p","row":{"table":"part","role":"user","data":{"type":"text","text":"a"}}}`,
		`{"id":"session","row":{"table":"session","id":"s","parent_id":"q","directory":"/d","title":"t"}}`,
		`{"id":"~0123456789abcdef","row":{"role":"user","content":[{"type":"text","text":"<task>\na\n</task>"}]}}`,
		`{"id":"item/document","row":{"id":"1772359200000","task":"a","workspace":"/d"}}`,
	} {
		f.Add([]byte(seed + "\n"))
	}
	h := kilo(f)
	f.Fuzz(func(t *testing.T, record []byte) {
		harnesstest.Check(t, h, record, transcript.State{Key: "kilocode:1772359200000"})
	})
}

func TestEitherStoreStandsWithoutTheOther(t *testing.T) {
	for gone, want := range map[string]string{".config": "kilocode:ses_", ".local/share/kilo": "kilocode:17"} {
		home := harnesstest.Open(t, kilo(t), harnesstest.Options{})
		all := len(home.Found())
		if err := os.RemoveAll(filepath.Join(home.Dir, filepath.FromSlash(gone))); err != nil {
			t.Fatal(err)
		}
		found := home.Found()
		if len(found) == 0 || len(found) == all {
			t.Errorf("without %s %d of %d sessions are found", gone, len(found), all)
		}
		for _, tr := range found {
			if !strings.HasPrefix(tr.Key, want) {
				t.Errorf("without %s %s is found", gone, tr.Key)
			}
		}
	}
}

func TestARootMayBeADatabaseAndAProblemIsToldOnce(t *testing.T) {
	h := kilo(t)
	home := harnesstest.Open(t, h, harnesstest.Options{})
	discover := func(root string) (found, problems int) {
		for _, err := range h.Discover(context.Background(), harness.Env{Roots: []string{root}}) {
			if err != nil {
				problems++
				continue
			}
			found++
		}
		return found, problems
	}
	if found, problems := discover(filepath.Join(home.Dir, ".local", "share", "kilo", "kilo.db")); found != 2 || problems != 0 {
		t.Errorf("a root that is a database: %d sessions, %d problems", found, problems)
	}
	loop := filepath.Join(home.Dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip(err)
	}
	if found, problems := discover(loop); found != 0 || problems != 1 {
		t.Errorf("a root that cannot be read: %d sessions, %d problems, want 1", found, problems)
	}
}

func TestOnlySessionsOfTheProgramAreGoneOnWith(t *testing.T) {
	h := kilo(t)
	if got := h.Resume("ses_k1"); !slices.Equal(got, []string{"kilo", "-s", "ses_k1"}) {
		t.Errorf("%q", got)
	}
	if got := h.Resume("1772359200000"); got != nil {
		t.Errorf("a task of the extension is gone on with by %q", got)
	}
}

func TestToolsOfBothStoresChangeFiles(t *testing.T) {
	h := kilo(t)
	for tool, want := range map[string]bool{"apply_patch": true, "write_to_file": true, "read_file": false, "grep": false} {
		if h.Modifies(tool) != want {
			t.Errorf("Modifies(%q) = %t", tool, !want)
		}
	}
}

// Each store's records are read by the harness that made them, whatever the session's other
// records are: an id is all that tells them apart.
func TestNoRecordOfOneStoreIsTakenForTheOthers(t *testing.T) {
	home := harnesstest.Open(t, kilo(t), harnesstest.Options{})
	both := []harness.Harness{opencode.Kilo(), tasks.Kilo()}
	for _, tr := range home.Found() {
		task := tasks.Kilo().Holds(tr)
		if task != strings.HasSuffix(tr.Path, ".json") {
			t.Errorf("%s is held by the wrong store", tr.Source)
		}
		h := both[0]
		if task {
			h = both[1]
		}
		for rec, err := range h.Tail(context.Background(), tr) {
			if err != nil {
				t.Fatal(err)
			}
			if tasks.Kilo().Made(rec.Bytes) != task {
				t.Errorf("%s: the record %s is taken for the other store's", tr.Key, rec.ID)
			}
		}
	}
}
