package config

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// load reads a configuration with content in terminus.toml.
func load(t *testing.T, content string, vars map[string]string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, FileName), content)
	all := map[string]string{"TERMINUS_CONFIG_DIR": dir, "TERMINUS_DATA_DIR": filepath.Join(dir, "data")}
	for k, v := range vars {
		all[k] = v
	}
	return Load(environ("linux", abs("/home/u"), all))
}

func TestLoadWithoutAFileGivesDefaults(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "config.toml"), "exclude = 1") // never read
	e := environ("linux", abs("/home/u"), map[string]string{"TERMINUS_CONFIG_DIR": dir})
	got, err := Load(e)
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		DataDir: abs("/home/u/.local/share/terminus"), ConfigDir: dir, File: filepath.Join(dir, FileName),
		WorkDir: e.WorkDir, Home: e.Home,
		ClaudeRoots: []string{abs("/home/u/.claude")},
		Exclude:     &Exclusions{},
		Injection:   Injection{Enabled: true, BriefChars: 6000, PromptChars: 4000, Projects: map[string]bool{}},
		Capture:     Capture{Mode: CaptureFull},
		Retention:   Retention{Rule: Rule{Action: Keep}, Projects: map[string]Rule{}},
		Snapshot:    Snapshot{Enabled: true, IntervalHours: 24, Keep: 3},
		Harness:     map[string]HarnessConfig{},
	}
	got.Environ = Environ{} // a function is equal to none
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := os.Stat(got.DataDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was created: %v", err)
	}
}

func TestLoadReadsEveryKey(t *testing.T) {
	c, err := load(t, `
roots = ["/a", "", "~/b"]
exclude = ["~/private/", "/x/./y/../z", "relative", "", "/x/z"]
[injection]
enabled = false
brief_chars = 10
prompt_chars = 0
[injection.project."~/on"]
enabled = true
[injection.project."~/says/nothing"]
[injection.project."relative"]
enabled = true
[capture]
mode = " Lean "
[privacy]
redact_recall = true
[retention]
action = "EVICT"
age_days = 30
[retention.project."~/w"]
action = "delete"
age_days = 5000000000
[retention.project."~/w/kept"]
[snapshot]
enabled = false
interval_hours = 6
keep = 7
[harness.codex]
enabled = false
roots = ["/c"]
[harness.pi]
[provider]
model = 3
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	no := false
	for name, tc := range map[string]struct{ got, want any }{
		"roots":     {c.ClaudeRoots, []string{onDrive("/a"), abs("/home/u/~/b")}},
		"exclude":   {c.Exclude.List(), []string{abs("/home/u/private"), filepath.FromSlash("/x/z")}},
		"injection": {c.Injection, Injection{Enabled: false, BriefChars: 10, PromptChars: 0, Projects: map[string]bool{abs("/home/u/on"): true}}},
		"capture":   {c.Capture.Mode, CaptureLean},
		"privacy":   {c.Privacy.RedactRecall, true},
		"retention": {c.Retention, Retention{Rule: Rule{Evict, 30}, Projects: map[string]Rule{
			abs("/home/u/w"): {Delete, math.MaxUint32}, abs("/home/u/w/kept"): {Keep, 0},
		}}},
		"snapshot": {c.Snapshot, Snapshot{Enabled: false, IntervalHours: 6, Keep: 7}},
		"harness":  {c.Harness, map[string]HarnessConfig{"codex": {Enabled: &no, Roots: []string{onDrive("/c")}}, "pi": {}}},
	} {
		if !reflect.DeepEqual(tc.got, tc.want) {
			t.Errorf("%s: got %+v, want %+v", name, tc.got, tc.want)
		}
	}
}

func TestLoadMovesValuesIntoTheirRange(t *testing.T) {
	c, err := load(t, `
capture.mode = "everything"
snapshot = { interval_hours = 0, keep = 0 }
[retention]
action = "burn"
age_days = -3
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Capture.Mode != CaptureFull || c.Retention.Rule != (Rule{Keep, 0}) || c.Snapshot != (Snapshot{true, 24, 1}) {
		t.Errorf("%+v", c)
	}
	c, err = load(t, "[snapshot]\ninterval_hours = 9223372036854775807\nkeep = 9223372036854775807", nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Duration(c.Snapshot.IntervalHours) * time.Hour; d <= 0 || c.Snapshot.Keep != math.MaxInt {
		t.Errorf("%+v", c.Snapshot)
	}
}

func TestLoadIgnoresUnknownKeysAndTheCaseOfKnownOnes(t *testing.T) {
	c, err := load(t, "Exclude = 1\nnew = [[1], {a = 2}]\n[Injection]\nbrief_chars = \"x\"\n[injection]\nBRIEF_CHARS = -1\n[[later]]\n", nil)
	if err != nil || c.Injection.BriefChars != 6000 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestLoadRefusesWhatIsNotAsItShouldBe(t *testing.T) {
	for _, tc := range []struct {
		content string
		line    string // after the file's path
		says    string
	}{
		{"\n\nroots = \"/a\"", ":3:", "roots: want a list of strings, found a string"},
		{"roots = [\"/a\", 1]", ":1:", "roots"},
		{"exclude = 1", ":1:", "exclude"},
		{"exclude = [[\"/a\"]]", ":1:", "exclude"},
		{"[[exclude]]\na = 1", ":1:", "exclude"},
		{"injection = true", ":1:", "injection: want a table, found true"},
		{"[[injection]]", ":1:", "injection"},
		{"[injection]\nbrief_chars = -1", ":2:", "injection.brief_chars: want a whole number of 0 or more, found -1"},
		{"[injection]\nprompt_chars = 4e3", ":2:", "injection.prompt_chars"},
		{"injection.prompt_chars = \"4000\"", ":1:", "injection.prompt_chars"},
		{"[injection]\nenabled = \"yes\"", ":2:", "injection.enabled: want true or false"},
		{"[injection.project]\n\"/a\" = false", ":2:", "injection.project.\"/a\": want a table"},
		{"[injection.project.\"rel\"]\nenabled = 1", ":2:", "enabled"},
		{"[capture]\nmode = 1979-05-27", ":2:", "capture.mode: want a string, found a date or time"},
		{"[privacy]\nredact_recall = 1", ":2:", "privacy.redact_recall"},
		{"[retention]\naction = [\"keep\"]", ":2:", "retention.action"},
		{"[retention]\nage_days = 1.5", ":2:", "retention.age_days: want a whole number, found"},
		{"[retention]\nage_days = 99999999999999999999", ":2:", ""},
		{"[retention.project.\"/a\"]\nage_days = true", ":2:", "retention.project.\"/a\".age_days"},
		{"snapshot = {keep = \"3\"}", ":1:", "snapshot.keep"},
		{"[snapshot]\ninterval_hours = -1", ":2:", "snapshot.interval_hours"},
		{"[harness]\ncodex = false", ":2:", "harness.codex"},
		{"[harness.codex]\nroots = \"/c\"", ":2:", "harness.codex.roots"},
		{"a = 1\nroots = [", ":2:", ""},
		{"a = 1\na = 2", ":2:", ""},
		{"a = \"\xff\"", "", ""},
		{"[provider]\napi_key = \"s3cret", ":2:", "not valid TOML"},
		{"[provider]\napi_key = s3cret", ":2:", "not valid TOML"},
		{strings.Repeat("#", maxFile+1), ":", "larger"},
	} {
		c, err := load(t, tc.content, nil)
		if err == nil {
			t.Errorf("%.60q: loaded %+v", tc.content, c)
			continue
		}
		at := FileName + tc.line
		if msg := err.Error(); !strings.Contains(msg, at) || !strings.Contains(msg, tc.says) || strings.Contains(msg, "s3cret") || strings.Contains(msg, "\n") {
			t.Errorf("%.60q: %q does not say %q and %q on one line", tc.content, msg, at, tc.says)
		}
	}
}

func TestLoadRefusesAFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	mkdir(t, filepath.Join(dir, FileName))
	_, err := Load(environ("linux", abs("/home/u"), map[string]string{"TERMINUS_CONFIG_DIR": dir}))
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, FileName)) {
		t.Errorf("%v", err)
	}
}

func TestClaudeRootsInOrderOfAuthority(t *testing.T) {
	env := map[string]string{"CLAUDE_CONFIG_DIR": "/one:/dir"}
	for _, tc := range []struct {
		name, content string
		vars          map[string]string
		want          []string
	}{
		{"file", `roots = ["/b", "/a", "/b"]`, env, []string{onDrive("/b"), onDrive("/a"), onDrive("/b")}},
		{"file over the harness's own table", "roots = [\"/a\"]\n[harness.claude]\nroots = [\"/h\"]", env, []string{onDrive("/a")}},
		{"the harness's own table", "[harness.claude]\nroots = [\"/h\"]", env, []string{onDrive("/h")}},
		{"variable names one directory", "roots = []", env, []string{onDrive("/one:/dir")}},
		{"relative in the file", `roots = ["a/../b", "."]`, nil, []string{abs("/home/u/b"), abs("/home/u")}},
		{"relative in the harness's own table", "[harness.claude]\nroots = [\"h\"]", nil, []string{abs("/home/u/h")}},
		{"relative in the variable", "", map[string]string{"CLAUDE_CONFIG_DIR": "claude"}, []string{abs("/home/u/claude")}},
		{"home is not expanded", `roots = ["~/b", "~"]`, nil, []string{abs("/home/u/~/b"), abs("/home/u/~")}},
		{"empty strings are unset", `roots = [""]`, nil, []string{abs("/home/u/.claude")}},
	} {
		c, err := load(t, tc.content, tc.vars)
		if err != nil || !reflect.DeepEqual(c.ClaudeRoots, tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestWhatProbablyWasMeantOtherwiseIsWarnedOf(t *testing.T) {
	work := t.TempDir()
	mkdir(t, filepath.Join(work, "~", "there"))
	dir := t.TempDir()
	e := environ("linux", abs("/home/u"), map[string]string{"TERMINUS_CONFIG_DIR": dir})
	e.WorkDir = work
	for content, want := range map[string][]string{
		"": nil,
		`roots = ["/missing", "missing", "~/there"]`: nil,
		`exclude = ["~", "~/x", "/y"]`:               nil,
		`roots = ["~/gone"]`: {
			`roots: "~/gone" does not exist: ~ is not expanded there, so write the path in full`,
		},
		"roots = [\"/a\"]\n[harness.pi]\nroots = [\"~p\"]\n[harness.claude]\nroots = [\"~\", \"~c\"]": {
			`harness.claude.roots: "~c" does not exist: ~ is not expanded there, so write the path in full`,
			`harness.pi.roots: "~p" does not exist: ~ is not expanded there, so write the path in full`,
		},
		"exclude = [\"~u/x\", \"/y\", \"z\\n\"]": {
			`exclude: "~u/x" excludes nothing: it is not an absolute path`,
			`exclude: "z\n" excludes nothing: it is not an absolute path`,
		},
	} {
		writeFile(t, filepath.Join(dir, FileName), content)
		c, err := Load(e)
		if err != nil || !reflect.DeepEqual(c.Warnings, want) {
			t.Errorf("%q: %q, %v, want %q", content, c.Warnings, err, want)
		}
	}
}

func TestLoadWithoutHomeNeedsRoots(t *testing.T) {
	dir := t.TempDir()
	vars := map[string]string{"TERMINUS_CONFIG_DIR": dir, "TERMINUS_DATA_DIR": dir}
	if c, err := Load(environ("linux", "", vars)); err == nil {
		t.Errorf("%+v", c)
	}
	writeFile(t, filepath.Join(dir, FileName), "roots = [\"/a\"]\nexclude = [\"~\", \"~/x\", \""+filepath.ToSlash(abs("/y"))+"\"]")
	c, err := Load(environ("linux", "", vars))
	if err != nil || !reflect.DeepEqual(c.Exclude.List(), []string{abs("/y")}) {
		t.Errorf("%v, %v", c, err)
	}
}

func TestInjectionCanBeSwitchedOffAtEveryLevel(t *testing.T) {
	const content = "[injection.project.\"/a\"]\nenabled = false\n[injection.project.\"/a/b\"]\nenabled = true"
	c, err := load(t, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	for project, want := range map[string]bool{"": true, "/x": true, "/a": false, "/a/c": false, "/a/b": true, "/a/b/c": true, "/a-b": true} {
		if got := c.Injection.For(project); got != want {
			t.Errorf("%q: %v", project, got)
		}
	}
	for _, tc := range []struct {
		dirs []string
		want bool
	}{
		{nil, true},
		{[]string{"/x"}, true},
		{[]string{"/x", "/a/c"}, false},
		{[]string{"/a/b", "/a"}, false}, // off wins over on
		{[]string{"/a/b", "/x"}, true},
	} {
		if got := c.Injection.ForAny(tc.dirs...); got != tc.want {
			t.Errorf("%q: %v", tc.dirs, got)
		}
	}
	if off := (Injection{Projects: c.Injection.Projects}); off.ForAny("/x") || !off.ForAny("/x", "/a/b") {
		t.Error("switched off for all but one")
	}
	for _, tc := range []struct {
		value string
		want  bool
	}{{"off", false}, {" OFF ", false}, {"", true}, {"on", true}, {"0", true}} {
		c, err := load(t, content, map[string]string{"TERMINUS_RECALL": tc.value})
		if err != nil {
			t.Fatal(err)
		}
		if c.Injection.For("/a/b") != tc.want || c.Injection.ForAny("/a/b") != tc.want || c.Injection.For("") != tc.want {
			t.Errorf("TERMINUS_RECALL=%q: %+v", tc.value, c.Injection)
		}
	}
}

func TestRedactionIsDecidedByTheFileAlone(t *testing.T) {
	c, err := load(t, "", map[string]string{"RAW": "1", "TERMINUS_RAW": "1", "TERMINUS_REDACT_RECALL": "1"})
	if err != nil || c.Privacy.RedactRecall {
		t.Errorf("%v", err)
	}
}

func TestRetentionTakesTheWholeRuleOfTheNearestProject(t *testing.T) {
	c, err := load(t, "[retention]\naction = \"evict\"\nage_days = 9\n[retention.project.\"/a\"]\naction = \"delete\"\nage_days = 3\n[retention.project.\"/a/b\"]\naction = \"evict\"", nil)
	if err != nil {
		t.Fatal(err)
	}
	for project, want := range map[string]Rule{"": {Evict, 9}, "/x": {Evict, 9}, "/a/c": {Delete, 3}, "/a/b/c": {Evict, 0}} {
		if got := c.Retention.For(project); got != want {
			t.Errorf("%q: %+v", project, got)
		}
	}
	if !c.Retention.Acts() || (Retention{Rule: Rule{Evict, 0}, Projects: map[string]Rule{"/a": {Keep, 3}}}).Acts() {
		t.Error("Acts is wrong")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "roots = [\"/a\"]\nexclude = [\"~\"]", "[injection]\nenabled = false\nbrief_chars = 1",
		"[injection.project.\"/a\"]\nenabled = true", "[retention]\naction = \"evict\"\nage_days = -1",
		"[retention.project.\"~/a\"]\naction = \"delete\"", "[snapshot]\ninterval_hours = 0\nkeep = 0",
		"capture.mode = \"lean\"", "[harness.codex]\nenabled = true\nroots = []", "[provider]\napi_key = x",
		"[[injection]]", "injection = {brief_chars = 1979-05-27}", "\"\" = {\"\" = 1}", "\xef\xbb\xbf[a.b]\n'c d'=1",
	} {
		f.Add(seed)
	}
	e := environ("linux", abs("/home/u"), nil)
	f.Fuzz(func(t *testing.T, content string) {
		const file = "/c/terminus.toml"
		c, err := parse(e, file, []byte(content))
		if err != nil {
			if !strings.HasPrefix(err.Error(), file+":") {
				t.Fatalf("error names no file: %v", err)
			}
			return
		}
		again, err := parse(e, file, []byte(content))
		if err != nil || !reflect.DeepEqual(c, again) {
			t.Fatalf("read twice, two answers: %+v, %+v, %v", c, again, err)
		}
		checkRanges(t, c)
	})
}

func checkRanges(t *testing.T, c *Config) {
	t.Helper()
	if c.Injection.BriefChars < 0 || c.Injection.PromptChars < 0 {
		t.Errorf("injection: %+v", c.Injection)
	}
	if m := c.Capture.Mode; m != CaptureFull && m != CaptureLean && m != CaptureMinimal {
		t.Errorf("capture: %q", m)
	}
	if s := c.Snapshot; s.IntervalHours < 1 || time.Duration(s.IntervalHours)*time.Hour < 1 || s.Keep < 1 {
		t.Errorf("snapshot: %+v", s)
	}
	rules := []Rule{c.Retention.Rule}
	paths := c.Exclude.List()
	for path, rule := range c.Retention.Projects {
		rules, paths = append(rules, rule), append(paths, path)
	}
	for path := range c.Injection.Projects {
		paths = append(paths, path)
	}
	for _, r := range rules {
		if r.Action != Keep && r.Action != Evict && r.Action != Delete {
			t.Errorf("action: %q", r.Action)
		}
	}
	for _, path := range paths {
		if again, ok := Normalize("", path); !ok || again != path {
			t.Errorf("path is not normal: %q", path)
		}
	}
	if len(c.ClaudeRoots) == 0 {
		t.Error("no roots")
	}
}
