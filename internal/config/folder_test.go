package config

import (
	"strings"
	"testing"
)

func TestEncodeFolderAsTheClientDoes(t *testing.T) {
	long := "/" + strings.Repeat("a", 250)
	emoji := "/" + strings.Repeat("新😀", 100)
	for _, tc := range []struct{ path, want string }{
		{"", ""},
		{"/", "-"},
		{"/Home/u/my_project.v2", "-Home-u-my-project-v2"},
		{"/w/ü+@ x", "-w-----x"},
		{"/w/😀", "-w---"},
		{`C:\Users\u`, "C--Users-u"},
		{"/r/.claude/worktrees/f", "-r--claude-worktrees-f"},
		{"/" + strings.Repeat("a", 199), "-" + strings.Repeat("a", 199)},
		{long, "-" + strings.Repeat("a", 199) + "-feo44x"},
		{emoji, strings.Repeat("-", 200) + "-idxmoh"},
	} {
		if got := EncodeFolder(tc.path); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.path, got, tc.want)
		}
	}
}

func TestFolderHashOfTheLeastNumber(t *testing.T) {
	if got := folderHash("polygenelubricants"); got != "zik0zk" {
		t.Errorf("%q", got)
	}
}

// Different directories share a folder: its name says nothing about the project.
func TestEncodeFolderIsLossy(t *testing.T) {
	for _, pair := range [][2]string{
		{"/h/u/my-project", "/h/u/my/project"},
		{"/Users/u/work/新聞", "/Users/u/work/暫存"},
		{"/a.b", "/a/b"},
	} {
		if a, b := EncodeFolder(pair[0]), EncodeFolder(pair[1]); a != b {
			t.Errorf("%q and %q differ: %q, %q", pair[0], pair[1], a, b)
		}
	}
	long := "/" + strings.Repeat("d", 200)
	if a, b := EncodeFolder(long+"/x"), EncodeFolder(long+"/y"); a == b || a[:maxFolder] != b[:maxFolder] {
		t.Errorf("long paths: %q, %q", a, b)
	}
}
