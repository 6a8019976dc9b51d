package harnesstest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// golden compares everything that is read of the made-up home with want.txt.
func (home *Home) golden(o Options) {
	t := home.t
	t.Helper()
	var b strings.Builder
	for _, tr := range home.Found() {
		home.render(&b, tr)
	}
	got := strings.ReplaceAll(b.String(), filepath.ToSlash(home.Dir), "{HOME}")
	if o.Mask != nil {
		got = o.Mask(got)
	}
	file := filepath.Join("testdata", home.h.ID(), "want.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("what is read is not what %s says (-update writes it anew); got:\n%s", file, got)
	}
}

func (home *Home) render(b *strings.Builder, tr harness.Transcript) {
	s, turns := turnsOf(home.h, tr, home.Records(tr))
	fmt.Fprintf(b, "session %s\n", tr.Key)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, "  %s: %s\n", name, value)
		}
	}
	rel := filepath.ToSlash(tr.Source)
	line("source", rel)
	line("id", s.SessionID)
	line("directory", s.CWD)
	line("branch", s.Branch)
	parent := tr.Parent
	if parent == "" {
		parent = s.ParentKey
	}
	line("parent", parent)
	line("continues", s.ContinuesFrom)
	line("title", s.Title)
	if s.Damaged > 0 {
		line("damaged", fmt.Sprint(s.Damaged))
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Strange)) {
		line("strange", fmt.Sprintf("%s (%d)", kind, s.Strange[kind]))
	}
	for _, c := range tr.Companions {
		line("companion", c.Name)
	}
	for _, record := range turns {
		for i := range record {
			renderTurn(b, &record[i])
		}
	}
	b.WriteString("\n")
}

// shown is how much of a turn's text stands in want.txt, in bytes.
const shown = 100

func renderTurn(b *strings.Builder, t *transcript.Turn) {
	var words []string
	add := func(on bool, word string) {
		if on {
			words = append(words, word)
		}
	}
	add(true, t.Type)
	add(t.ToolName != "", "tool="+t.ToolName)
	add(t.Nature == transcript.Typed, "typed")
	add(t.ToolResult, "result")
	add(t.Boundary, "boundary")
	add(t.Unindexed, "hidden")
	add(t.NativeID != "", "takes="+t.NativeID)
	var texts []string
	for _, p := range t.Pieces {
		texts = append(texts, string(p.Text))
	}
	text := strings.Join(strings.Fields(strings.Join(texts, " / ")), " ")
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "..."
	}
	fmt.Fprintf(b, "  %s %s: %s\n", t.TS, strings.Join(words, " "), text)
	var names []string
	for _, m := range t.Mentions {
		kind := [...]string{"tool", "path", "shell", "code", "query", "failure"}[m.Origin]
		if m.Origin != transcript.ToolName {
			names = append(names, kind+" "+strings.Join(strings.Fields(string(m.Text)), " "))
		}
	}
	slices.Sort(names)
	for _, n := range names {
		if len(n) > shown {
			n = strings.ToValidUTF8(n[:shown], "") + "..."
		}
		fmt.Fprintf(b, "      %s\n", n)
	}
}
