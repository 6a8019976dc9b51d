package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestNoExclusionsExcludeNothing(t *testing.T) {
	for _, x := range []*Exclusions{nil, {}, NewExclusions("", []string{"relative", "~/a"})} {
		if x.Everything() || x.Covers("/a") || x.Folder("-a") || x.Hidden("/a", "/b") || x.List() == nil || len(x.List()) != 0 {
			t.Errorf("%+v", x)
		}
	}
}

func TestExclusionCoversWhatLiesBelow(t *testing.T) {
	x := NewExclusions("", []string{abs("/a/b"), abs("/c")})
	for path, want := range map[string]bool{
		"/a/b": true, "/a/b/c": true, "/a/b-c": false, "/a": false, "/c/d": true, "/": false, "": false,
	} {
		if path != "" {
			path = abs(path)
		}
		if got := x.Covers(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

func TestHiddenLooksAtBothProjects(t *testing.T) {
	x := NewExclusions("", []string{abs("/a")})
	for _, tc := range []struct {
		project, preWorktree string
		want                 bool
	}{
		{"", "", false},
		{abs("/a"), "", true},
		{abs("/b"), abs("/a/w"), true},
		{"", abs("/a/w"), true},
		{abs("/b"), abs("/b/w"), false},
	} {
		if got := x.Hidden(tc.project, tc.preWorktree); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

func TestTheRootExcludesEverythingThatHasAProject(t *testing.T) {
	x := NewExclusions("", []string{"/"})
	if !x.Everything() || !x.Covers(abs("/a")) || !x.Covers(`C:\a`) || !x.Folder("-a") || !x.Hidden(abs("/a"), "") {
		t.Error("something is left")
	}
	if x.Hidden("", "") {
		t.Error("a session of no project is hidden")
	}
	if want := []string{separator}; !reflect.DeepEqual(x.List(), want) {
		t.Errorf("list is %q", x.List())
	}
}

// excluded makes directories below an excluded one and returns that one, whose
// folder name is base, and its exclusions.
func excluded(t *testing.T, dirs ...string) (dir, base string, x *Exclusions) {
	t.Helper()
	dir = filepath.Join(shortTempDir(t), "my")
	mkdir(t, dir)
	for _, sub := range dirs {
		mkdir(t, filepath.Join(dir, sub))
	}
	return dir, EncodeFolder(dir), NewExclusions("", []string{dir})
}

// shortTempDir returns a directory whose folder name leaves room below the cut.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestFolderOfTheExcludedDirectoryAndOfOthers(t *testing.T) {
	_, base, x := excluded(t)
	for name, want := range map[string]bool{
		base: true, base + "x": false, base[:len(base)-1]: false, "": false, "-": false, base + "-": false,
	} {
		if got := x.Folder(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	gone := NewExclusions("", []string{abs("/none/my")})
	if !gone.Folder(EncodeFolder(abs("/none/my"))) {
		t.Error("the folder of a directory that is gone is not excluded")
	}
}

func TestFolderThatMayBeASiblingsIsSettledOnDisk(t *testing.T) {
	for _, tc := range []struct {
		name  string
		dirs  []string
		after string // what follows the dash after the excluded name
		want  bool
	}{
		{"nothing below", nil, "project", false},
		{"others below", []string{"src", "projects", "pro"}, "project", false},
		{"the directory itself", []string{"project"}, "project", true},
		{"a directory below", []string{"project/x"}, "project-x", true},
		{"a directory that is gone below one that is there", []string{"project"}, "project-x", true},
		{"another name with the same folder", []string{"pro.ject"}, "pro-ject", true},
		{"a worktree that is gone", []string{".claude/worktrees"}, "-claude-worktrees-f", true},
		{"a name beyond the basic plane, by units", []string{"😀"}, "--", true},
		{"a name beyond the basic plane, by characters", []string{"😀"}, "-", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, base, x := excluded(t, tc.dirs...)
			if got := x.Folder(base + "-" + tc.after); got != tc.want {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestFolderStaysExcludedWhereTheDiskDoesNotTell(t *testing.T) {
	t.Run("excluded directory is gone", func(t *testing.T) {
		dir, base, x := excluded(t)
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if !x.Folder(base + "-project") {
			t.Error("spared")
		}
	})
	t.Run("excluded path is a file", func(t *testing.T) {
		file := filepath.Join(shortTempDir(t), "my")
		writeFile(t, file, "")
		if !NewExclusions("", []string{file}).Folder(EncodeFolder(file) + "-project") {
			t.Error("spared")
		}
	})
	t.Run("a link agrees", func(t *testing.T) {
		dir, base, x := excluded(t)
		if err := os.Symlink(t.TempDir(), filepath.Join(dir, "pro")); err != nil {
			t.Skip(err)
		}
		if !x.Folder(base+"-pro-ject") || !x.Folder(base+"-pro") {
			t.Error("spared")
		}
		if x.Folder(base + "-project") {
			t.Error("a link that does not agree excludes")
		}
	})
	t.Run("excluded path is a link", func(t *testing.T) {
		link := filepath.Join(shortTempDir(t), "my")
		if err := os.Symlink(t.TempDir(), link); err != nil {
			t.Skip(err)
		}
		if !NewExclusions("", []string{link}).Folder(EncodeFolder(link) + "-project") {
			t.Error("spared")
		}
	})
	t.Run("a file of the name does not count", func(t *testing.T) {
		dir, base, x := excluded(t)
		writeFile(t, filepath.Join(dir, "project"), "")
		if x.Folder(base + "-project") {
			t.Error("excluded")
		}
	})
	t.Run("more entries than are read", func(t *testing.T) {
		dir, base, x := excluded(t)
		for i := range maxEntries {
			writeFile(t, filepath.Join(dir, fmt.Sprintf("f%04d", i)), "")
		}
		if x.Folder(base + "-project") {
			t.Error("excluded at the bound")
		}
		writeFile(t, filepath.Join(dir, "one-more"), "")
		if !x.Folder(base + "-project") {
			t.Error("spared above the bound")
		}
	})
}

func TestFolderNamesThatWereCut(t *testing.T) {
	dir, base, x := excluded(t)
	fill := func(path string, length int) string {
		return path + separator + strings.Repeat("d", length-len(path)-1)
	}
	long := fill(abs("/none"), 250)
	exact := fill(abs("/none"), maxFolder)
	xLong, xExact := NewExclusions("", []string{long}), NewExclusions("", []string{exact})
	for _, tc := range []struct {
		what string
		x    *Exclusions
		name string
		want bool
	}{
		{"a long directory", xLong, EncodeFolder(long), true},
		{"a long directory, by a client that did not cut", xLong, dashes(long, true), true},
		{"below a long directory", xLong, EncodeFolder(long + separator + "x"), true},
		{"another directory with the same beginning", xLong, EncodeFolder(long + "x"), true},
		{"another long directory", xLong, EncodeFolder(abs("/other") + long), false},
		{"above a long directory", xLong, EncodeFolder(long[:199]), false},
		{"a directory that just fits", xExact, EncodeFolder(exact), true},
		{"below a directory that just fits", xExact, EncodeFolder(exact + separator + "x"), true},
		{"a sibling of one that just fits", xExact, EncodeFolder(exact[:199] + "ex"), false},
		{"a long name below a directory that is there and empty", x, EncodeFolder(fill(dir, 250)), false},
		{"a long name of a sibling", x, EncodeFolder(fill(dir+"x", 250)), false},
	} {
		if got := tc.x.Folder(tc.name); got != tc.want {
			t.Errorf("%s: %v", tc.what, got)
		}
	}
	deep := fill(dir, 240)
	mkdir(t, deep)
	for _, path := range []string{deep, filepath.Join(deep, "x"), deep + "x"} {
		if !x.Folder(EncodeFolder(path)) {
			t.Errorf("%s is spared", path)
		}
	}
	if x.Folder(base + "-other") {
		t.Error("a long directory below excludes a sibling")
	}
}

func FuzzFolderOfAnExcludedDirectoryIsExcluded(f *testing.F) {
	for _, seed := range [][2]string{
		{"/a/b", "c"}, {"/a", "😀/x"}, {"/" + strings.Repeat("a", 199), "b"}, {"/" + strings.Repeat("é/", 150), "c"}, {"/", "x"}, {"/a\xff", "\xfe"},
	} {
		f.Add(seed[0], seed[1], "-a-b-c")
	}
	// Nothing below it exists, so the disk can tell nothing.
	root := filepath.Join(f.TempDir(), "none")
	f.Fuzz(func(t *testing.T, excluded, below, name string) {
		dir := filepath.Join(root, filepath.FromSlash(excluded))
		x := NewExclusions("", []string{dir})
		x.Folder(name)
		path := filepath.Join(dir, filepath.FromSlash(below))
		if !x.Covers(path) {
			return
		}
		for _, name := range []string{EncodeFolder(path), dashes(path, true), dashes(path, false)} {
			if !x.Folder(name) {
				t.Errorf("%q excluded, %q is not", dir, path)
			}
		}
	})
}
