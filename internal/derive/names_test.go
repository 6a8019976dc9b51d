package derive

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWhatAQueryNames(t *testing.T) {
	const no, covered, exact = "no", "covered", "exact"
	tests := []struct{ query, value, want string }{
		{"docs/RETRY.md", "docs/RETRY.md", exact},
		{"DOCS retry md", "docs/RETRY.md", exact},
		{"retry md docs", "docs/RETRY.md", covered},
		{"Read docs/RETRY.md", "docs/RETRY.md", covered},
		{"Read docs/RETRY.md", "Read", covered},
		{"read", "Read", exact},
		{"docs RETRY", "docs/RETRY.md", no},
		{"search manager", "SearchManager", no},
		{"SearchManager", "SearchManager", exact},
		{"search_manager", "search_manager", exact},
		{"src/a/src/b", "src/a/src/b", covered},
		{"a b", "a/b/a", covered},
		{"café", "cafe", exact},
		{"cafe\u0301 x", "café", covered},
		{"项目评审", "docs/项目评审", no},
		{"docs 项目评审", "docs/项目评审", exact},
		{"x", "/", no},
		{"", "", no},
		{strings.Repeat("x", 300), strings.Repeat("x", 300), exact},
	}
	for _, tt := range tests {
		terms, _ := Terms(tt.query)
		named, whole := NamesOf(terms).Match(tt.value)
		got := no
		switch {
		case whole:
			got = exact
		case named:
			got = covered
		}
		if got != tt.want {
			t.Errorf("query %.40q, value %.40q: %s, want %s", tt.query, tt.value, got, tt.want)
		}
	}
}

func TestAValueOfMoreThan32WordsIsNeverNamed(t *testing.T) {
	var words []string
	for i := range 33 {
		words = append(words, fmt.Sprint("w", i))
	}
	value := strings.Join(words, "/")
	terms, cut := Terms(value)
	if named, _ := NamesOf(terms).Match(value); named || !cut {
		t.Error("named")
	}
}

func TestMark(t *testing.T) {
	tests := []struct{ query, text, want string }{
		{"budget", "the Budget, budgets", "the [Budget], budgets"},
		{"manager", "a SearchManager", "a Search[Manager]"},
		{"search manager", "a SearchManager", "a [SearchManager]"},
		{"snake case", "snake_case", "[snake]_[case]"},
		{"cafe", "ein CAFÉ", "ein [CAFÉ]"},
		{"项目", "这个项目评审", "这个[项目]评审"},
		{"评", "项目评审", "项目[评]审"},
		{"x", "", ""},
		{"", "text", "text"},
	}
	for _, tt := range tests {
		terms, _ := Terms(tt.query)
		if got := marked(tt.text, Mark(tt.text, terms)); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.query, tt.text, got, tt.want)
		}
	}
}

func marked(text string, spans [][2]int) string {
	var b strings.Builder
	done := 0
	for _, s := range spans {
		b.WriteString(text[done:s[0]] + "[" + text[s[0]:s[1]] + "]")
		done = s[1]
	}
	return b.String() + text[done:]
}

func FuzzMark(f *testing.F) {
	f.Add("search 项目 é", "SearchManager 这个项目评审 e\u0301")
	f.Fuzz(func(t *testing.T, query, text string) {
		terms, _ := Terms(query)
		end := -1
		for _, s := range Mark(text, terms) {
			if s[0] <= end || s[1] <= s[0] || s[1] > len(text) {
				t.Fatalf("span %v after %d in %d bytes", s, end, len(text))
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[s[0]:s[1]]) {
				t.Fatalf("span %v cuts a character of %q", s, text)
			}
			end = s[1]
		}
		names := NamesOf(terms)
		if named, exact := names.Match(text); exact && !named {
			t.Fatal("exact and not named")
		}
	})
}
