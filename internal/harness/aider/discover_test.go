package aider

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
)

func TestDirectoriesAreSearchedTwoLevelsDeep(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"", "a", "a/b", "a/b/c", ".hidden", "node_modules", "secret"} {
		dir = filepath.Join(root, dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, history), []byte("# aider chat started at 2026-03-01 10:00:00\n\n#### x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := harness.Env{
		Roots:        []string{root, filepath.Join(root, "no such directory")},
		PathExcluded: func(path string) bool { return filepath.Base(path) == "secret" },
	}
	n := 0
	for tr, err := range (Harness{}).Discover(context.Background(), env) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if dir := filepath.Base(filepath.Dir(tr.Path)); dir == "c" || dir == ".hidden" || dir == "node_modules" || dir == "secret" {
			t.Errorf("%s is listed", tr.Path)
		}
	}
	if n != 3 {
		t.Errorf("%d sessions are listed, want 3", n)
	}
}

func TestASessionKeepsItsKeyWhenTheFileLosesItsBeginning(t *testing.T) {
	first := "# aider chat started at 2026-03-01 10:00:00\n\n#### x\n\n"
	second := "# aider chat started at 2026-03-02 10:00:00\n\n#### y\n"
	before := sessions("/p", []byte(first+second))
	after := sessions("/p", []byte("rest of it\n\n"+second))
	if len(before) != 2 || len(after) != 2 || before[1].id != after[1].id || after[0].id == before[0].id {
		t.Errorf("sessions were %+v and are %+v", before, after)
	}
}
