package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
)

// newRoot makes a configuration directory with files below its projects.
func newRoot(t testing.TB, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, ".claude")
	for _, f := range files {
		write(t, at(root, f))
	}
	return root
}

func at(root, path string) string {
	return filepath.Join(root, projectsName, filepath.FromSlash(path))
}

func write(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(filepath.Base(path)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("links need a privilege here: %v", err)
		}
		t.Fatal(err)
	}
}

// found runs a discovery and returns what it yields.
func found(t testing.TB, env harness.Env) (list []harness.Transcript, problems []string) {
	t.Helper()
	for tr, err := range (Harness{}).Discover(context.Background(), env) {
		if err == nil {
			list = append(list, tr)
			continue
		}
		var p *harness.Problem
		if !errors.As(err, &p) {
			t.Fatalf("%v is no *harness.Problem", err)
		}
		problems = append(problems, p.Path)
	}
	return list, problems
}

// lines renders transcripts as `key`, then `key + companion` for each companion.
func lines(list []harness.Transcript) []string {
	var out []string
	for _, tr := range list {
		out = append(out, tr.Key)
		for _, c := range tr.Companions {
			out = append(out, tr.Key+" + "+c.Name)
		}
	}
	return out
}

func expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n  got  %s\n  want %s", what, strings.Join(got, "\n       "), strings.Join(want, "\n       "))
	}
}

func TestDiscoveryTakesTranscriptsByNameAndDepth(t *testing.T) {
	root := newRoot(t,
		"-p/"+sidA+".jsonl",
		"-p/"+sidA+"/subagents/agent-a1.jsonl",
		"-p/"+sidA+"/subagents/workflows/wf_1/agent-w1.jsonl",
		"-p/"+sidA+"/one/two/three/four/agent-d6.jsonl",
		"-p/.hidden/agent-dot.jsonl",
		"-p/agent-top.jsonl",
		"-p/notes.jsonl",
		"-p/journal.jsonl",
		"-p/sessions-index.json",
		"-p/deep/"+sidC+".jsonl",
		"agent-root.jsonl",
		sidC+".jsonl",
	)
	list, problems := found(t, harness.Env{Roots: []string{root}})
	expect(t, "problems", problems, nil)
	var keys []string
	for _, tr := range list {
		keys = append(keys, tr.Key)
		if tr.Path != tr.Source || tr.Kind != harness.Lines || tr.Stat.Size == 0 || tr.Stat.Mtime == 0 {
			t.Errorf("%+v: path, kind or stat is wrong", tr)
		}
	}
	expect(t, "keys", keys, []string{
		at(root, "-p/.hidden/agent-dot.jsonl"),
		at(root, "-p/"+sidA+"/one/two/three/four/agent-d6.jsonl"),
		sidA + "/subagents/agent-a1.jsonl",
		sidA + "/subagents/workflows/wf_1/agent-w1.jsonl",
		sidA + ".jsonl",
		at(root, "-p/agent-top.jsonl"),
	})
}

func TestDiscoveryOrdersEachRootByPathElements(t *testing.T) {
	first := newRoot(t, "b/"+sidA+".jsonl", "b/"+sidA+"/subagents/agent-1.jsonl", "a-b/"+sidB+".jsonl", "a/"+sidC+".jsonl")
	second := newRoot(t, "a/"+sidB+".jsonl")
	list, _ := found(t, harness.Env{Roots: []string{second, first}})
	var paths []string
	for _, tr := range list {
		paths = append(paths, tr.Path)
	}
	expect(t, "paths", paths, []string{
		at(second, "a/"+sidB+".jsonl"),
		at(first, "a/"+sidC+".jsonl"),
		at(first, "a-b/"+sidB+".jsonl"),
		at(first, "b/"+sidA+"/subagents/agent-1.jsonl"),
		at(first, "b/"+sidA+".jsonl"),
	})
}

func TestCompanionsGoWithTheSessionTheyStandBeside(t *testing.T) {
	root := newRoot(t,
		"-p/"+sidA+".jsonl",
		"-p/"+sidA+"/custom-title.json",
		"-p/"+sidA+"/tool-results/x.txt",
		"-p/"+sidA+"/tool-results/deep/y.png",
		"-p/"+sidA+"/subagents/agent-a1.jsonl",
		"-p/"+sidA+"/subagents/agent-a1.meta.json",
		"-p/"+sidA+"/subagents/agent-a1.b.meta.json",
		"-p/"+sidA+"/subagents/agent-a1.b.jsonl",
		"-p/"+sidA+"/subagents/agent-gone.meta.json",
		"-p/"+sidA+"/subagents/workflows/wf_1.json",
		"-p/agent-top.jsonl",
		"-p/agent-top.meta.json",
		"-p/memory/MEMORY.md",
		"-p/sessions-index.json",
	)
	link(t, at(root, "-p/sessions-index.json"), at(root, "-p/"+sidA+"/tool-results/linked.txt"))
	list, problems := found(t, harness.Env{Roots: []string{root}})
	expect(t, "problems", problems, nil)
	expect(t, "transcripts and companions", lines(list), []string{
		sidA + "/subagents/agent-a1.b.jsonl",
		sidA + "/subagents/agent-a1.b.jsonl + agent-a1.b.meta.json",
		sidA + "/subagents/agent-a1.jsonl",
		sidA + "/subagents/agent-a1.jsonl + agent-a1.meta.json",
		sidA + ".jsonl",
		sidA + ".jsonl + custom-title.json",
		sidA + ".jsonl + subagents/agent-gone.meta.json",
		sidA + ".jsonl + subagents/workflows/wf_1.json",
		sidA + ".jsonl + tool-results/deep/y.png",
		sidA + ".jsonl + tool-results/x.txt",
		at(root, "-p/agent-top.jsonl"),
		at(root, "-p/agent-top.jsonl") + " + agent-top.meta.json",
	})
	for _, tr := range list {
		for _, c := range tr.Companions {
			if info, err := os.Stat(c.Path); err != nil || info.Size() != c.Stat.Size {
				t.Errorf("%s: %v, size %d", c.Path, err, c.Stat.Size)
			}
		}
	}
}

func TestCompanionsOfAMissingSessionGoWithTheFirstTranscriptBelow(t *testing.T) {
	root := newRoot(t,
		"-p/"+sidA+"/subagents/agent-a1.jsonl",
		"-p/"+sidA+"/subagents/agent-a1.meta.json",
		"-p/"+sidA+"/subagents/agent-a2.jsonl",
		"-p/"+sidA+"/tool-results/x.txt",
		"-p/"+sidB+"/tool-results/y.txt",
	)
	list, _ := found(t, harness.Env{Roots: []string{root}})
	expect(t, "transcripts and companions", lines(list), []string{
		sidA + "/subagents/agent-a1.jsonl",
		sidA + "/subagents/agent-a1.jsonl + agent-a1.meta.json",
		sidA + "/subagents/agent-a1.jsonl + " + sidA + "/tool-results/x.txt",
		sidA + "/subagents/agent-a2.jsonl",
	})
}

func TestAMissingRootIsEmptyAndAnUnusableOneIsAProblem(t *testing.T) {
	good := newRoot(t, "-p/"+sidA+".jsonl")
	dir := filepath.Dir(good)
	noProjects := filepath.Join(dir, "empty")
	if err := os.Mkdir(noProjects, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	write(t, file)
	lost := filepath.Join(dir, "lost")
	link(t, filepath.Join(dir, "nowhere"), filepath.Join(lost, projectsName))
	loop := filepath.Join(dir, "loop")
	link(t, loop, loop)

	list, problems := found(t, harness.Env{Roots: []string{filepath.Join(dir, "none"), noProjects, file, lost, loop, good}})
	expect(t, "keys", lines(list), []string{sidA + ".jsonl"})
	expect(t, "problems", problems, []string{
		filepath.Join(file, projectsName), filepath.Join(lost, projectsName), filepath.Join(loop, projectsName),
	})
}

func TestAnUnreadableFolderIsAProblemAndTheRestIsListed(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("directory modes do not bind here")
	}
	root := newRoot(t, "-a/"+sidA+".jsonl", "-b/"+sidB+".jsonl", "-c/"+sidC+"/subagents/agent-1.jsonl", "-c/"+sidC+".jsonl")
	for _, closed := range []string{"-a", "-c/" + sidC + "/subagents"} {
		if err := os.Chmod(at(root, closed), 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(at(root, closed), 0o700) })
	}
	list, problems := found(t, harness.Env{Roots: []string{root}})
	expect(t, "keys", lines(list), []string{sidB + ".jsonl", sidC + ".jsonl"})
	expect(t, "problems", problems, []string{at(root, "-a"), at(root, "-c/"+sidC+"/subagents")})
}

func TestAnExcludedFolderIsNotListed(t *testing.T) {
	root := newRoot(t, "-keep/"+sidA+".jsonl", "-secret/"+sidB+".jsonl", "-path/"+sidC+".jsonl")
	link(t, at(root, "nowhere"), at(root, "-secret-link"))
	list, problems := found(t, harness.Env{
		Roots:          []string{root},
		FolderExcluded: func(name string) bool { return strings.HasPrefix(name, "-secret") },
		PathExcluded:   func(path string) bool { return path == at(root, "-path") },
	})
	expect(t, "keys", lines(list), []string{sidA + ".jsonl"})
	expect(t, "problems", problems, nil)
}

func TestALinkedProjectFolderIsEnteredOnceAndKeepsItsKeys(t *testing.T) {
	root := newRoot(t, "-p/"+sidC+".jsonl")
	away := filepath.Join(filepath.Dir(root), "elsewhere", "p")
	write(t, filepath.Join(away, sidA+".jsonl"))
	write(t, filepath.Join(away, sidA, "subagents", "agent-1.jsonl"))
	write(t, filepath.Join(away, sidA, "subagents", "deep", "agent-2.jsonl"))
	link(t, away, at(root, "-a"))
	link(t, away, at(root, "-b"))
	link(t, at(root, "-p"), at(root, "-again"))
	link(t, at(root, "-p/"+sidA), at(root, "-p/sub")) // a link below a project folder is not followed

	list, problems := found(t, harness.Env{Roots: []string{root}})
	expect(t, "problems", problems, nil)
	var got []string
	for _, tr := range list {
		got = append(got, tr.Key+" < "+tr.Parent+" @ "+tr.Path)
	}
	deep := filepath.Join(away, sidA, "subagents", "deep", "agent-2.jsonl")
	expect(t, "transcripts", got, []string{
		sidA + "/subagents/agent-1.jsonl < " + sidA + ".jsonl @ " + filepath.Join(away, sidA, "subagents", "agent-1.jsonl"),
		deep + " < " + sidA + ".jsonl @ " + deep,
		sidA + ".jsonl <  @ " + filepath.Join(away, sidA+".jsonl"),
		sidC + ".jsonl <  @ " + at(root, "-p/"+sidC+".jsonl"),
	})
}

func TestALinkedProjectFolderIsHeldToBothItsNames(t *testing.T) {
	root := newRoot(t)
	dir := filepath.Dir(root)
	for _, name := range []string{"-secret", "plain"} {
		write(t, filepath.Join(dir, "elsewhere", name, sidA+".jsonl"))
	}
	link(t, filepath.Join(dir, "elsewhere", "-secret"), at(root, "-open"))
	link(t, filepath.Join(dir, "elsewhere", "plain"), at(root, "-secret-name"))
	list, problems := found(t, harness.Env{
		Roots:          []string{root},
		FolderExcluded: func(name string) bool { return strings.HasPrefix(name, "-secret") },
	})
	expect(t, "keys", lines(list), nil)
	expect(t, "problems", problems, nil)
}

func TestLinkLoopsAndLinksAboveTheRootEnd(t *testing.T) {
	root := newRoot(t, "-p/"+sidA+".jsonl", "-p/"+sidA+"/tool-results/x.txt")
	link(t, at(root, "-loop-b"), at(root, "-loop-a"))
	link(t, at(root, "-loop-a"), at(root, "-loop-b"))
	link(t, at(root, "missing"), at(root, "-broken"))
	link(t, filepath.Dir(root), at(root, "-above"))
	link(t, string(filepath.Separator), at(root, "-everything"))
	link(t, at(root, "."), at(root, "-self"))
	link(t, at(root, "-p"), at(root, "-p/cycle"))
	list, problems := found(t, harness.Env{Roots: []string{root}})
	expect(t, "transcripts", lines(list), []string{sidA + ".jsonl", sidA + ".jsonl + tool-results/x.txt"})
	expect(t, "problems", problems, []string{
		at(root, "-above"), at(root, "-broken"), at(root, "-everything"), at(root, "-loop-a"), at(root, "-loop-b"),
	})
}

func TestALinkedTranscriptIsItsTarget(t *testing.T) {
	root := newRoot(t, "-b/"+sidA+".jsonl", "-b/"+sidA+"/custom-title.json")
	dir := filepath.Dir(root)
	outside := filepath.Join(dir, "outside", "log.txt")
	write(t, outside)
	secret := filepath.Join(dir, "secret", "log.txt")
	write(t, secret)
	hidden := filepath.Join(dir, "x", "-hidden", "y", "log.txt")
	write(t, hidden)
	link(t, at(root, "-b/"+sidA+".jsonl"), at(root, "-a/"+sidC+".jsonl"))
	write(t, at(root, "-a/"+sidC+"/tool-results/x.txt"))
	link(t, outside, at(root, "-a/"+sidB+".jsonl"))
	link(t, secret, at(root, "-a/agent-secret.jsonl"))
	link(t, hidden, at(root, "-a/agent-hidden.jsonl"))
	link(t, at(root, "nowhere"), at(root, "-a/agent-lost.jsonl"))
	link(t, filepath.Dir(outside), at(root, "-a/agent-dir.jsonl"))

	list, problems := found(t, harness.Env{
		Roots:          []string{root},
		FolderExcluded: func(name string) bool { return name == "-hidden" },
		PathExcluded:   func(path string) bool { return path == secret },
	})
	expect(t, "transcripts", lines(list), []string{
		outside,
		sidA + ".jsonl",
		sidA + ".jsonl + custom-title.json",
		sidA + ".jsonl + tool-results/x.txt",
	})
	expect(t, "problems", problems, []string{at(root, "-a/agent-lost.jsonl")})
}

func TestARootReachedThroughLinksKeepsItsKeysAndIsListedOnce(t *testing.T) {
	root := newRoot(t, "-p/"+sidA+".jsonl", "-p/"+sidA+"/subagents/agent-1.jsonl")
	dir := filepath.Dir(root)
	want := []string{sidA + "/subagents/agent-1.jsonl", sidA + ".jsonl"}

	alias := filepath.Join(dir, "alias")
	link(t, root, alias)
	list, _ := found(t, harness.Env{Roots: []string{alias, root, root}})
	expect(t, "keys", lines(list), want)
	if list[0].Path != at(root, "-p/"+sidA+"/subagents/agent-1.jsonl") {
		t.Errorf("path %q is not canonical", list[0].Path)
	}

	store := filepath.Join(dir, "store")
	if err := os.Rename(filepath.Join(root, projectsName), store); err != nil {
		t.Fatal(err)
	}
	link(t, store, filepath.Join(root, projectsName))
	list, _ = found(t, harness.Env{Roots: []string{root}})
	expect(t, "keys of a renamed projects", lines(list), want)
	if got := filepath.Dir(list[1].Path); got != filepath.Join(store, "-p") || list[0].Parent != want[1] {
		t.Errorf("folder %q, parent %q", got, list[0].Parent)
	}
}

func TestDiscoveryStopsWhenToldTo(t *testing.T) {
	root := newRoot(t, "-a/"+sidA+".jsonl", "-a/"+sidB+".jsonl", "-b/"+sidC+".jsonl")
	n := 0
	for range (Harness{}).Discover(context.Background(), harness.Env{Roots: []string{root}}) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d transcripts after a break", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var last error
	for tr, err := range (Harness{}).Discover(ctx, harness.Env{Roots: []string{root}}) {
		if err == nil {
			t.Errorf("%s was listed after the end", tr.Key)
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the last error is %v", last)
	}
}

func TestForFileDescribesOneTranscriptAsDiscoveryDoes(t *testing.T) {
	root := newRoot(t,
		"-p/"+sidA+".jsonl",
		"-p/"+sidA+"/tool-results/x.txt",
		"-p/"+sidA+"/subagents/agent-a1.jsonl",
		"-p/"+sidA+"/subagents/agent-a1.meta.json",
		"-p/"+sidA+"/subagents/agent-a2.jsonl",
		"-p/agent-top.jsonl",
	)
	alias := filepath.Join(filepath.Dir(root), "alias")
	link(t, root, alias)
	away := filepath.Join(filepath.Dir(root), "away")
	write(t, filepath.Join(away, sidC+".jsonl"))
	link(t, away, at(root, "-q"))

	list, _ := found(t, harness.Env{Roots: []string{root}})
	if len(list) != 5 {
		t.Fatalf("%d transcripts, want 5", len(list))
	}
	for _, want := range list {
		path := want.Path
		if rest, ok := strings.CutPrefix(path, away); ok {
			path = at(root, "-q") + rest
		}
		for _, path := range []string{path, strings.Replace(path, root, alias, 1)} {
			got, err := ForFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("ForFile(%q):\n  got  %+v\n  want %+v", path, got, want)
			}
		}
	}
}

func TestForFileKeepsToTheFileItIsGiven(t *testing.T) {
	root := newRoot(t, "-p/"+sidA+".jsonl")
	copied := filepath.Join(filepath.Dir(root), "backup.txt")
	write(t, copied)
	linked := at(root, "-p/"+sidB+".jsonl")
	link(t, copied, linked)
	for _, path := range []string{copied, linked} {
		if got, err := ForFile(path); err != nil || got.Key != copied || got.Path != copied {
			t.Errorf("ForFile(%q) = %+v, %v", path, got, err)
		}
	}
	lost := at(root, "-p/"+sidC+".jsonl")
	if _, err := ForFile(lost); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), lost) {
		t.Errorf("a missing file: %v", err)
	}
	for _, path := range []string{at(root, "-p"), filepath.Join("projects", "p", sidA+".jsonl")} {
		if got, err := ForFile(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("ForFile(%q) = %+v, %v", path, got, err)
		}
	}
}

func TestTailSaysThatTheCallerReadsTheFile(t *testing.T) {
	n := 0
	for rec, err := range (Harness{}).Tail(context.Background(), harness.Transcript{Path: "/x/y.jsonl"}) {
		n++
		if err == nil || len(rec.Bytes) != 0 || !strings.Contains(err.Error(), "/x/y.jsonl") {
			t.Errorf("Tail yields %v, %v", rec, err)
		}
	}
	if n != 1 {
		t.Errorf("Tail yields %d times", n)
	}
}

// BenchmarkDiscover lists 5,000 transcripts of a warm tree: 3,000 sessions, of
// which 500 have four subagents and three stored tool results each.
func BenchmarkDiscover(b *testing.B) {
	b.Run("sessions", func(b *testing.B) { benchmarkDiscover(b, 5000, 0) })
	b.Run("subagents", func(b *testing.B) { benchmarkDiscover(b, 3000, 500) })
}

func benchmarkDiscover(b *testing.B, sessions, parents int) {
	const folders, agents, results = 50, 4, 3
	var files []string
	for i := range sessions {
		id := fmt.Sprintf("%08x-0000-4000-8000-%012x", i*2654435761%(1<<32), i)
		dir := fmt.Sprintf("-home-user-work-project-%d/%s", i%folders, id)
		files = append(files, dir+".jsonl")
		if i >= parents {
			continue
		}
		for j := range agents {
			files = append(files, fmt.Sprintf("%s/subagents/agent-%d.jsonl", dir, j), fmt.Sprintf("%s/subagents/agent-%d.meta.json", dir, j))
		}
		for j := range results {
			files = append(files, fmt.Sprintf("%s/tool-results/%d.txt", dir, j))
		}
	}
	env := harness.Env{Roots: []string{newRoot(b, files...)}}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for tr, err := range (Harness{}).Discover(context.Background(), env) {
			if err != nil || tr.Stat.Size == 0 {
				b.Fatalf("%s: %v", tr.Path, err)
			}
			n++
		}
		if want := sessions + parents*agents; n != want {
			b.Fatalf("%d transcripts, want %d", n, want)
		}
	}
}
