package testscripts

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// pages are the documents that a reader of the repository meets, as paths from here.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"../README.md", "../CHANGELOG.md"}
	err := filepath.WalkDir("../docs", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func page(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every block of a page in the language `console` is a session in a shell: lines
// that begin with "$ " are run, what follows is what they print. The blocks of a
// page are run one after another, in a home of their own that holds the sample
// transcripts. What varies from run to run is not compared.
func TestThePagesShowWhatTheCommandsPrint(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		t.Skip("the pages show a Unix shell")
	}
	for _, name := range pages(t) {
		blocks := consoleBlock.FindAllStringSubmatch(page(t, name), -1)
		if blocks == nil {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			s := newShell(t)
			for _, block := range blocks {
				for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
					command, want, _ := strings.Cut(step, "\n")
					got, want := s.normal(s.run(command)), s.normal(want)
					if strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
						t.Errorf("$ %s\nprints\n%s\nthe page says\n%s", command, got, want)
					}
				}
			}
		})
	}
}

var (
	consoleBlock = regexp.MustCompile("(?s)\n```console\n(.*?\n)```\n")
	elsewhere    = regexp.MustCompile(`measured elsewhere: [^)]*`)
)

// pageHome is what the pages call the home directory, and pageData the data
// directory in it.
const (
	pageHome = "/home/sam"
	pageData = pageHome + "/.local/share/terminus"
)

type shell struct {
	t    *testing.T
	home string
}

func newShell(t *testing.T) *shell {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(home, ".claude"), os.DirFS("../testdata/demo")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { passesEnd(home) })
	return &shell{t, home}
}

// run runs one line and returns what it prints to stdout and stderr.
func (s *shell) run(line string) string {
	s.t.Helper()
	sh := exec.Command("sh", "-c", line)
	sh.Dir = s.home
	sh.Env = []string{"HOME=" + s.home, "TZ=UTC", "PATH=" + binDir + string(os.PathListSeparator) + os.Getenv("PATH")}
	out, err := sh.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("$ %s: %v", line, err)
	}
	return string(out)
}

func (s *shell) normal(text string) string {
	text = strings.ReplaceAll(text, dataDir(s.home), pageData)
	text = strings.ReplaceAll(text, s.home, pageHome)
	for _, rule := range normRules {
		text = rule.re.ReplaceAllString(text, rule.with)
	}
	return elsewhere.ReplaceAllString(text, "measured elsewhere")
}
