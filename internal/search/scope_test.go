package search_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/search/searchtest"
)

// listed are the keys of the sessions in scope, without their extension.
func listed(t *testing.T, r *search.Reader, scope search.Scope) (keys []string, reason string) {
	t.Helper()
	list, err := r.Sessions(t.Context(), search.SessionQuery{Scope: scope})
	if err != nil {
		t.Fatalf("sessions of %+v: %v", scope, err)
	}
	for _, s := range list.Sessions {
		keys = append(keys, strings.TrimSuffix(s.SessionKey, ".jsonl"))
	}
	return keys, list.Reason
}

func TestScopeIsTheProjectOfTheNearestStoredDirectoryAbove(t *testing.T) {
	s := searchtest.New(t)
	for _, o := range []searchtest.Session{
		{Key: "outer.jsonl", Project: "/h/u"},
		{Key: "inner.jsonl", Project: "/h/u/proj"},
		{Key: "sibling.jsonl", Project: "/h/u/proj-2"},
		{Key: "tree.jsonl", Project: "/h/u/proj", PreWorktree: "/w/tree"},
		{Key: "folded.jsonl", Project: "/elsewhere", PreWorktree: "/h/u/both"},
		{Key: "direct.jsonl", Project: "/h/u/both"},
		{Key: "none.jsonl"},
		{Key: "bare.jsonl", NoMeta: true},
	} {
		s.Session(o)
	}
	r := s.Reader()
	for name, c := range map[string]struct {
		scope search.Scope
		want  []string
	}{
		"the working directory":          {search.Scope{Dir: "/h/u/proj"}, []string{"inner", "tree"}},
		"a trailing separator":           {search.Scope{Dir: "/h/u/proj/"}, []string{"inner", "tree"}},
		"superfluous separators":         {search.Scope{Dir: "/h//u/./proj"}, []string{"inner", "tree"}},
		"a directory below":              {search.Scope{Dir: "/h/u/proj/src/x"}, []string{"inner", "tree"}},
		"a worktree":                     {search.Scope{Dir: "/w/tree/src"}, []string{"inner", "tree"}},
		"a name that only begins alike":  {search.Scope{Dir: "/h/u/proj-3"}, []string{"outer"}},
		"both kinds of key at one depth": {search.Scope{Dir: "/h/u/both"}, []string{"direct"}},
		"a path asked for":               {search.Scope{Project: "/h/u/proj-2", Dir: "/h/u/proj"}, []string{"sibling"}},
		"a relative path":                {search.Scope{Project: "proj/src", Dir: "/h/u"}, []string{"inner", "tree"}},
		"the directory itself":           {search.Scope{Project: ".", Dir: "/h/u"}, []string{"outer"}},
		"every project":                  {search.Scope{Project: "*"}, []string{"outer", "inner", "sibling", "tree", "folded", "direct", "none", "bare"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, reason := listed(t, r, c.scope)
			if !slices.Equal(got, c.want) || reason != "" {
				t.Errorf("got %v (%q), want %v", got, reason, c.want)
			}
		})
	}
}

func TestAScopeIsTriedAsWrittenAndWithItsLinksResolved(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	target, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.MkdirAll(filepath.Join(target, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	s := searchtest.New(t)
	s.Session(searchtest.Session{Key: "real.jsonl", Project: target})
	r := s.Reader()
	if got, _ := listed(t, r, search.Scope{Dir: filepath.Join(link, "sub")}); !slices.Equal(got, []string{"real"}) {
		t.Errorf("through the link: %v", got)
	}
	s.Session(searchtest.Session{Key: "link.jsonl", Project: link})
	if got, _ := listed(t, r, search.Scope{Dir: link}); !slices.Equal(got, []string{"real", "link"}) {
		t.Errorf("started through either: %v", got)
	}
	s.Session(searchtest.Session{Key: "above.jsonl", Project: dir})
	s.Exec(`DELETE FROM session_meta WHERE session_key = 'link.jsonl'`)
	if got, _ := listed(t, r, search.Scope{Project: link}); !slices.Equal(got, []string{"real"}) {
		t.Errorf("the nearer of the two: %v", got)
	}
}

func TestExclusionsHideWhatWasArchivedBefore(t *testing.T) {
	s := searchtest.New(t)
	for _, o := range []searchtest.Session{
		{Key: "secret.jsonl", Project: "/x/hidden"},
		{Key: "below.jsonl", Project: "/x/hidden/deep"},
		{Key: "sibling.jsonl", Project: "/x/hidden-research"},
		{Key: "tree.jsonl", Project: "/r", PreWorktree: "/x/hidden/tree"},
		{Key: "repo.jsonl", Project: "/r"},
		{Key: "none.jsonl"},
		{Key: "bare.jsonl", NoMeta: true},
	} {
		s.Add(s.Session(o), searchtest.Turn{Text: "needle"})
	}
	r := s.Reader("/x/hidden")
	want := []string{"sibling", "repo", "none", "bare"}
	if got, _ := listed(t, r, everything); !slices.Equal(got, want) {
		t.Errorf("sessions: %v", got)
	}
	var found []string
	for _, h := range find(t, r, search.Query{Words: "needle"}).Hits {
		found = append(found, strings.TrimSuffix(h.SessionKey, ".jsonl"))
	}
	if !slices.Equal(found, want) {
		t.Errorf("search: %v", found)
	}
	if got, _ := listed(t, r, search.Scope{Dir: "/r"}); !slices.Equal(got, []string{"repo"}) {
		t.Errorf("in a project with a hidden worktree: %v", got)
	}
	if st, err := r.Status(t.Context()); err != nil || st.Sessions != 4 || st.Turns != 4 {
		t.Errorf("status: %+v, %v", st, err)
	}
}

func TestReasons(t *testing.T) {
	s := searchtest.New(t)
	r := s.Reader()
	check := func(name string, r *search.Reader, scope search.Scope, parts ...string) {
		t.Helper()
		keys, reason := listed(t, r, scope)
		if len(keys) != 0 || len(parts) == 0 && reason != "" {
			t.Errorf("%s: %v, %q", name, keys, reason)
		}
		for _, part := range parts {
			if !strings.Contains(reason, part) {
				t.Errorf("%s: %q does not say %q", name, reason, part)
			}
		}
	}
	check("an empty archive", r, search.Scope{Dir: "/p"}, "nothing is archived")
	check("an empty archive, every project", r, everything)
	s.Session(searchtest.Session{Key: "none.jsonl"})
	check("nothing but sessions of no project", r, search.Scope{Dir: "/p"}, "no archived project", "/p")
	s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p/secret"})
	check("a directory outside", r, search.Scope{Dir: "/q"}, "no archived project", "/q")
	check("an excluded project", s.Reader("/p"), search.Scope{Dir: "/p/secret/sub"}, "exclude", "/p/secret/sub")
	check("everything excluded", s.Reader("/"), everything, "exclude")
	check("no working directory", r, search.Scope{}, "working directory")
	check("no working directory, a relative path", r, search.Scope{Project: "x"}, "working directory")
}

func TestTheBoundsOfAWindow(t *testing.T) {
	for text, want := range map[string][2]string{
		"2026-08-12":               {"2026-08-12T00:00:00.000Z", "2026-08-12T23:59:59.999Z"},
		"2024-02-29":               {"2024-02-29T00:00:00.000Z", "2024-02-29T23:59:59.999Z"},
		"2026-08-12T21:04:05.678Z": {"2026-08-12T21:04:05.678Z", "2026-08-12T21:04:05.678Z"},
	} {
		since, err1 := search.Since(text)
		until, err2 := search.Until(text)
		if since != want[0] || until != want[1] || err1 != nil || err2 != nil {
			t.Errorf("%s: %q, %q, %v, %v", text, since, until, err1, err2)
		}
	}
	for _, text := range []string{
		"", "2026-8-12", "2026-02-30", "2026-08-12T21:00:00Z", "2026-08-12 21:00:00.000Z", "2026-08-12T21:00:00,000Z",
		"2026-08-12T24:00:00.000Z", "2026-08-12T1:00:00.000Z", "2026-08-12T21:00:00.0000Z", "2026-08-12T21:00:00.000+00:00",
		" 2026-08-12", "yesterday",
	} {
		if got, err := search.Since(text); err == nil {
			t.Errorf("%q was read as %q", text, got)
		}
	}
}

func TestElsewhereSaysThatEveryProjectMayHoldWhatAScopeDoesNot(t *testing.T) {
	s := searchtest.New(t)
	if list, err := s.Reader().Sessions(t.Context(), search.SessionQuery{Scope: search.Scope{Dir: "/q"}}); err != nil || list.Elsewhere {
		t.Errorf("an empty archive: %+v, %v", list, err)
	}
	s.Session(searchtest.Session{Key: "a.jsonl", Project: "/p"})
	for name, c := range map[string]struct {
		r     *search.Reader
		scope search.Scope
		want  bool
	}{
		"another directory":      {s.Reader(), search.Scope{Dir: "/q"}, true},
		"a project without hits": {s.Reader(), search.Scope{Dir: "/p"}, false},
		"every project":          {s.Reader(), search.Scope{Project: "*"}, false},
		"excluded":               {s.Reader("/p"), search.Scope{Dir: "/p"}, false},
		"no working directory":   {s.Reader(), search.Scope{}, false},
	} {
		list, err := c.r.Sessions(t.Context(), search.SessionQuery{Scope: c.scope})
		if err != nil || list.Elsewhere != c.want {
			t.Errorf("%s: sessions %+v, %v", name, list, err)
		}
		res, err := c.r.Find(t.Context(), search.Query{Words: "x", Scope: c.scope})
		if err != nil || res.Elsewhere != c.want {
			t.Errorf("%s: hits %+v, %v", name, res, err)
		}
	}
}
