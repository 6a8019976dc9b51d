package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A tree is a temporary directory, by its canonical path.
type tree struct {
	*testing.T
	root string
}

func newTree(t *testing.T) tree {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return tree{t, root}
}

func (t tree) path(elem string) string { return filepath.Join(t.root, filepath.FromSlash(elem)) }

func (t tree) dir(elem string) string {
	t.Helper()
	if err := os.MkdirAll(t.path(elem), 0o700); err != nil {
		t.Fatal(err)
	}
	return t.path(elem)
}

func (t tree) file(elem, content string) {
	t.Helper()
	t.dir(filepath.ToSlash(filepath.Dir(filepath.FromSlash(elem))))
	if err := os.WriteFile(t.path(elem), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (t tree) link(target, elem string) string {
	t.Helper()
	if err := os.Symlink(t.path(target), t.path(elem)); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("links need a privilege here: %v", err)
		}
		t.Fatal(err)
	}
	return t.path(elem)
}

func (t tree) expect(cwd, project, pre string) {
	t.Helper()
	var r Resolver
	if p, w := r.Resolve(cwd); p != project || w != pre {
		t.Errorf("Resolve(%q):\n  got  %q, %q\n  want %q, %q", cwd, p, w, project, pre)
	}
}

func TestWithoutARepositoryADirectoryIsItsOwnProject(t *testing.T) {
	tr := newTree(t)
	plain := tr.dir("plain")
	tr.file("file", "x")
	tr.expect("", "", "")
	tr.expect(plain, plain, "")
	tr.expect(tr.path("gone/sub"), tr.path("gone/sub"), "")
	tr.expect(tr.path("file"), tr.path("file"), "")
	sep := string(filepath.Separator)
	tr.expect(plain+sep+"."+sep+sep+"x"+sep+".."+sep, plain, "")
	tr.expect(tr.path("a.b"), tr.path("a.b"), "")
	tr.expect(tr.path("a-b"), tr.path("a-b"), "")
}

func TestPathsOfOtherSystemsSurvive(t *testing.T) {
	tests := map[string]string{
		`relative/./path/`: `relative/./path/`,
		`/h/../h/u/`:       `/h/u`,
		`/..`:              `/`,
		"/nul\x00/x":       "/nul\x00/x",
		"/bad\xff":         "/bad\xff",
	}
	if runtime.GOOS != "windows" {
		for _, p := range []string{`C:\Users\u\repo`, `C:\Users\u\..\repo\`, `c:/Users/u/`, `\\host\share\repo`, `C:`, `\`} {
			tests[p] = p
		}
	}
	for cwd, want := range tests {
		var r Resolver
		got, pre := r.Resolve(cwd)
		if filepath.ToSlash(got) != filepath.ToSlash(want) || pre != "" {
			t.Errorf("Resolve(%q) = %q, %q, want %q", cwd, got, pre, want)
		}
	}
}

func TestThePathRuleFoldsWorktreesThatAreGone(t *testing.T) {
	tests := []struct {
		cwd, repo string
		folded    bool
	}{
		{"/no/r/.claude/worktrees/x", "/no/r", true},
		{"/no/r/.claude/worktrees/x/sub/dir", "/no/r", true},
		{"/no/r/.claude/worktrees/a/.claude/worktrees/b", "/no/r/.claude/worktrees/a", true},
		{"/no/r/.claude/worktrees/a/.claude/other", "/no/r", true},
		{"/.claude/worktrees/x", "/", true},
		{"/no/r/.claude/worktrees", "/no/r/.claude/worktrees", false},
		{"/no/r/.claude/worktrees/", "/no/r/.claude/worktrees", false},
		{"/no/r/.claude/worktreesx/y", "/no/r/.claude/worktreesx/y", false},
		{"/no/r/x.claude/worktrees/y", "/no/r/x.claude/worktrees/y", false},
		{"/no/r/.claude", "/no/r/.claude", false},
		{`C:\r\.claude\worktrees\x\sub`, `C:\r`, true},
		{`C:\.claude\worktrees\x`, `C:\`, true},
		{`C:/r/.claude/worktrees/x`, `C:/r`, true},
		{`/no/r\.claude\worktrees\x`, `/no/r\.claude\worktrees\x`, false},
	}
	for _, tt := range tests {
		if repo, folded := aboveWorktree(normalizeUnix(tt.cwd)); repo != tt.repo || folded != tt.folded {
			t.Errorf("aboveWorktree(%q) = %q, %v, want %q, %v", tt.cwd, repo, folded, tt.repo, tt.folded)
		}
	}
	tr := newTree(t)
	cwd := tr.path("r/.claude/worktrees/x/sub")
	tr.expect(cwd, tr.path("r"), cwd)
	tr.dir("r/.git")
	tr.dir("r/pkg")
	tr.expect(cwd, tr.path("r"), cwd)
	cwd = tr.path("r/pkg/.claude/worktrees/x")
	tr.expect(cwd, tr.path("r"), cwd)
}

// normalizeUnix normalises as Unix does, on every system.
func normalizeUnix(p string) string {
	if p[0] != '/' {
		return p
	}
	return filepath.ToSlash(normalize(p))
}

func TestTheNearestRepositoryIsTheProject(t *testing.T) {
	tr := newTree(t)
	tr.dir("home/.git")
	tr.dir("home/r/.git")
	tr.dir("home/r/a/b")
	tr.dir("home/other/x")
	tr.expect(tr.path("home/r"), tr.path("home/r"), "")
	tr.expect(tr.path("home/r/a/b"), tr.path("home/r"), "")
	tr.expect(tr.path("home/other/x"), tr.path("home"), "")
	// What is gone may have been a repository of its own.
	tr.expect(tr.path("home/r/gone"), tr.path("home/r/gone"), "")
}

func TestALinkedWorktreeFoldsOntoItsMainRepository(t *testing.T) {
	tr := newTree(t)
	tr.dir("r/.git")
	tr.dir("wt/sub")

	tr.file("r/.git/worktrees/wt/commondir", "../..\n")
	for name, content := range map[string]string{
		"absolute":    "gitdir: " + filepath.ToSlash(tr.path("r/.git/worktrees/wt")) + "\n",
		"relative":    "gitdir: ../r/.git/worktrees/wt\r\n",
		"no line end": "gitdir:../r/.git/worktrees/wt",
	} {
		t.Run(name, func(t *testing.T) {
			tr := tree{t, tr.root}
			tr.file("wt/.git", content)
			tr.expect(tr.path("wt"), tr.path("r"), tr.path("wt"))
			tr.expect(tr.path("wt/sub"), tr.path("r"), tr.path("wt/sub"))
		})
	}
	t.Run("absolute commondir", func(t *testing.T) {
		tr := tree{t, tr.root}
		tr.file("r/.git/worktrees/wt/commondir", filepath.ToSlash(tr.path("r/.git")))
		tr.expect(tr.path("wt"), tr.path("r"), tr.path("wt"))
	})
	t.Run("missing commondir", func(t *testing.T) {
		tr := tree{t, tr.root}
		if err := os.RemoveAll(tr.path("r/.git/worktrees")); err != nil {
			t.Fatal(err)
		}
		tr.expect(tr.path("wt"), tr.path("r"), tr.path("wt"))
	})
	t.Run("bare repository", func(t *testing.T) {
		tr := tree{t, tr.root}
		tr.file("bare.git/worktrees/wt/commondir", "../..\n")
		tr.file("wt/.git", "gitdir: ../bare.git/worktrees/wt\n")
		tr.expect(tr.path("wt"), tr.path("bare.git"), tr.path("wt"))
	})
	t.Run("worktree inside its repository", func(t *testing.T) {
		tr := tree{t, tr.root}
		tr.file("r/.git/worktrees/in/commondir", "../..\n")
		tr.file("r/trees/in/.git", "gitdir: "+filepath.ToSlash(tr.path("r/.git/worktrees/in"))+"\n")
		tr.expect(tr.path("r/trees/in"), tr.path("r"), tr.path("r/trees/in"))
	})
}

func TestAGitFileThatLeadsNowhereLeavesItsDirectory(t *testing.T) {
	tr := newTree(t)
	tr.dir("r/.git/modules/sub")
	tr.dir("elsewhere")
	tr.file("r/.git/worktrees/nul/commondir", "..\x00/..")
	tr.file("r/.git/worktrees/gone/commondir", "../../../gone/.git\n")
	tr.file("r/.git/odd/self/commondir", ".\n")
	tr.file("r/.git/odd/huge/commondir", strings.Repeat("../", maxPointerFile))
	contents := map[string]string{
		"empty":                  "",
		"binary":                 "\x7fELF\x00\x01\xff",
		"prefix alone":           "gitdir: \n",
		"other prefix":           "worktree: ../r/.git",
		"nul":                    "gitdir: ../r/.git/worktrees/nul\x00\n",
		"two lines":              "gitdir: ../r/.git/worktrees/x\nmore\n",
		"invalid UTF-8":          "gitdir: ../\xff\n",
		"huge":                   "gitdir: " + strings.Repeat("x", maxPointerFile) + "\n",
		"submodule":              "gitdir: ../r/.git/modules/sub\n",
		"itself":                 "gitdir: .git\n",
		"its directory":          "gitdir: .\n",
		"missing":                "gitdir: ../nowhere/.git/worktrees/x\n",
		"data kept elsewhere":    "gitdir: ../elsewhere\n",
		"commondir with nul":     "gitdir: ../r/.git/odd/nul\n",
		"commondir to nowhere":   "gitdir: ../r/.git/worktrees/gone\n",
		"commondir to itself":    "gitdir: ../r/.git/odd/self\n",
		"commondir far too long": "gitdir: ../r/.git/odd/huge\n",
	}
	for name, content := range contents {
		t.Run(name, func(t *testing.T) {
			tr := tree{t, tr.root}
			tr.dir("wt/sub")
			tr.file("wt/.git", content)
			tr.expect(tr.path("wt"), tr.path("wt"), "")
			tr.expect(tr.path("wt/sub"), tr.path("wt"), "")
		})
	}
	t.Run("loop of links", func(t *testing.T) {
		tr := newTree(t)
		tr.dir("wt")
		tr.link("wt/.git", "wt/.git")
		tr.expect(tr.path("wt"), tr.path("wt"), "")
	})
}

func TestALinkIsSpelledAsRecordedAndItsRepositoryIsFound(t *testing.T) {
	tr := newTree(t)
	tr.dir("home/.git")
	tr.dir("real/.git")
	tr.dir("real/sub/deep")
	tr.dir("plain")
	toRepo := tr.link("real", "link")
	toSub := tr.link("real/sub", "home/link")
	toPlain := tr.link("plain", "plainlink")
	tr.expect(toRepo, toRepo, "")
	tr.expect(filepath.Join(toRepo, "sub"), toRepo, "")
	tr.expect(filepath.Join(toSub, "deep"), tr.path("real"), "")
	tr.expect(toPlain, toPlain, "")
	tr.expect(tr.link("nowhere", "lost"), tr.path("lost"), "")
}

func TestAnAnswerIsRememberedAndSharedBetweenGoroutines(t *testing.T) {
	tr := newTree(t)
	dir := tr.dir("r/sub")
	gone := tr.path("later/sub")
	var r Resolver
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r.Resolve(dir)
			r.Resolve(gone)
		})
	}
	wg.Wait()
	tr.dir("r/.git")
	tr.dir("later/.git")
	tr.dir("later/sub")
	for _, cwd := range []string{dir, gone} {
		if got, _ := r.Resolve(cwd); got != cwd {
			t.Errorf("Resolve(%q) = %q: it looked twice", cwd, got)
		}
	}
}

func TestRepositoriesThatGitMade(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not here")
	}
	tr := newTree(t)
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = []string{
			"HOME=" + tr.root, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	r := tr.dir("r")
	run(r, "init", "-q")
	run(r, "commit", "-q", "--allow-empty", "-m", "first")
	run(r, "worktree", "add", "-q", tr.path("r-wt2"))
	run(r, "worktree", "add", "-q", tr.path("r/.claude/worktrees/x"))
	run(tr.root, "clone", "-q", "--bare", r, tr.path("bare.git"))
	run(tr.path("bare.git"), "worktree", "add", "-q", "-b", "side", tr.path("bare-wt"))
	run(tr.root, "init", "-q", "--separate-git-dir", tr.path("data"), tr.path("apart"))
	run(r, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r, "sub")

	tr.dir("r-wt2/deep")
	tr.expect(r, r, "")
	tr.expect(tr.path("r-wt2"), r, tr.path("r-wt2"))
	tr.expect(tr.path("r-wt2/deep"), r, tr.path("r-wt2/deep"))
	tr.expect(tr.path("r/.claude/worktrees/x"), r, tr.path("r/.claude/worktrees/x"))
	tr.expect(tr.path("bare-wt"), tr.path("bare.git"), tr.path("bare-wt"))
	tr.expect(tr.path("bare.git"), tr.path("bare.git"), "")
	tr.expect(tr.path("apart"), tr.path("apart"), "")
	tr.expect(tr.path("r/sub"), tr.path("r/sub"), "")

	if err := os.RemoveAll(tr.path("r/.claude")); err != nil {
		t.Fatal(err)
	}
	tr.expect(tr.path("r/.claude/worktrees/x"), r, tr.path("r/.claude/worktrees/x"))
}

// Whatever a `.git` file holds, what is read from it is one non-empty line of
// UTF-8 that stands in it; and a directory with such a file always resolves to
// an existing absolute directory.
func FuzzGitFile(f *testing.F) {
	for _, s := range []string{
		"gitdir: ../r/.git/worktrees/wt\n", "gitdir: /abs/path", "gitdir:", "gitdir: .git\r\n", "gitdir: \x00", "gitdir: //host/share/x", "\xff\xfe",
	} {
		f.Add([]byte(s), []byte("../..\n"))
	}
	f.Fuzz(func(t *testing.T, content, common []byte) {
		got, ok := parseGitFile(content)
		if ok != (got != "") || strings.ContainsAny(got, "\x00\r\n") || !strings.Contains(string(content), got) {
			t.Fatalf("parseGitFile(%q) = %q, %v", content, got, ok)
		}
		tr := tree{t, t.TempDir()}
		tr.file("r/.git/worktrees/wt/commondir", string(common))
		tr.file("wt/.git", string(content))
		var r Resolver
		project, _ := r.Resolve(tr.path("wt"))
		if !filepath.IsAbs(project) || !isDir(project) {
			t.Fatalf("content %q, commondir %q: project %q", content, common, project)
		}
	})
}

func TestPlacesAreEveryNameThatASessionGoesBy(t *testing.T) {
	tr := newTree(t)
	repo := tr.dir("repo/.git")
	repo = filepath.Dir(repo)
	sub := tr.dir("repo/sub")
	plain := tr.dir("plain")
	worktree := filepath.Join(repo, ".claude", "worktrees", "x")
	link := tr.link("repo/sub", "link")
	for dir, want := range map[string][]string{
		"":              nil,
		plain:           {plain},
		plain + "/":     {plain},
		sub:             {sub, repo},
		link:            {link, sub, repo},
		worktree:        {worktree, repo},
		tr.path("gone"): {tr.path("gone")},
	} {
		if got := Places(dir); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
	}
}
