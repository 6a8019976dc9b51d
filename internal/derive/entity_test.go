package derive

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/transcript"
)

func mention(o transcript.Origin, text string) transcript.Mention {
	return transcript.Mention{Origin: o, Text: []byte(text)}
}

// show writes entities as one line: kind:value, parted by spaces and bars.
func show(entities []Entity) string {
	var out []string
	for _, e := range entities {
		out = append(out, e.Kind+":"+e.Value)
	}
	return strings.Join(out, " | ")
}

func TestPathsAreTrimmedAndNothingElse(t *testing.T) {
	for in, want := range map[string]string{
		"src/a.go":           "src/a.go",
		"src":                "src",
		"  src/a.go\n":       "src/a.go",
		`"src/a b.go"`:       "src/a b.go",
		`'src/a.go'`:         "src/a.go",
		`"src/a.go`:          `"src/a.go`,
		`"src/a.go'`:         `"src/a.go'`,
		`""a""`:              `"a"`,
		"a.go:42":            "a.go",
		"a.go:42:7":          "a.go",
		"a.go:1:2:3":         "a.go:1",
		"a.go:":              "a.go:",
		"a.go:x":             "a.go:x",
		":42":                ":42",
		"1:2":                "1",
		"42":                 "42",
		"./a/../b":           "./a/../b",
		"~/notes.md":         "~/notes.md",
		`C:\src\a.go:10`:     `C:\src\a.go`,
		"/src/Ünïcode/日本.md": "/src/Ünïcode/日本.md",
		"":                   "",
		`""`:                 "",
		"   ":                "",
	} {
		if got := PathValue(in); got != want {
			t.Errorf("PathValue(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestProgramOfACommand(t *testing.T) {
	for in, want := range map[string]string{
		"cargo build":                   "cargo",
		"RUST_LOG=debug cargo build":    "cargo",
		"A=1 _b2=x make":                "make",
		"2A=1 make":                     "2A=1",
		"A-B=1 make":                    "A-B=1",
		"=x make":                       "=x",
		"sudo apt update":               "sudo",
		"/usr/bin/env python3 x":        "env",
		"cd a && make":                  "cd",
		`"/opt/my tool" x`:              "my",
		`"/opt/tool" x`:                 "tool",
		`'A=1' x`:                       "x",
		`C:\bin\rg.exe x`:               "rg.exe",
		"bin/ make":                     "",
		"/ make":                        "",
		`"" make`:                       "make",
		`MSG="two words" git commit`:    `words"`,
		"(cd /a && ls)":                 "(cd",
		"\n\tgit\n  status":             "git",
		"A=1":                           "",
		"":                              "",
		"ls|wc":                         "ls|wc",
		"\u00a0git\u2003status":         "git",
		"DIR=$(mktemp -d) run":          "-d)",
		"./scripts/deploy.sh --no-wait": "deploy.sh",
	} {
		if got := string(program([]byte(in))); got != want {
			t.Errorf("program(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPathWordsOfACommand(t *testing.T) {
	for in, want := range map[string]string{
		"cargo test 2>/dev/null":         "/dev/null",
		"(cd /a/b && ls) | wc -l":        "/a/b",
		`git commit -m "fix /a/b"`:       "/a/b",
		"rm src/*.rs":                    "",
		"cp src/{a,b}.rs /tmp":           "/tmp",
		"cat $(dirname a/b)/c":           "a/b /c",
		"rg x --glob a/b.rs":             "a/b.rs",
		"rg x --glob=a/b.rs":             "",
		"A=a/b make":                     "",
		"curl https://a.b/c":             "",
		"ls a/?":                         "",
		"cat `which a/b`":                "",
		"vim src/a.go:42":                "src/a.go",
		`cat "a/b" 'c/d' "e/f`:           "a/b c/d e/f",
		"cat a/b;cat c/d&cat<e/f>g/h":    "a/b c/d e/f g/h",
		`type C:\src\a.go`:               `C:\src\a.go`,
		"echo no path here":              "",
		"and/or":                         "and/or",
		"a/b a/b":                        "a/b a/b",
		"cat src/worker/S.ts,src/b.ts":   "src/worker/S.ts,src/b.ts",
		"diff <(sort a/b) >(tee c/d)":    "a/b c/d",
		"\u00a0a/b\u3000c/d":             "a/b c/d",
		`""/""`:                          "/",
		`"`:                              "",
		"node -e 'x' && rm -rf ./build/": "./build/",
	} {
		var got []string
		for w := range pathWords([]byte(in)) {
			got = append(got, string(w))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("path words of %q: %q, want %q", in, got, want)
		}
	}
}

func TestIdentifierShapedWords(t *testing.T) {
	for in, want := range map[string]string{
		"SearchManager":                "SearchManager",
		"retryBudget":                  "retryBudget",
		"search_manager":               "search_manager",
		"READMEs":                      "READMEs",
		"2_000":                        "2_000",
		"S3Client":                     "S3Client",
		"HTTPServer":                   "HTTPServer",
		"_fooBar":                      "_fooBar",
		"Search":                       "",
		"README":                       "",
		"block":                        "",
		"_leading":                     "",
		"trailing_":                    "",
		"a__b":                         "",
		"__init__":                     "",
		"_":                            "",
		"v2":                           "",
		"_Foo":                         "",
		"a__B":                         "",
		"func (s *Store) loadBlock()":  "loadBlock",
		"max_size=minSize;x.y_z":       "max_size minSize y_z",
		"überGröße straße_länge Größe": "überGröße straße_länge",
		"項目_評審 項目":                     "項目_評審",
		"error.code_1-two_3":           "code_1 two_3",
		"":                             "",
	} {
		var got []string
		for w := range identifiers([]byte(in)) {
			got = append(got, string(w))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("identifiers of %q: %q, want %q", in, got, want)
		}
	}
}

func TestErrorsLoseWhatDiffersFromOneTimeToTheNext(t *testing.T) {
	for in, want := range map[string]string{
		"panic at reader.rs:214:9":                      "panic at reader.rs:<line>",
		"panic at reader.rs:214":                        "panic at reader.rs:<line>",
		"a:1:2:3":                                       "a:<line>:<line>",
		"localhost:8080 refused":                        "localhost:<line> refused",
		"at 10:20:30 it broke":                          "at 10:<line> it broke",
		"a :42 b":                                       "a :42 b",
		"a:42x":                                         "a:42x",
		"a:42:7x":                                       "a:<line>:7x",
		"2026-08-12T21:00:00 x":                         "<ts> x",
		"2026-08-12T21:00:00.123Z x":                    "<ts> x",
		"2026-08-12T21:00:00+02 x":                      "<ts> x",
		"2026-08-12T21:00:00-02:30 x":                   "<ts> x",
		"2026-08-12T21:00:00. x":                        "2026-08-12T21:<line>. x",
		"2026-08-12T21:00:00+0200 x":                    "2026-08-12T21:<line>+0200 x",
		"2026-08-12T21:00:00+ x":                        "2026-08-12T21:<line>+ x",
		"x2026-08-12T21:00:00Z":                         "x2026-08-12T21:<line>:00Z",
		"2026-08-12T21:00:00Zx":                         "2026-08-12T21:<line>:00Zx",
		"(2026-08-12T21:00:00Z)":                        "(<ts>)",
		"id 10000000-0000-4000-8000-00000000000A gone":  "id <uuid> gone",
		"id 10000000-0000-4000-8000-0000000000001 gone": "id 10000000-0000-4000-8000-0000000000001 gone",
		"at 0x7ffdead0 and 0xG":                         "at <addr> and 0xG",
		"fix0xff and 0xff":                              "fix0xff and <addr>",
		"0x":                                            "0x",
		"7 previous errors":                             "7 previous errors",
		"exit code 2, version 1.2.3":                    "exit code 2, version 1.2.3",
		"  many\t\n  blanks\u00a0\u3000here  ":          "many blanks here",
		"":                                              "",
		" \n\t":                                         "",
		"é:42 ü0xff":                                    "é:42 ü<addr>",
		strings.Repeat("x", 600):                        strings.Repeat("x", 512),
		strings.Repeat("é", 300):                        strings.Repeat("é", 256),
		strings.Repeat("x", 511) + "é":                  strings.Repeat("x", 511),
		strings.Repeat("x", 511) + " y":                 strings.Repeat("x", 511),
		strings.Repeat("0x1f ", 200):                    strings.TrimSpace(strings.Repeat("<addr> ", 73)) + " <",
		"error[E0308]: mismatched\n --> src/lib.rs:10:5\n  |\n10": "error[E0308]: mismatched --> src/lib.rs:<line> | 10",
	} {
		if got := string(normalError([]byte(in))); got != want {
			t.Errorf("normalError(%.60q) = %q, want %q", in, got, want)
		}
	}
	if a, b := normalError([]byte("7 previous errors")), normalError([]byte("9 previous errors")); bytes.Equal(a, b) {
		t.Error("different counts are one error")
	}
	one := "thread 'main' (0x7f01) panicked at src/a.rs:10:5 2026-08-12T21:00:00Z 10000000-0000-4000-8000-000000000001"
	other := "thread 'main' (0x7fff) panicked at src/a.rs:99 2027-01-01T01:02:03.5+01:00 20000000-0000-4000-8000-000000000001"
	if a, b := normalError([]byte(one)), normalError([]byte(other)); !bytes.Equal(a, b) {
		t.Errorf("one panic is two errors: %q, %q", a, b)
	}
}

func TestEntitiesInWalkOrder(t *testing.T) {
	got := show(Entities([]transcript.Mention{
		mention(transcript.ToolName, "Bash"),
		mention(transcript.FilePath, " 'src/a.go:12' "),
		mention(transcript.ShellLine, "make -C build/x all"),
		mention(transcript.Identifiers, "loadBlock loadBlock"),
		mention(transcript.RecallQuery, "src/b.go retryBudget"),
		mention(transcript.Failure, "exit  0x1"),
		mention(transcript.FilePath, "src/a.go"),
		mention(transcript.FilePath, ""),
	}))
	want := "tool:Bash | path:src/a.go | command:make | path:build/x | symbol:loadBlock | symbol:retryBudget | path:src/b.go | error:exit <addr>"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if Entities(nil) != nil {
		t.Error("entities of nothing")
	}
}

func TestATurnKeepsItsFirst48Entities(t *testing.T) {
	var b strings.Builder
	b.WriteString("ls")
	for i := range 144 {
		fmt.Fprintf(&b, " d/%d", i)
	}
	got := Entities([]transcript.Mention{mention(transcript.ToolName, "Bash"), mention(transcript.ShellLine, b.String()), mention(transcript.FilePath, "z")})
	if len(got) != 48 || got[0] != (Entity{KindTool, "Bash"}) || got[1] != (Entity{KindCommand, "ls"}) || got[47] != (Entity{KindPath, "d/45"}) {
		t.Errorf("%d entities, the last %v", len(got), got[len(got)-1])
	}
}

func TestAValueTooLongToBeANameIsLeftOut(t *testing.T) {
	long := "a/" + strings.Repeat("b", maxValue)
	got := Entities([]transcript.Mention{
		mention(transcript.FilePath, long), mention(transcript.FilePath, long[:maxValue]), mention(transcript.ShellLine, "cat "+long+" c/d"),
	})
	if want := "path:" + long[:maxValue] + " | command:cat | path:c/d"; show(got) != want {
		t.Errorf("%d entities", len(got))
	}
}

func FuzzEntities(f *testing.F) {
	for _, s := range []string{"a/b:1 'c' fooBar $x", "A=1 \"\" / \\ ; a__b", "2026-08-12T21:00:00.1Z 0xf :1:2", "\u00a0項目_評審 é́"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "\ufffd") // a scanner gives nothing else
		var mentions []transcript.Mention
		for o := transcript.ToolName; o <= transcript.Failure; o++ {
			mentions = append(mentions, mention(o, s))
		}
		got := Entities(mentions)
		if len(got) > maxEntities {
			t.Fatalf("%d entities", len(got))
		}
		for i, e := range got {
			limit := maxValue
			if e.Kind == KindError {
				limit = maxError
			}
			if e.Value == "" || len(e.Value) > limit || !utf8.ValidString(e.Value) || slices.Contains(got[:i], e) {
				t.Fatalf("entity %d is %q", i, e)
			}
			if e.Kind == KindSymbol && !strings.Contains(s, e.Value) {
				t.Fatalf("symbol %q is not in the text", e.Value)
			}
		}
		once := normalError([]byte(s))
		if bytes.ContainsAny(once, "\n\t\r") || bytes.Contains(once, []byte("  ")) || !bytes.Equal(once, bytes.TrimSpace(once)) {
			t.Fatalf("error %q", once)
		}
		if twice := normalError(once); len(once) < maxError-utf8.UTFMax && !bytes.Equal(once, twice) {
			t.Fatalf("error %q becomes %q", once, twice)
		}
	})
}
