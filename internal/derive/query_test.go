package derive

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTerms(t *testing.T) {
	tests := []struct{ query, want string }{
		{"", ""},
		{"///", ""},
		{"*", ""},
		{`!@#$%^&*()`, ""},
		{"retry budget", "retry budget"},
		{"src/worker/S.ts", "src worker S ts"},
		{"foo AND (bar", "foo AND bar"},
		{`"unbalanced`, "unbalanced"},
		{"snake_case kebab-case", "snake case kebab"},
		{"Foo foo FOO bar", "Foo bar"},
		{"Äpfel äpfel", "Äpfel"},
		{"NEAR(a b)", "NEAR a b"},
		{"项目评审 test", "项目评审 test"},
		{"test项目", "test 项目"},
		{"re\u0301sume\u0301", "résumé"},
		{"й и\u0306 Й", "й"},
		{"Ⓐ ⓐ", ""},
		{"\u093e x", "x"},
		{"\U0001fae0 x", "x"},
		{"a\xffb", "a b"},
		{strings.Repeat("x", 300), strings.Repeat("x", 256)},
	}
	for _, tt := range tests {
		terms, cut := Terms(tt.query)
		if got := strings.Join(terms, " "); got != tt.want || cut {
			t.Errorf("%q: %q, want %q; cut %v", tt.query, got, tt.want, cut)
		}
	}
}

func TestQueryIsCutAtTheThirtyThirdDistinctTerm(t *testing.T) {
	var words []string
	for i := range maxTerms {
		words = append(words, fmt.Sprintf("w%d", i))
	}
	query := strings.Join(words, " ") + " W1 w2 /// Ⓐ"
	if terms, cut := Terms(query); len(terms) != maxTerms || cut {
		t.Errorf("%d terms, cut %v", len(terms), cut)
	}
	if terms, cut := Terms(query + " one"); !slices.Equal(terms, words) || !cut {
		t.Errorf("%d terms, cut %v", len(terms), cut)
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		terms []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, `"a"`},
		{[]string{"a", "AND", "b"}, `"a" AND "AND" AND "b"`},
		{[]string{"项"}, `"项"*`},
		{[]string{"项目"}, `"项目"`},
		{[]string{"项目评审", "x"}, `"项目 目评 评审" AND "x"`},
		{[]string{`a" OR "b`, "", "Ⓐ"}, `"a" AND "OR" AND "b"`},
	}
	for _, tt := range tests {
		if got := Match(tt.terms); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.terms, got, tt.want)
		}
	}
}

// finder returns a function that reports whether a query finds a text in a
// real search table.
func finder(t testing.TB) func(t testing.TB, text, query string) bool {
	db := searchTable(t)
	var p Projector
	return func(t testing.TB, text, query string) bool {
		t.Helper()
		exec(t, db, `DELETE FROM f WHERE rowid = 1`)
		exec(t, db, `INSERT INTO f(rowid, body) VALUES (1, ?)`, string(p.Body(texts(text))))
		terms, _ := Terms(query)
		match := Match(terms)
		if match == "" {
			return false
		}
		var n int
		if err := db.QueryRow(`SELECT count(*) FROM f WHERE f MATCH ?`, match).Scan(&n); err != nil {
			t.Fatalf("query %q as %s: %v", query, match, err)
		}
		return n == 1
	}
}

func TestQueriesFindInTheSearchTable(t *testing.T) {
	finds := finder(t)
	tests := []struct {
		text, query string
		want        bool
	}{
		{"the retry budget lives in worker", "Budget RETRY", true},
		{"the retry budget", "retry backoff", false},
		{"src/worker/S.ts", "worker", true},
		{"snake_case", "case", true},
		{"SearchManager", "manager", true},
		{"SearchManager", "searchmanager", true},
		{"the résumé", "resume", true},
		{"the re\u0301sume\u0301", "résumé", true},
		{"the resume", "re\u0301sume\u0301", true},
		{"今天的项目评审会议", "项目评审", true},
		{"今天的项目评审会议", "会议", true},
		{"今天的项目评审会议", "议", true},
		{"今天的项目评审会议", "项", true},
		{"今天的项目评审会议", "项评", false},
		{"今天的项目评审会议", "项目会议", false},
		{"今天的项目评审会议", "项目 会议", true},
		{"test项目abc", "abc 项目 test", true},
		{"プロジェクトー", "ジェクト", true},
		{"프로젝트를 만든다", "프로젝트", true},
		{"fix\U0001fae0bug", "bug", true},
		{"हिन्दी में", "हिन्दी", true},
		{strings.Repeat("ab", 400), strings.Repeat("ab", 300), true},
		{"x and y", "AND", true},
		{"x", "NOT x", false},
	}
	for _, tt := range tests {
		if got := finds(t, tt.text, tt.query); got != tt.want {
			t.Errorf("%q in %q: %v", tt.query, tt.text, got)
		}
	}
}

// C70: a letter and its marks are the same, written as one character or as
// several.
func TestComposedAndDecomposedAreFoundAlike(t *testing.T) {
	finds := finder(t)
	for _, c := range []struct{ whole, apart string }{
		{"é", "e\u0301"},
		{"ế", "e\u0302\u0301"},
		{"ậ", "a\u0302\u0323"},
		{"ǘ", "u\u0308\u0301"},
		{"й", "и\u0306"},
		{"ёлка", "е\u0308лка"},
		{"ά", "α\u0301"},
		{"ΐ", "ι\u0308\u0301"},
		{"プロ", "フ\u309aロ"},
		{"データベース", "テ\u3099ータヘ\u3099ース"},
		{"한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"},
		{"آب", "ا\u0653ب"},
		{"İ", "I\u0307"},
	} {
		for _, text := range []string{c.whole, c.apart, "before " + c.whole + ", after", "before " + c.apart + ", after", "Camel" + "Case " + c.apart} {
			for _, query := range []string{c.whole, c.apart} {
				if !finds(t, text, query) {
					t.Errorf("%+q does not find %+q", query, text)
				}
			}
		}
		// Where it stands is found as well, and what is shown is the text as it is.
		terms, _ := Terms(c.whole)
		filler := strings.Repeat("lorem ipsum ", 60)
		if got := Excerpt([]byte(filler+c.apart+" "+filler), terms); !strings.Contains(got, " "+c.apart+" ") {
			t.Errorf("%+q is not shown for %+q: %s", c.apart, c.whole, got)
		}
		if _, exact := NamesOf(terms).Match(c.apart); !exact {
			t.Errorf("%+q does not name %+q", c.whole, c.apart)
		}
	}
	if finds(t, "й", "и") || finds(t, "и\u0306", "и") || finds(t, "プ", "フ") || finds(t, "フ\u309a", "フ") {
		t.Error("another letter is found")
	}
}

// Every query of a text's own words finds the text, and no query is an error.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"SearchManager x", "项目评审 a", `"a" OR b* NEAR(c, 1) ^d {e f}: -g`, "Ⓐa\u0301b\u093ec\U0001fae0d 〇々ー", "ǅ ﬁ İ ß ſ", "\x00a\x00", "フ\u309a и\u0306 \u1112\u1161"} {
		f.Add(s, 3)
	}
	finds := finder(f)
	f.Fuzz(func(t *testing.T, text string, from int) {
		terms, cut := Terms(text)
		if len(terms) > maxTerms || cut && len(terms) < maxTerms {
			t.Fatalf("%d terms, cut %v", len(terms), cut)
		}
		for _, term := range terms {
			if len(term) > maxWord || !utf8.ValidString(term) {
				t.Fatalf("term %q", term)
			}
		}
		if !utf8.ValidString(text) || len(text) > maxText/4 {
			t.Skip()
		}
		if len(terms) > 0 && !finds(t, text, text) {
			t.Fatalf("%q as %s does not find itself", text, Match(terms))
		}
		// Any part of the text that begins and ends where words do.
		text = string(composed(nil, []byte(text)))
		list := slowWords([]byte(text))
		if len(list) == 0 {
			return
		}
		w := list[max(from, 0)%len(list)]
		if query := text[w.start:w.end]; Match([]string{query}) != "" && !finds(t, text, query) {
			t.Fatalf("%q does not find %q", text, query)
		}
	})
}
