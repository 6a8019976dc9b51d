package feedback

import (
	"fmt"
	"slices"
	"testing"
)

func prompts(l EntryList) []string {
	all := []string{}
	for _, d := range l.Decisions {
		all = append(all, d.Prompt)
	}
	return all
}

func TestTheLogHoldsTheNewestOfBothPlacesOnce(t *testing.T) {
	p := newPlace(t)
	add := func(at int64, id, cwd string) {
		d := silent("x")
		d.AtMS, d.SessionID, d.CWD, d.Prompt = at, id, cwd, fmt.Sprint(at)
		save(t, p.dir, d)
	}
	const a, b = "aaaaaaaa-1", "bbbbbbbb-1"
	add(5, a, "/work/app")
	add(1, b, "/work/app")
	add(3, a, "/work/secret/x")
	p.drain()
	add(4, b, "/work/app")
	add(2, a, "/work/app")
	add(6, b, "/work/secret")
	for _, tc := range []struct {
		name    string
		q       LogQuery
		exclude string
		want    []string
		reason  string
	}{
		{"all", LogQuery{Limit: 9}, "", []string{"6", "5", "4", "3", "2", "1"}, ""},
		{"some", LogQuery{Limit: 3}, "", []string{"6", "5", "4"}, ""},
		{"one", LogQuery{Limit: 1}, "", []string{"6"}, ""},
		{"a session", LogQuery{Limit: 9, Session: a}, "", []string{"5", "3", "2"}, ""},
		{"the beginning of its id", LogQuery{Limit: 1, Session: "bbbb"}, "", []string{"6"}, ""},
		{"another", LogQuery{Limit: 9, Session: "cccc"}, "", []string{}, "no prompt of session cccc is logged"},
		{"no pattern", LogQuery{Limit: 9, Session: "%"}, "", []string{}, "no prompt of session % is logged"},
		{"an excluded directory", LogQuery{Limit: 3}, "/work/secret", []string{"5", "4", "2"}, ""},
		{"everything excluded", LogQuery{Limit: 9}, "/", []string{}, "no prompt is logged yet"},
	} {
		l := p.log(tc.q, tc.exclude)
		if !slices.Equal(prompts(l), tc.want) || l.Reason != tc.reason {
			t.Errorf("%s: %q, reason %q", tc.name, prompts(l), l.Reason)
		}
	}
}

func TestRowsThatCannotBeReadInPartAreShownAllTheSame(t *testing.T) {
	p := newPlace(t)
	_, err := p.db.Exec(`INSERT INTO decisions(file, spellings, candidates, injected, suppressed) VALUES ('x', '{', '7', '["a"]', NULL)`)
	p.check(err)
	l := p.log(LogQuery{Limit: 9})
	if len(l.Decisions) != 1 || len(l.Decisions[0].Candidates)+len(l.Decisions[0].Spellings)+len(l.Decisions[0].Suppressed) > 0 {
		t.Errorf("%+v", l)
	}
}

func TestMoreRowsAreReadWhereSomeAreHidden(t *testing.T) {
	p := newPlace(t)
	for i := range rowsAtOnce + 20 {
		_, err := p.db.Exec(`INSERT INTO decisions(file, ts, cwd, prompt) VALUES (?1, ?1, '/work/secret', ?1)`, fmt.Sprintf("b%06d", i))
		p.check(err)
	}
	for _, prompt := range []string{"a1", "a2"} {
		_, err := p.db.Exec(`INSERT INTO decisions(file, ts, cwd, prompt) VALUES (?1, ?1, '/work/app', ?1)`, prompt)
		p.check(err)
	}
	if got := prompts(p.log(LogQuery{Limit: 2}, "/work/secret")); !slices.Equal(got, []string{"a2", "a1"}) {
		t.Errorf("%q", got)
	}
}

func TestAStoreWithoutTheTableHasAnEmptyLog(t *testing.T) {
	p := newPlace(t)
	_, err := p.db.Exec(`DROP TABLE decisions`)
	p.check(err)
	if l := p.log(LogQuery{Limit: 9}); len(l.Decisions) > 0 || l.Reason != nothingLogged {
		t.Errorf("%+v", l)
	}
}

func TestTheEgressFilterIsAppliedToWhatLeavesAndNotToWhatIsKept(t *testing.T) {
	p := newPlace(t)
	d := fired()
	d.Prompt = "the_password=hunter_two_EXAMPLE is in src/a.go, ask ./b.go"
	d.Spellings = []string{"/work/app/src/a.go", "src/a.go", "/work/app/b.go", "./b.go", "the_password", "hunter_two_EXAMPLE"}
	d.Text = ptr("quoted: the_password=hunter_two_EXAMPLE")
	save(t, p.dir, d)
	plain := p.log(LogQuery{Limit: 1}).Decisions[0]
	if plain.Prompt != d.Prompt || *plain.Text != *d.Text || !slices.Equal(plain.Spellings, d.Spellings) {
		t.Errorf("without the filter: %+v", plain)
	}
	p.redact = true
	for _, place := range []string{"waiting", "stored"} {
		e := p.log(LogQuery{Limit: 1}).Decisions[0]
		if e.Prompt != "the_password=[redacted] is in src/a.go, ask ./b.go" || *e.Text != "quoted: the_password=[redacted]" {
			t.Errorf("%s: %q, %q", place, e.Prompt, *e.Text)
		}
		if want := append(slices.Clone(d.Spellings[:5]), "[redacted]"); !slices.Equal(e.Spellings, want) {
			t.Errorf("%s: %q", place, e.Spellings)
		}
		p.drain()
	}
	var kept string
	p.check(p.db.QueryRow(`SELECT prompt FROM decisions`).Scan(&kept))
	if kept != d.Prompt {
		t.Errorf("kept: %q", kept)
	}
}
