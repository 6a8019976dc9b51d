package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/cli"
)

const commitTime = "2026-08-12T21:59:00+02:00"

func made(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := write(dir, commitTime); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, folder := range []string{"man", "completions"} {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(dir, folder, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all[e.Name()] = string(text)
		}
	}
	return all
}

func TestEveryCommandHasAPageThatShowsItsUse(t *testing.T) {
	all := made(t)
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "completion" || cmd.Name() == "help" {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		page, ok := all[name]
		if !ok {
			t.Errorf("%s is missing", name)
		}
		plain := strings.NewReplacer(`\-`, "-", `\&`, "").Replace(page)
		if !strings.Contains(plain, cmd.UseLine()) {
			t.Errorf("%s does not show %q", name, cmd.UseLine())
		}
		if strings.Contains(page, "=false") || strings.Count(page, ".SH EXIT STATUS") != 1 {
			t.Errorf("%s is not finished", name)
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(cli.Commands())
}

func TestThereAreCompletionsForFourShells(t *testing.T) {
	all := made(t)
	for name, text := range map[string]string{
		"terminus.bash": "complete -o default -F __start_terminus terminus", "_terminus": "#compdef terminus",
		"terminus.fish": "complete -c terminus", "terminus.ps1": "Register-ArgumentCompleter -CommandName 'terminus'",
	} {
		if !strings.Contains(all[name], text) {
			t.Errorf("%s does not hold %q", name, text)
		}
	}
}

func TestDebianIsToldTheVersionInItsOwnForm(t *testing.T) {
	at := time.Date(2026, 8, 2, 19, 59, 0, 0, time.UTC)
	want := "terminus (1.2.0~rc.1-2) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- " + maintainer + "  Sun, 02 Aug 2026 19:59:00 +0000\n"
	if got := string(debianChangelog("1.2.0-rc.1-2", at)); got != want {
		t.Errorf("it is told\n%s\nwant\n%s", got, want)
	}
	config, err := os.ReadFile("../../goreleaser.yaml")
	if err != nil || !strings.Contains(string(config), "maintainer: "+maintainer+"\n") {
		t.Errorf("goreleaser.yaml names another maintainer: %v", err)
	}
}

func TestTheSameTreeGivesTheSameBytes(t *testing.T) {
	a, b := made(t), made(t)
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s differs", name)
		}
	}
	if len(a) != len(b) || len(a) == 0 {
		t.Errorf("%d and %d files", len(a), len(b))
	}
}
