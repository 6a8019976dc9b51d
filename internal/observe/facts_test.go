package observe

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/corpus"
	"github.com/terminus-archive/terminus/internal/harness/claude"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestAListHoldsTheFirstValuesInWhateverOrderTheyCome(t *testing.T) {
	var want []string
	for i := range 3 * maxEntries {
		want = append(want, fmt.Sprintf("v%03d", i))
	}
	r := rand.New(rand.NewSource(1))
	for _, n := range []int{0, 1, maxEntries - 1, maxEntries, maxEntries + 1, 3 * maxEntries} {
		var l list
		for range 2 {
			for _, i := range r.Perm(n) {
				l.add([]byte(want[i]))
			}
		}
		if !slices.Equal(l.values, want[:min(n, maxEntries)]) || l.more != (n > maxEntries) {
			t.Errorf("of %d values the list holds %d, more: %v", n, len(l.values), l.more)
		}
	}
}

func TestACommitIsKnownByItsCommand(t *testing.T) {
	for command, want := range map[string]string{
		`git commit -m "make it smaller"`:                             "make it smaller",
		`git commit -m 'make it smaller'`:                             "make it smaller",
		`git commit --message "a b"`:                                  "a b",
		`git commit --message="a b"`:                                  "a b",
		`git commit -q --no-verify -m x`:                              "x",
		`/usr/bin/git -C /work/app commit -m x`:                       "x",
		`git commit -m first -m second`:                               "first",
		`git commit -m "  wide  "`:                                    "wide",
		`git commit -m "say \"yes\" \$5 \n"`:                          `say "yes" $5 \n`,
		`git commit -m it\'s`:                                         "it's",
		`git commit -m a"b c"'d e'`:                                   "ab cd e",
		"git commit -m 'subject\n\nbody'":                             "subject\n\nbody",
		"git commit -m \"$(cat <<'EOF'\nsubject\n\nbody\nEOF\n)\"":    "subject",
		"git commit -m \"$(cat <<EOF\n\n  the \"subject\" \nEOF\n)\"": `the "subject"`,
		"git commit --message=\"$(cat <<-EOF\n\tx\nEOF\n)\"":          "x",
		`git commit`:                       "",
		`git commit -m`:                    "",
		`git commit -m ""`:                 "",
		`git commit -am x`:                 "",
		`git commit -F message`:            "",
		`git commit -m "$(cat message)"`:   "",
		"git commit -m \"$(cat <<EOF":      "",
		`cd /work && git commit -m x`:      "",
		`git add . && echo committed -m x`: "",
		`git -m x commit`:                  "",
		`echo git commit -m x`:             "",
		`git log --grep -m commit`:         "",
		`legit commit -m x`:                "",
		``:                                 "",
		`git commit -m "never closed`:      "never closed",
		"git  commit\t-m\nx":               "x",
		`git commit -m x\`:                 `x\`,
	} {
		if got := commitSubject([]byte(command)); got != want {
			t.Errorf("%s\nsays %q, want %q", command, got, want)
		}
	}
}

func collect(record string) Facts {
	c := collector{modifies: claude.Harness{}.Modifies}
	state := transcript.State{}
	for _, turn := range (claude.Harness{}).Turns([]byte(record), &state) {
		c.turn(&turn)
	}
	return c.facts()
}

const (
	head = `{"type":"assistant","uuid":"u","timestamp":"t","message":{"content":[`
	tail = `]}}`
)

func TestAFileIsModifiedByTheCallThatNamesIt(t *testing.T) {
	f := collect(head + `{"type":"tool_use","name":"Edit","input":{"file_path":"/a:12"}},{"type":"tool_use","name":"Read","input":{"file_path":"/b"}},` +
		`{"type":"tool_use","name":"NotebookEdit","input":{"notebook_path":"/c"}},{"type":"tool_use","name":"Bash","input":{"command":"cat ./d"}},` +
		`{"type":"tool_use","name":"Grep","input":{"path":"/e","pattern":"fooBar"}},{"type":"tool_use","name":"mcp__terminus__recall_search","input":{"query":"f/g.go","paths":["/h"]}}` + tail)
	if want := []string{"/a", "/c"}; !slices.Equal(f.FilesModified, want) {
		t.Errorf("modified: %q", f.FilesModified)
	}
	if want := []string{"./d", "/b", "/e", "/h", "f/g.go"}; !slices.Equal(f.FilesRead, want) {
		t.Errorf("read: %q", f.FilesRead)
	}
	if want := []string{"cat ./d"}; !slices.Equal(f.Commands, want) {
		t.Errorf("commands: %q", f.Commands)
	}
}

// A turn names at most 48 things for search; what its session did has no such bound.
func TestATurnThatNamesManyFilesIsListedWhole(t *testing.T) {
	var calls []string
	for i := range maxEntries {
		calls = append(calls, fmt.Sprintf(`{"type":"tool_use","name":"Read","input":{"file_path":"/f/%02d"}}`, i))
	}
	f := collect(head + strings.Join(calls, ",") + tail)
	if len(f.FilesRead) != maxEntries || len(f.Truncated) > 0 {
		t.Errorf("%d files, cut: %q", len(f.FilesRead), f.Truncated)
	}
}

func TestTheClientsOwnMachineryIsNoFact(t *testing.T) {
	c := collector{}
	c.turn(&transcript.Turn{Unindexed: true, Mentions: []transcript.Mention{{Origin: transcript.ShellLine, Text: []byte("make")}}})
	if f := c.facts(); len(f.Commands) > 0 {
		t.Errorf("commands: %q", f.Commands)
	}
}

// Whatever a record holds, its facts keep their bounds, and come back from the column
// as they went in.
func FuzzFacts(f *testing.F) {
	f.Add([]byte(head + `{"type":"tool_use","name":"Bash","input":{"command":"git commit -m \"$(cat <<'E'\nx"}}` + tail))
	f.Add([]byte(head + `{"type":"tool_use","name":"Edit","input":{"file_path":"` + strings.Repeat("é/", 400) + `"}}` + tail))
	f.Add([]byte(`{"type":"user","uuid":"u","timestamp":"t","message":{"content":[{"type":"tool_result","is_error":true,"content":"\ud800 failed"}]},"toolUseResult":{"filePath":"x"}}`))
	f.Add([]byte(corpus.ToolUse("t", "Bash", `{"command":"cat ./a ./b"}`)))
	f.Add([]byte(corpus.Compact("auto", "u")))
	f.Fuzz(func(t *testing.T, record []byte) {
		got := collect(string(record))
		for _, l := range [][]string{got.FilesRead, got.FilesModified, got.Tools, got.Commands, got.Errors, got.Commits} {
			if len(l) > maxEntries || !slices.IsSorted(l) || len(slices.Compact(slices.Clone(l))) != len(l) {
				t.Fatalf("%q", l)
			}
			for _, v := range l {
				if len(v) > maxValue+len(cutMark) || len(v) > maxValue && !strings.HasSuffix(v, cutMark) || v == "" || !utf8.ValidString(v) {
					t.Fatalf("%q", v)
				}
			}
		}
		text, err := encode(got)
		if err != nil {
			t.Fatal(err)
		}
		back, ok := Decode([]byte(text))
		if again, err := encode(back); !ok || err != nil || again != text {
			t.Fatalf("%s becomes %s, %v, %v", text, again, ok, err)
		}
	})
}

// Words never fail, and hold nothing that the command does not.
func FuzzCommit(f *testing.F) {
	f.Add("git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\"")
	f.Add(`git commit -m 'a' "b`)
	f.Fuzz(func(t *testing.T, command string) {
		subject := commitSubject([]byte(command))
		if subject != strings.TrimSpace(subject) || len(subject) > len(command) {
			t.Fatalf("%q", subject)
		}
		if subject != "" && (!strings.Contains(command, "git") || !strings.Contains(command, "-m") && !strings.Contains(command, "message") &&
			!strings.ContainsAny(command, "\"'\\")) {
			t.Fatalf("%q is no commit", command)
		}
	})
}
