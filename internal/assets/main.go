// Assets writes what a package holds beside the binary: manual pages for every command and
// completions for four shells, made of the command tree, and the changelog, compressed. It is a program of the
// developers, so that the shipped one does not carry the generator.
//
// The same tree and date give the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/cli"
)

func main() {
	out := flag.String("out", "build/assets", "write to this directory")
	date := flag.String("date", "", "the date on the manual pages, RFC 3339: that of the commit")
	changelog := flag.String("changelog", "CHANGELOG.md", "the changelog")
	flag.Parse()
	err := write(*out, *date)
	if err == nil {
		err = packFile(filepath.Join(*out, "changelog.gz"), *changelog)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
}

func write(out, date string) error {
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return fmt.Errorf("-date: %w", err)
	}
	completions := filepath.Join(out, "completions")
	if err := os.MkdirAll(completions, 0o755); err != nil {
		return err
	}
	root := cli.Commands()
	for name, gen := range map[string]func(string) error{
		"terminus.bash": func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"_terminus":     root.GenZshCompletionFile,
		"terminus.fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
		"terminus.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := gen(filepath.Join(completions, name)); err != nil {
			return err
		}
	}
	if err := pack(filepath.Join(out, "changelog.debian.gz"), debianChangelog(cli.Version(), at.UTC())); err != nil {
		return err
	}
	return pages(root, out, at.UTC())
}

// maintainer is who goreleaser.yaml says makes the packages.
const maintainer = "The Terminus authors <terminus-archive@users.noreply.github.com>"

// debianChangelog is the changelog in the one form that Debian's tools read. It names the
// version and the page beside it: people write one changelog, and not in that form.
func debianChangelog(version string, at time.Time) []byte {
	// A tilde comes before the end of a version, as a hyphen does in those of releases.
	return fmt.Appendf(nil, "terminus (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- %s  %s\n",
		strings.Replace(version, "-", "~", 1), maintainer, at.Format(time.RFC1123Z))
}
