package testscripts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// linkedPages are the documents whose links are followed: those that a reader meets, and those
// that lie beside what they are about.
func linkedPages(t *testing.T) []string {
	t.Helper()
	all := append(pages(t), "../CONTRIBUTING.md", "../SECURITY.md")
	for _, dir := range []string{"packaging", "nix", ".github"} {
		more, err := filepath.Glob("../" + dir + "/*.md")
		if err != nil {
			t.Fatal(err)
		}
		deeper, err := filepath.Glob("../" + dir + "/*/*.md")
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, more...), deeper...)
	}
	return all
}

var (
	pageLink   = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)`)
	imageLink  = regexp.MustCompile(`(?:src|href|srcset)="([^"]+)"`)
	fence      = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	codeSpan   = regexp.MustCompile("`[^`\n]*`")
	anchorTag  = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	linkedText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// prose is a page without its fenced blocks.
func prose(text string) string {
	var b strings.Builder
	closing := ""
	for line := range strings.Lines(text) {
		m := fence.FindStringSubmatch(line)
		switch {
		case closing == "" && m != nil:
			closing = m[1]
		case closing != "" && m != nil && strings.HasPrefix(m[1], closing):
			closing = ""
		case closing == "":
			b.WriteString(line)
		}
	}
	return b.String()
}

// slug is the anchor that the repository's host gives a heading: lower case, letters, digits,
// hyphens and underscores alone, blanks as hyphens.
func slug(heading string) string {
	heading = linkedText.ReplaceAllString(heading, "$1")
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// anchors are the places in a page that a link may name. A heading that stands twice has a
// number the second time.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	text = prose(text)
	for line := range strings.Lines(text) {
		marks := len(line) - len(strings.TrimLeft(line, "#"))
		if marks < 1 || marks > 6 || !strings.HasPrefix(line[marks:], " ") {
			continue
		}
		name := slug(strings.TrimRight(strings.TrimSpace(line[marks:]), "#"))
		for n := 1; all[name]; n++ {
			if next := fmt.Sprintf("%s-%d", name, n); !all[next] {
				name = next
			}
		}
		all[name] = true
	}
	for _, m := range anchorTag.FindAllStringSubmatch(text, -1) {
		all[m[1]] = true
	}
	return all
}

// links are the targets that a page names, without those of other hosts.
func links(text string) []string {
	text = codeSpan.ReplaceAllString(prose(text), "")
	var all []string
	for _, form := range []*regexp.Regexp{pageLink, imageLink} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(m[1], "://") && !strings.HasPrefix(m[1], "mailto:") {
				all = append(all, m[1])
			}
		}
	}
	return all
}

func TestTheLinksOfThePagesLeadSomewhere(t *testing.T) {
	count := 0
	for _, name := range linkedPages(t) {
		for _, link := range links(page(t, name)) {
			count++
			target, anchor, named := strings.Cut(link, "#")
			path := name
			if target != "" {
				path = filepath.Join(filepath.Dir(name), filepath.FromSlash(target))
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s: %v", name, link, err)
				continue
			}
			if named && !anchors(page(t, path))[anchor] {
				t.Errorf("%s links to %s: there is no such heading", name, link)
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d links were found", count)
	}
}

func TestAnchorsAreThoseOfTheHost(t *testing.T) {
	text := "# One `go.mod`, two!\n## One go.mod two\n## [A link](x.md#y) & more\n```\n# no heading\n```\n" +
		"### what_is - this\n####### seven\n#none\n## Größe\n## Twice\n## Twice\n<a id=\"own\"></a>\n"
	got := anchors(text)
	for _, want := range []string{"one-gomod-two", "one-gomod-two-1", "a-link--more", "what_is---this", "größe", "twice", "twice-1", "own"} {
		if !got[want] {
			t.Errorf("%q is missing in %v", want, got)
		}
	}
	if len(got) != 8 {
		t.Errorf("%d anchors: %v", len(got), got)
	}
}

func TestLinksAreFoundInProseAlone(t *testing.T) {
	text := "[a](x.md) `[b](y.md)` ![c](z.svg) [d](https://example.com) [e](#f)\n```\n[g](h.md)\n```\n<img src=\"i.png\">\n[j](k.md \"title\")\n"
	if got := strings.Join(links(text), " "); got != "x.md z.svg #f k.md i.png" {
		t.Errorf("found %s", got)
	}
}
