package registry_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/registry"
)

var update = flag.Bool("update", false, "write the table of docs/harnesses/README.md anew")

const (
	pages      = "../../../docs/harnesses"
	tableStart = "<!-- what the tests hold every harness to, written by go test ./internal/harness/registry -update -->\n"
)

// The code, the made-up home and the page of every harness belong together: each is held to the
// shared properties by a test of its package, and its page says where its knowledge is from.
func TestEveryHarnessHasItsHomeItsPageAndItsTests(t *testing.T) {
	for _, h := range registry.All() {
		t.Run(h.ID(), func(t *testing.T) {
			dir := packageOf(h)
			if tests := source(t, dir, "_test.go"); !strings.Contains(tests, "harnesstest.Run(") || !strings.Contains(tests, "func Fuzz") {
				t.Errorf("%s is not held to the shared properties, or has no fuzz target", dir)
			}
			for _, name := range []string{"home", "want.txt"} {
				if _, err := os.Stat(filepath.Join(dir, "testdata", h.ID(), name)); err != nil {
					t.Error(err)
				}
			}
			page, err := os.ReadFile(filepath.Join(pages, h.ID()+".md"))
			if err != nil {
				t.Fatal(err)
			}
			origin := "Written from documents"
			if h.Seen() != "" {
				origin = h.Seen()
			}
			if !strings.Contains(string(page), origin) || !strings.Contains(string(page), h.Name()) {
				t.Errorf("the page does not name %q and say %q", h.Name(), origin)
			}
		})
	}
}

func TestTheTableOfHarnessesIsThatOfTheirTests(t *testing.T) {
	file := filepath.Join(pages, "README.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, old, ok := bytes.Cut(text, []byte(tableStart))
	if !ok {
		t.Fatalf("%s has no place for the table", file)
	}
	table := tableOf(t)
	t.Log("\n" + table)
	if *update {
		if err := os.WriteFile(file, []byte(string(head)+tableStart+table), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(old) != table {
		t.Errorf("%s shows another table; -update writes it anew", file)
	}
}

func tableOf(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| id | agent | known from | made-up sessions | turns | of them typed | tools called | results | subagents | forks | compactions |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, h := range registry.All() {
		want, err := os.ReadFile(filepath.Join(packageOf(h), "testdata", h.ID(), "want.txt"))
		if err != nil {
			t.Fatal(err)
		}
		from := "documents"
		if h.Seen() != "" {
			from = "real stores: " + h.Seen()
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s |", h.ID(), h.ID(), h.Name(), from)
		for _, n := range counts(string(want)) {
			fmt.Fprintf(&b, " %d |", n)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// counts are what a want.txt shows.
func counts(want string) (n [8]int) {
	for line := range strings.Lines(want) {
		field := strings.TrimSpace(line)
		if !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "      ") {
			if strings.HasPrefix(line, "session ") {
				n[0]++
			}
			continue
		}
		switch {
		case strings.HasPrefix(field, "parent: "):
			n[5]++
			continue
		case strings.HasPrefix(field, "continues: "):
			n[6]++
			continue
		}
		words, _, _ := strings.Cut(strings.TrimPrefix(line, "  "), ": ")
		set := map[string]bool{}
		for _, w := range strings.Fields(words) {
			w, _, _ = strings.Cut(w, "=")
			set[w] = true
		}
		if !set["user"] && !set["assistant"] && !set["system"] && !set["attachment"] {
			continue
		}
		n[1]++
		for i, w := range map[int]string{2: "typed", 3: "tool", 4: "result", 7: "boundary"} {
			if set[w] {
				n[i]++
			}
		}
	}
	return n
}

// packageOf is the directory of a harness's package, seen from this one.
func packageOf(h harness.Harness) string {
	return filepath.Join("..", path.Base(reflect.TypeOf(h).PkgPath()))
}

func source(t *testing.T, dir, suffix string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all.Write(data)
		}
	}
	return all.String()
}
