//go:build unix

package project

import (
	"syscall"
	"testing"
)

func TestAPipeNamedGitIsNotOpened(t *testing.T) {
	tr := newTree(t)
	tr.dir("r/.git")
	tr.dir("r/sub")
	tr.dir("wt")
	tr.dir("r/.git/worktrees/wt")
	for _, p := range []string{"r/sub/.git", "r/.git/worktrees/wt/commondir"} {
		if err := syscall.Mkfifo(tr.path(p), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tr.file("wt/.git", "gitdir: ../r/.git/worktrees/wt\n")
	tr.expect(tr.path("r/sub"), tr.path("r"), "")
	tr.expect(tr.path("wt"), tr.path("r"), tr.path("wt"))
}
