//go:build unix

package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
)

func TestWhatIsNoFileIsNamedAndNotOpened(t *testing.T) {
	root := tree(t, "real.jsonl", "a/x.jsonl")
	link := func(to, from string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Fatal(err)
		}
	}
	link("real.jsonl", "linked.jsonl")
	link("nowhere", "dangling.jsonl")
	link("a", "around")
	link(root, "a/loop")
	if err := syscall.Mkfifo(filepath.Join(root, "pipe.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, problems := walk(t, files.Walk{Match: files.Suffix(".jsonl"), Depth: 9}, root)
	if got != "a/x.jsonl linked.jsonl real.jsonl" {
		t.Errorf("found %q", got)
	}
	var p *harness.Problem
	if len(problems) != 1 || !errors.As(problems[0], &p) || filepath.Base(p.Path) != "pipe.jsonl" || !errors.Is(p, fsx.ErrNotRegular) {
		t.Errorf("problems %v", problems)
	}
	if _, problems := walk(t, files.Walk{Match: files.Suffix(".jsonl")}, filepath.Join(root, "real.jsonl")); len(problems) != 1 {
		t.Errorf("a root that is a file: %v", problems)
	}
	f, err := files.At(filepath.Join(root, "linked.jsonl"))
	if err != nil || f.Path != filepath.Join(root, "real.jsonl") {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := files.At(filepath.Join(root, "dangling.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
