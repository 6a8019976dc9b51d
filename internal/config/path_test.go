package config

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestNormalizeIsLexical(t *testing.T) {
	home := abs("/home/u")
	for _, tc := range []struct{ in, want string }{
		{"~", home},
		{"~/", home},
		{"~/a//b/", filepath.Join(home, "a", "b")},
		{"~/..", abs("/home")},
		{"~other/a", ""},
		{"", ""},
		{".", ""},
		{"a/b", ""},
		{"./a", ""},
		{abs("/a/./b/../c/"), abs("/a/c")},
		{abs("/../.."), abs("/")},
		{abs("/a//b"), abs("/a/b")},
		{"/", separator},
		{abs("/新聞/a b"), abs("/新聞/a b")},
	} {
		got, ok := Normalize(home, tc.in)
		if ok != (tc.want != "") || got != tc.want {
			t.Errorf("%q: %q, %v; want %q", tc.in, got, ok, tc.want)
		}
	}
	if got, ok := Normalize("", "~/a"); ok {
		t.Errorf("without home: %q", got)
	}
	if got, ok := Normalize("rel", "~/a"); ok {
		t.Errorf("with a relative home: %q", got)
	}
}

func TestCoversComparesComponents(t *testing.T) {
	for _, tc := range []struct {
		ancestor, path string
		depth          int // -1 where it does not cover
	}{
		{"/a/b", "/a/b", 2},
		{"/a/b", "/a/b/c", 2},
		{"/a/b", "/a/b-c", -1},
		{"/a/b-c", "/a/b", -1},
		{"/a/b/c", "/a/b", -1},
		{"/", "/", 0},
		{"/", "/a", 0},
		{"/a", "/", -1},
		{"/a/", "/a//b", 1},
		{"/a/b", "/a/c/../b/d", 2},
		{"/a", "/a/../b", -1},
		{"", "/a", -1},
		{"/a", "", -1},
		{"/", "a", -1},
		{"a", "/a", -1},
		{"a", "a/b", 1},
	} {
		depth, ok := covers(filepath.FromSlash(tc.ancestor), filepath.FromSlash(tc.path), false)
		if ok != (tc.depth >= 0) || ok && depth != tc.depth {
			t.Errorf("%q over %q: %d, %v; want %d", tc.ancestor, tc.path, depth, ok, tc.depth)
		}
	}
}

func TestCoversFoldsCaseWhereFileSystemsDo(t *testing.T) {
	if _, ok := covers("/A/Ä", "/a/ä/c", true); !ok {
		t.Error("not folded")
	}
	if _, ok := covers("/A", "/a", false); ok {
		t.Error("folded")
	}
	if _, ok := Covers("/A", "/a"); ok != foldCase {
		t.Errorf("folded: %v", ok)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{"", "~", "~/a", "/", "/a/../..", "//a", "a", "~u", "/a\x00b", `C:\a`, `\\h\s`} {
		f.Add(seed)
	}
	home := abs("/home/u")
	f.Fuzz(func(t *testing.T, path string) {
		got, ok := Normalize(home, path)
		if !ok {
			if got != "" {
				t.Fatalf("refused with %q", got)
			}
			return
		}
		if again, ok := Normalize(home, got); !ok || again != got {
			t.Fatalf("%q becomes %q", got, again)
		}
		depth, ok := Covers(got, got)
		if !ok || depth > strings.Count(got, separator) {
			t.Fatalf("%q covers itself: %d, %v", got, depth, ok)
		}
	})
}
