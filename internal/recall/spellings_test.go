package recall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/recall"
)

// C225: what the agent itself puts into a prompt names nothing.
func TestSpellingsOfAPrompt(t *testing.T) {
	for prompt, want := range map[string][]string{
		"":                               nil,
		"why does it fail?":              nil,
		"README and block and __init__":  nil,
		"fix src/a.go":                   {"/w/src/a.go", "src/a.go"},
		"fix ./src/a.go":                 {"/w/src/a.go", "./src/a.go"},
		"fix .\\src\\a.go":               {"/w/src\\a.go", ".\\src\\a.go"},
		"fix ../a.go":                    {"/w/../a.go", "../a.go"},
		"~/notes.md":                     {"/w/~/notes.md", "~/notes.md"},
		"'src/a.go:12:4' and src/a.go":   {"/w/src/a.go", "src/a.go"},
		"src/a.go, src/b.go.":            {"/w/src/a.go,", "src/a.go,", "/w/src/b.go.", "src/b.go."},
		"yes and/or no":                  {"/w/and/or", "and/or"},
		"/etc/hosts":                     {"/etc/hosts"},
		"/etc/hosts then src/a.go":       {"/w/src/a.go", "src/a.go", "/etc/hosts"},
		"/etc/hosts etc/hosts":           {"/w/etc/hosts", "etc/hosts"}, // the same words
		"retryBudget in SearchManager":   {"retryBudget", "SearchManager"},
		"search_manager and _leading":    {"search_manager"},
		"src/retryBudget.go":             {"/w/src/retryBudget.go", "src/retryBudget.go", "retryBudget"},
		"retryBudget RetryBudget":        {"retryBudget", "RetryBudget"},
		"retryBudget retryBudget":        {"retryBudget"},
		"https://x.y/a/b and a://b":      nil,
		"/ // \\ ./ /!/":                 nil,
		"<b>bold</b> </div> <br/>":       {"/w/<b>bold</b>", "<b>bold</b>", "/w/<br/>", "<br/>"},
		"src/日本.go":                      {"/w/src/日本.go", "src/日本.go"},
		"a/b\tc/d\nе/ж":                  {"/w/a/b", "a/b", "/w/c/d", "c/d", "/w/е/ж", "е/ж"},
		"use src/a.go\x00 \xff/x":        {"/w/src/a.go\x00", "src/a.go\x00", "/w/\xff/x", "\xff/x"},
		"x/" + strings.Repeat("a", 5000): nil, // data, not a path
		"<system-reminder>see docs/x.md and fooBar</system-reminder>do it in src/a.go": {"/w/src/a.go", "src/a.go"},
		"<system-reminder>is not closed src/a.go":                                      {"/w/src/a.go", "src/a.go"},
	} {
		if got := recall.Spellings(prompt, "/w", 8); !slices.Equal(got, want) {
			t.Errorf("%.60q: got %q, want %q", prompt, got, want)
		}
	}
}

func TestSpellingsBelowADirectory(t *testing.T) {
	for dir, want := range map[string][]string{
		"/w/":     {"/w/a/b", "a/b"},
		"/w//":    {"/w/a/b", "a/b"},
		"/":       {"/a/b"},
		`C:\w`:    {`C:\w/a/b`, "a/b"},
		`C:\w\`:   {`C:\w/a/b`, "a/b"},
		"":        nil,
		"/ü bung": {"/ü bung/a/b", "a/b"},
	} {
		if got := recall.Spellings("a/b", dir, 8); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", dir, got, want)
		}
	}
}

// A relative path is one of the eight names, and gives two spellings.
func TestAtMostEightNamesAreLookedUp(t *testing.T) {
	var prompt strings.Builder
	for i := range 20 {
		fmt.Fprintf(&prompt, "/abs/%d d/%d name%dOf ", i, i, i)
	}
	if got := recall.Spellings(prompt.String(), "/w", 8); len(got) != 16 || got[0] != "/w/d/0" || got[15] != "d/7" {
		t.Errorf("got %q", got)
	}
	if got := recall.Spellings("d/1 /abs/1 "+strings.Repeat("aB ", 3)+"cD eF gH iJ kL mN oP", "/w", 8); !slices.Equal(got,
		[]string{"/w/d/1", "d/1", "/abs/1", "aB", "cD", "eF", "gH", "iJ", "kL"}) {
		t.Errorf("got %q", got)
	}
	if got := recall.Spellings(strings.Repeat("/a/b /a/b, ", 20)+"/c/d", "/w", 8); !slices.Equal(got, []string{"/a/b", "/c/d"}) {
		t.Errorf("got %q", got)
	}
	for limit, want := range map[int]int{-1: 0, 0: 0, 1: 2, 2: 4, 100: 60 + 20} {
		if got := recall.Spellings(prompt.String(), "/w", limit); len(got) != want {
			t.Errorf("%d names: %d spellings: %q", limit, len(got), got)
		}
	}
}

func FuzzSpellings(f *testing.F) {
	for _, seed := range []string{"", "fix src/a.go:12 and retryBudget", "'/a/b' <system-reminder>x/y</system-reminder> \\", "a://b \x00/\xff"} {
		f.Add(seed, "/w/", 8)
	}
	f.Add("a/b", "", -3)
	f.Fuzz(func(t *testing.T, prompt, dir string, limit int) {
		limit %= 64
		got := recall.Spellings(prompt, dir, limit)
		if len(got) > 2*max(limit, 0) {
			t.Fatalf("%d spellings of %d names", len(got), limit)
		}
		seen := map[string]bool{}
		for _, s := range got {
			words, _ := derive.Terms(s)
			key := strings.Join(words, " ")
			if len(words) == 0 || seen[key] || len(s) > 4096+len(dir)+1 {
				t.Fatalf("%q of %q", s, got)
			}
			seen[key] = true
		}
		// A lower limit gives the beginning of what a higher one gives.
		if limit > 0 {
			if fewer := recall.Spellings(prompt, dir, limit-1); !slices.Equal(fewer, got[:min(len(fewer), len(got))]) || len(fewer) > len(got) {
				t.Fatalf("%d names give %q, %d give %q", limit-1, fewer, limit, got)
			}
		}
	})
}

// A prompt may be a megabyte of pasted text, and the hook still answers in time.
func BenchmarkSpellingsOfAPastedLog(b *testing.B) {
	prompt := strings.Repeat("2026-08-12 error in /srv/app/x: some words of a log, request done and so on\n", 1<<20/76)
	b.SetBytes(int64(len(prompt)))
	for b.Loop() {
		recall.Spellings(prompt, "/w", 8)
	}
}
