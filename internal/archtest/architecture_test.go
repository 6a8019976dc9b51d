// Package archtest holds the repository to its design: which package may import
// which, who may touch the world outside, and how long files and functions get.
// It reads the source of every system, whatever the build tags.
package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/terminus-archive/terminus"
	driver = "modernc.org/sqlite"

	// Longer ones are no longer read in one go.
	maxFileLines     = 500
	maxFunctionLines = 80
)

// order lists the packages below internal/. A package may import those before
// it, never one after it. Everything below `harness/` but what is named is one
// agent's, or one family's, and agents do not know each other.
var order = []string{
	"clock", "config", "fsx", "document", "detach", "store", "archive", "transcript", "harness", "harness/turn", "harness/files", "harness/rows", "harness/markdown", "harness/tasks", "harness/joined", "harness/*", "harness/registry",
	"project", "capture", "derive", "index", "redact", "search", "export", "recall", "feedback", "observe", "retention",
	"ingest", "relocate", "restore", "wire", "wire/jsonedit", "wire/*", "doctor", "corpus", "corpus/gen", "bench", "hook", "mcp", "tui", "web", "cli", "assets", "demo",
}

// surfaces read the clock, and hand the time down as a value. The last two are
// commands of the developers.
var surfaces = []string{"clock", "cli", "hook", "mcp", "tui", "web", "corpus/gen", "bench"}

// localTimes are read by these packages in the machine's zone, as nothing in what they read tells
// another. What is named or archived by such a time would change with the machine's.
var localTimes = []string{"harness/aider"}

// What reads the environment, the home directory, the clock or its zone, by package.
var (
	environment = map[string][]string{
		"os":      {"Getenv", "LookupEnv", "Environ", "ExpandEnv", "UserHomeDir", "UserConfigDir", "UserCacheDir"},
		"os/user": {"Current", "Lookup", "LookupId"},
		"syscall": {"Getenv", "Environ"},
	}
	clock = map[string][]string{"time": {"Now", "Since", "Until"}}
	zone  = map[string][]string{"time": {"Local"}}
)

// A source is one file that is part of a program, not of a test.
type source struct {
	path string // slash-separated, below the repository
	dir  string // its package below internal/, or the path of another directory
	file *ast.File
	fset *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var all []source
	for _, top := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return nil
			}
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			s := source{path: filepath.ToSlash(rel), fset: token.NewFileSet()}
			s.dir = strings.TrimPrefix(path.Dir(s.path), "internal/")
			s.file, err = parser.ParseFile(s.fset, p, nil, parser.ParseComments)
			all = append(all, s)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) == 0 {
		t.Fatal("no source found")
	}
	return all
}

func (s source) line(p token.Pos) int { return s.fset.Position(p).Line }

// imports returns the import paths of the file by the name under which it uses them.
func (s source) imports() map[string]string {
	byName := map[string]string{}
	for _, im := range s.file.Imports {
		p, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if im.Name != nil {
			name = im.Name.Name
		}
		if name == "_" || name == "." {
			name = p
		}
		byName[name] = p
	}
	return byName
}

// rank is the place of a package in the order, or -1.
func rank(pkg string) int {
	if i := slices.Index(order, pkg); i >= 0 {
		return i
	}
	parent, _, nested := strings.Cut(pkg, "/")
	if !nested {
		return -1
	}
	return slices.Index(order, parent+"/*")
}

// forTests reports whether a package helps tests: its name ends in "test". It may
// import anything, and only tests import it.
func forTests(pkg string) bool { return strings.HasSuffix(pkg, "test") }

func TestPackagesImportOnlyWhatStandsBeforeThem(t *testing.T) {
	for _, s := range sources(t) {
		for _, p := range s.imports() {
			used, own := strings.CutPrefix(p, module+"/internal/")
			switch {
			case !own || forTests(s.dir):
			case forTests(used):
				t.Errorf("%s imports %s, which is for tests", s.path, used)
			case strings.HasPrefix(s.path, "cmd/terminus/"):
				if used != "cli" {
					t.Errorf("%s imports %s; the command knows nothing but cli", s.path, used)
				}
			case rank(s.dir) < 0:
				t.Errorf("%s: package %s has no place in the order", s.path, s.dir)
			case rank(used) < 0:
				t.Errorf("%s imports %s, which has no place in the order", s.path, used)
			case used != s.dir && rank(used) >= rank(s.dir):
				t.Errorf("%s: %s may not import %s, which stands after it", s.path, s.dir, used)
			}
		}
	}
}

func TestOnlyStoreImportsTheDriver(t *testing.T) {
	for _, s := range sources(t) {
		for _, p := range s.imports() {
			if (p == driver || strings.HasPrefix(p, driver+"/")) && s.dir != "store" {
				t.Errorf("%s imports %s", s.path, p)
			}
		}
	}
}

// uses returns where the file names something of world, as `os.Getenv (line 7)`.
func (s source) uses(world map[string][]string) []string {
	imports := s.imports()
	var found []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(world[imports[x.Name]], sel.Sel.Name) {
			found = append(found, x.Name+"."+sel.Sel.Name+" (line "+strconv.Itoa(s.line(sel.Pos()))+")")
		}
		return true
	})
	return found
}

func TestOnlyConfigReadsTheEnvironment(t *testing.T) {
	for _, s := range sources(t) {
		if s.dir == "config" || s.dir == "clock" {
			continue
		}
		for _, use := range s.uses(environment) {
			t.Errorf("%s uses %s", s.path, use)
		}
	}
}

func TestOnlySurfacesReadTheClock(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains(surfaces, s.dir) || forTests(s.dir) {
			continue
		}
		for _, use := range s.uses(clock) {
			t.Errorf("%s uses %s", s.path, use)
		}
	}
}

func TestOnlySurfacesReadTheZone(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains(surfaces, s.dir) || slices.Contains(localTimes, s.dir) || forTests(s.dir) {
			continue
		}
		for _, use := range s.uses(zone) {
			t.Errorf("%s uses %s", s.path, use)
		}
	}
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	for _, s := range sources(t) {
		if ast.IsGenerated(s.file) {
			continue
		}
		if n := s.line(s.file.FileEnd); n > maxFileLines {
			t.Errorf("%s has %d lines, at most %d", s.path, n, maxFileLines)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if n := s.line(f.End()) - s.line(f.Pos()) + 1; n > maxFunctionLines {
				t.Errorf("%s:%d: %s has %d lines, at most %d", s.path, s.line(f.Pos()), f.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

func TestPackagesSayWhatTheyOwn(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		documented[s.dir] = documented[s.dir] || s.file.Doc != nil
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no doc comment", dir)
		}
	}
}
