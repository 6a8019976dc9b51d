package aider

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

func TestASessionIsReadFromItsOwnPartOfTheHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), history)
	var b strings.Builder
	b.WriteString("what stands before\n\n")
	for i := range 1500 {
		fmt.Fprintf(&b, "# aider chat started at 2026-03-01 %02d:%02d:00\n\n#### prompt %d\n\nan answer\n\n", i/60%24, i%60, i)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(b.String())
	var listed []harness.Transcript
	for tr, err := range (Harness{}).Discover(context.Background(), harness.Env{Roots: []string{path}}) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, tr)
	}
	read := func() (all []string) {
		for i, tr := range listed {
			if i%100 != 0 && i > 2 {
				continue
			}
			for r, err := range (Harness{}).Tail(context.Background(), tr) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, string(r.Bytes))
			}
		}
		return all
	}
	want := read()
	if len(listed) != 1501 || len(want) < 3*15 {
		t.Fatalf("%d sessions are listed, and %d records read", len(listed), len(want))
	}
	allocated := testing.AllocsPerRun(1, func() {
		for range (Harness{}).Tail(context.Background(), listed[1400]) {
			continue
		}
	})
	if allocated > 500 {
		t.Errorf("a session of four lines takes %.0f allocations", allocated)
	}
	write("#### and more before\n\n" + b.String())
	if moved := read(); !slices.Equal(moved[len(moved)-20:], want[len(want)-20:]) {
		t.Error("sessions that moved after they were listed are not read")
	}
	for i := range listed {
		listed[i].Stamp = ""
	}
	write(b.String())
	if whole := read(); !slices.Equal(whole, want) {
		t.Error("the parts give other records than the whole history")
	}
}
