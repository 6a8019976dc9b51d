package files_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/files"
)

func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(name), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func walk(t *testing.T, w files.Walk, root string) (found string, problems []error) {
	t.Helper()
	var all []string
	w.Each(context.Background(), root, func(f files.File, err error) bool {
		if err != nil {
			problems = append(problems, err)
			return true
		}
		all = append(all, f.Rel)
		if f.Stat.Size == 0 || !filepath.IsAbs(f.Path) {
			t.Errorf("%+v", f)
		}
		return true
	})
	return strings.Join(all, " "), problems
}

func TestAWalkFindsWhatMatches(t *testing.T) {
	root := tree(t, "b.jsonl", "a/x.jsonl", "a/deep/y.jsonl", "a/note.txt", "skip/z.jsonl", "a.jsonl")
	match := files.Suffix(".jsonl")
	tests := []struct {
		name string
		walk files.Walk
		want string
	}{
		{"the root alone", files.Walk{Match: match}, "a.jsonl b.jsonl"},
		{"one below", files.Walk{Match: match, Depth: 1}, "a/x.jsonl a.jsonl b.jsonl skip/z.jsonl"},
		{"all", files.Walk{Match: match, Depth: 9}, "a/deep/y.jsonl a/x.jsonl a.jsonl b.jsonl skip/z.jsonl"},
		{"some directories", files.Walk{Match: match, Depth: 9, Enter: func(rel string) bool { return rel != "skip" }}, "a/deep/y.jsonl a/x.jsonl a.jsonl b.jsonl"},
	}
	for _, tt := range tests {
		if got, problems := walk(t, tt.walk, root); got != tt.want || problems != nil {
			t.Errorf("%s: %q %v, want %q", tt.name, got, problems, tt.want)
		}
	}
	if got, problems := walk(t, files.Walk{Match: match}, filepath.Join(root, "none")); got != "" || problems != nil {
		t.Errorf("a missing root: %q %v", got, problems)
	}
	n := 0
	if ended := (files.Walk{Match: match, Depth: 9}).Each(context.Background(), root, func(files.File, error) bool { n++; return false }); ended || n != 1 {
		t.Errorf("it goes on after false: %d", n)
	}
}

func TestAWalkEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var got error
	(files.Walk{Match: files.Suffix("")}).Each(ctx, tree(t, "a"), func(_ files.File, err error) bool { got = err; return true })
	if !errors.Is(got, context.Canceled) {
		t.Errorf("error %v", got)
	}
}

func TestADocumentBeyondItsBoundIsRefused(t *testing.T) {
	root := tree(t, "a")
	if data, err := files.Read(filepath.Join(root, "a"), 1); err != nil || string(data) != "a" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := files.Read(filepath.Join(root, "a"), 0); err == nil {
		t.Error("it is read")
	}
}

func TestPartsOfAPlace(t *testing.T) {
	if got := files.Base("a/b.jsonl", ".jsonl") + " " + files.Base("b", ".x") + " " + files.Dir("a/b/c") + " " + files.Dir("c"); got != "b b a/b " {
		t.Errorf("%q", got)
	}
}

// BenchmarkWalk is what a store of a thousand files costs in each pass in which nothing is new.
func BenchmarkWalk(b *testing.B) {
	root := filepath.Join(b.TempDir(), "2026", "06", "30")
	if err := os.MkdirAll(root, 0o700); err != nil {
		b.Fatal(err)
	}
	for n := range 1000 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprint(n, ".jsonl")), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	w := files.Walk{Match: files.Suffix(".jsonl")}
	for b.Loop() {
		w.Each(context.Background(), root, func(files.File, error) bool { return true })
	}
}
