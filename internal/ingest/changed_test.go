package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/config"
)

const sessionA = "aaaaaaaa-0000-4000-8000-000000000001.jsonl"

// Whatever an agent does to its file, every state that a pass met comes back,
// no line is archived twice, and nothing is lost.
func TestEveryStateOfATranscriptComesBack(t *testing.T) {
	l := func(n int) string { return user(n, fmt.Sprintf("line%d text", n)) }
	many := func(from, to int) string {
		var b strings.Builder
		for n := from; n < to; n++ {
			b.WriteString(l(n))
		}
		return b.String()
	}
	cases := []struct {
		name   string
		states []string // file contents, one pass after each
		want   []string // archived states, oldest first
		stream string   // what the stream holds in the end
	}{
		{"grown", []string{many(0, 3), many(0, 5)}, []string{many(0, 5)}, many(0, 5)},
		{"cut at a line", []string{many(0, 5), many(0, 3)}, []string{many(0, 5), many(0, 3)}, many(0, 5)},
		{
			"cut inside a line",
			[]string{many(0, 5), many(0, 3) + l(3)[:40]},
			[]string{many(0, 5), many(0, 3)},
			many(0, 5),
		},
		{
			"cut inside a line, then completed",
			[]string{many(0, 5), many(0, 3) + l(3)[:40], many(0, 4)},
			[]string{many(0, 5), many(0, 4)},
			many(0, 5),
		},
		{
			"rewound and continued",
			[]string{many(0, 5), many(0, 3), many(0, 3) + many(7, 9)},
			[]string{many(0, 5), many(0, 3) + many(7, 9)},
			many(0, 5) + many(7, 9),
		},
		{
			"replaced",
			[]string{many(0, 3), many(5, 9)},
			[]string{many(0, 3), many(5, 9)},
			many(0, 3) + many(5, 9),
		},
		{
			"a line in the middle rewritten with equal size",
			[]string{many(0, 5), many(0, 2) + l(8) + many(3, 5)},
			[]string{many(0, 5), many(0, 2) + l(8) + many(3, 5)},
			many(0, 5) + l(8),
		},
		{
			"lines inserted before",
			[]string{many(3, 5), many(0, 5)},
			[]string{many(3, 5), many(0, 5)},
			many(3, 5) + many(0, 3),
		},
		{"emptied", []string{many(0, 3), ""}, []string{many(0, 3), ""}, many(0, 3)},
		{
			"emptied and restored",
			[]string{many(0, 3), "", many(0, 3)},
			[]string{many(0, 3), many(0, 3)},
			many(0, 3),
		},
		{
			"a line twice",
			[]string{l(1) + l(1), l(1) + l(2) + l(1)},
			[]string{l(1) + l(1), l(1) + l(2) + l(1)},
			l(1) + l(1) + l(2),
		},
		{
			"torn, then completed",
			[]string{many(0, 2) + l(2)[:30], many(0, 3)},
			[]string{many(0, 3)},
			many(0, 3),
		},
		{"blank and foreign lines", []string{"\n\r\n\x00\x00\nnot json\n" + l(0)}, []string{"\n\r\n\x00\x00\nnot json\n" + l(0)}, "\n\r\n\x00\x00\nnot json\n" + l(0)},
		{
			"more than the compared tail before the change",
			[]string{many(0, 2000), many(0, 1) + l(9001) + many(2, 2000)},
			[]string{many(0, 2000), many(0, 1) + l(9001) + many(2, 2000)},
			many(0, 2000) + l(9001),
		},
	}
	for _, c := range cases {
		for _, keepTime := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/time kept %v", c.name, keepTime), func(t *testing.T) {
				f := newFixture(t)
				then := time.Now().Add(-48 * time.Hour)
				var path string
				for i, content := range c.states {
					path = f.write(sessionA, content)
					if keepTime {
						if err := os.Chtimes(path, then, then); err != nil {
							t.Fatal(err)
						}
					}
					if res := f.pass(); len(res.Failures) > 0 {
						t.Fatalf("state %d: %v", i, res.Failures)
					}
					before := f.dump()
					if res := f.pass(); res.FilesCommitted != 0 {
						t.Fatalf("state %d: a second pass commits %d files", i, res.FilesCommitted)
					}
					if f.dump() != before {
						t.Fatalf("state %d: a second pass changes the store", i)
					}
					f.verifyClean()
				}
				if got := f.states(path); fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("archived states\n%q\nwant\n%q", got, c.want)
				}
				if got := f.stream(sessionA); got != c.stream {
					t.Errorf("the stream holds\n%q\nwant\n%q", got, c.stream)
				}
			})
		}
	}
}

func TestARewoundTurnStaysFindableAndIsMarked(t *testing.T) {
	f := newFixture(t)
	f.write(sessionA, user(0, "kept"), user(1, "abandoned"))
	f.pass()
	f.write(sessionA, user(0, "kept"), user(2, "fresh"))
	f.pass()
	for word, current := range map[string]int{"kept": 1, "abandoned": 0, "fresh": 1} {
		got := f.count(`SELECT in_current FROM turns WHERE id = (SELECT rowid FROM turns_fts WHERE turns_fts MATCH ?)`, word)
		if got != current {
			t.Errorf("%s: in the newest state %d, want %d", word, got, current)
		}
	}
	f.write(sessionA, user(0, "kept"), user(1, "abandoned"))
	f.pass()
	if n := f.count(`SELECT count(*) FROM turns WHERE in_current = 0`); n != 1 {
		t.Errorf("after going back %d turns are rewound, want the fresh one", n)
	}
}

func TestTwoFilesWithOneKeyAreOneSession(t *testing.T) {
	f := newFixture(t)
	common := user(0, "common")
	here := f.write(sessionA, common, user(1, "here"))
	there := f.write("../-q/"+sessionA, common, user(2, "there"))
	f.pass()
	if n := f.count(`SELECT count(*) FROM sessions`); n != 1 {
		t.Fatalf("%d sessions", n)
	}
	if got, want := f.stream(sessionA), common+user(1, "here")+user(2, "there"); got != want {
		t.Errorf("the stream holds %q, want %q", got, want)
	}
	for path, want := range map[string]string{here: common + user(1, "here"), there: common + user(2, "there")} {
		if got := f.states(path); len(got) != 1 || got[0] != want {
			t.Errorf("%s comes back as %q", path, got)
		}
	}
	if n := f.count(`SELECT count(*) FROM turns WHERE in_current = 0`); n != 0 {
		t.Errorf("%d turns are rewound although a file holds each", n)
	}
	for i := range 3 { // both go on
		f.append(sessionA, user(10+i, "more here"))
		f.append("../-q/"+sessionA, user(20+i, "more there"))
		f.pass()
		f.verifyClean()
	}
	if got := f.states(there); len(got) != 1 || !strings.HasSuffix(got[0], user(22, "more there")) {
		t.Errorf("the grown copy comes back as %q", got)
	}
	newest := "SELECT transcript_path FROM session_meta"
	var path string
	if err := f.reader().QueryRow(newest).Scan(&path); err != nil || path != canonical(t, there) {
		t.Errorf("the transcript's path is %s, %v", path, err)
	}
}

func TestAMovedTranscriptIsNotArchivedAgain(t *testing.T) {
	f := newFixture(t)
	path := f.write(sessionA, user(0, "one"), user(1, "two"))
	f.pass()
	there := f.path("../-q/" + sessionA)
	if err := os.MkdirAll(f.path("../-q"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, there); err != nil {
		t.Fatal(err)
	}
	if res := f.pass(); res.TurnsAdded != 0 {
		t.Fatalf("%+v", res)
	}
	f.append("../-q/"+sessionA, user(2, "three"))
	if res := f.pass(); res.TurnsAdded != 1 {
		t.Fatalf("%+v", res)
	}
	f.verifyClean()
}

// A transcript outside the two shapes is known by its path; once it stands where
// its name tells its key, the session gets that key.
func TestAPathKeyIsRenamedWhenItsFileMovesIntoAShape(t *testing.T) {
	f := newFixture(t)
	path := f.write("agent-x1.jsonl", user(0, "one"), user(1, "two"))
	f.pass()
	other := f.write("agent-x2.jsonl", user(5, "other"))
	f.pass()
	there := f.path("aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x1.jsonl")
	if err := os.MkdirAll(filepath.Dir(there), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, there); err != nil {
		t.Fatal(err)
	}
	f.append("aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x1.jsonl", user(2, "three"))
	if res := f.pass(); res.TurnsAdded != 1 {
		t.Fatalf("%+v", res)
	}
	keys := "SELECT count(*) FROM sessions WHERE session_key = ?"
	for key, want := range map[string]int{
		"aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x1.jsonl": 1, canonical(t, path): 0, canonical(t, other): 1,
	} {
		if got := f.count(keys, key); got != want {
			t.Errorf("%d sessions have the key %s, want %d", got, key, want)
		}
	}
	if n := f.find("one"); n != 1 {
		t.Errorf("a turn of the renamed session is found %d times", n)
	}
	f.verifyClean()
}

// C30: the end of a transcript is compared at each growth, the whole of it once
// a day, even when it has come to rest.
func TestARewriteAboveTheComparedEndIsFoundWithinADay(t *testing.T) {
	f := newFixture(t)
	lines := make([]string, 2000)
	for i := range lines {
		lines[i] = user(i, fmt.Sprint("line ", i))
	}
	path := f.write(sessionA, lines...)
	f.pass()
	lines[1] = user(9001, "rewritten")
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.Join(lines, "") + user(9002, "appended")
	if _, err := file.WriteAt([]byte(whole), 0); err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	f.pass()
	f.now = f.now.Add(25 * time.Hour)
	f.pass()
	if n := f.find("rewritten"); n != 1 {
		t.Fatalf("the rewritten line is found %d times a day later", n)
	}
	if got := f.states(path); got[len(got)-1] != whole {
		t.Error("the newest state is not what the file holds")
	}
	before := f.dump()
	f.now = f.now.Add(25 * time.Hour)
	f.pass()
	if f.dump() != before {
		t.Error("a transcript at rest is compared again")
	}
}

func TestCopiesOfASessionSettleWithTheirCompanions(t *testing.T) {
	f := newFixture(t)
	dir := strings.TrimSuffix(sessionA, ".jsonl")
	for _, folder := range []string{"", "../-q/"} {
		f.write(folder+sessionA, user(0, "one"))
		f.write(folder+dir+"/tool-results/same.txt", "same")
		f.write(folder+dir+"/tool-results/own.txt", "in "+folder)
	}
	f.pass()
	before := f.dump()
	for range 3 {
		if res := f.pass(); res.FilesCommitted > 0 || res.BytesRead > 0 {
			t.Fatalf("nothing is new, and a pass takes in %+v", res)
		}
	}
	if f.dump() != before {
		t.Error("idle passes change the store")
	}
	if n := f.count(`SELECT count(*) FROM companions`); n != 3 {
		t.Errorf("%d versions are archived, want one of the same and two of the other", n)
	}
}

// What was archived before a record told the directory is hidden by it.
func TestASessionThatTurnsOutToBeExcludedIsHidden(t *testing.T) {
	f := newFixture(t)
	f.cfg.Exclude = config.NewExclusions(f.home, []string{"/private"})
	line := strings.Replace(user(1, strings.Repeat("text ", 20000)), `"cwd":"/work/p",`, "", 1)
	f.write(sessionA, strings.Repeat(line, 120), strings.Replace(user(2, "told"), "/work/p", "/private/a", 1))
	f.pass()
	if n := f.count(`SELECT count(*) FROM session_meta WHERE project IS NOT '/private/a'`); n != 0 {
		t.Errorf("%d sessions are not in the excluded project", n)
	}
	if n := f.find("told"); n != 0 {
		t.Error("a record of an excluded project was taken in")
	}
	f.write("bbbbbbbb-0000-4000-8000-000000000002.jsonl", strings.Replace(user(2, "told"), "/work/p", "/private/a", 1))
	f.pass()
	if n := f.count(`SELECT count(*) FROM sessions`); n != 1 {
		t.Error("a session whose first record names an excluded project was taken in")
	}
}

// A file that is reached by two paths, one of which tells a key and one does
// not, is one session whichever comes first.
func TestAFileWithTwoKeysStaysOneSession(t *testing.T) {
	for _, byHandFirst := range []bool{false, true} {
		t.Run(fmt.Sprint("by hand first ", byHandFirst), func(t *testing.T) {
			f := newFixture(t)
			real := filepath.Join(f.home, "real")
			if err := os.MkdirAll(real, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(f.path("")), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(real, filepath.Clean(f.path(""))); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(real, sessionA)
			var content string
			for i := range 6 {
				content += user(i, fmt.Sprint("line ", i))
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				o := f.options()
				if (i%2 == 0) == byHandFirst {
					o.Path = path
				}
				if res, err := Run(context.Background(), o); err != nil || res.TurnsAdded != 1 {
					t.Fatalf("pass %d: %+v, %v", i, res, err)
				}
				f.verifyClean()
			}
			if n := f.count(`SELECT count(*) FROM sessions`); n != 1 {
				t.Fatalf("%d sessions", n)
			}
			if got := f.states(path); len(got) != 1 || got[0] != content {
				t.Errorf("the transcript comes back as %q", got)
			}
			if n := f.count(`SELECT count(*) FROM sessions WHERE session_key = ?`, sessionA); n != 1 {
				t.Error("the session does not have the key that its folder tells")
			}
		})
	}
}
