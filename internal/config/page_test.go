package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

const pagePath = "../../docs/configuration.md"

// The page's example is a configuration that is read as the page says, and its
// table and its example name the same keys.
func TestThePageShowsAConfigurationThatIsRead(t *testing.T) {
	text, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n```toml\n")
	example, _, closed := strings.Cut(rest, "\n```\n")
	if !ok || !closed {
		t.Fatal("the page has no example")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	e := Environ{Home: home, GOOS: "linux", Get: func(name string) string {
		return map[string]string{envConfigDir: dir, envDataDir: dir}[name]
	}}
	c, err := Load(e)
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	quiet, forGood := filepath.Join(home, "src", "quiet"), filepath.Join(home, "src", "for-good")
	for _, part := range []struct {
		name      string
		got, want any
	}{
		{"roots", c.ClaudeRoots, []string{"/home/me/.claude", "/srv/shared/claude"}},
		{"exclude", c.Exclude.Covers(filepath.Join(home, "private", "x")) && !c.Exclude.Covers(home), true},
		{"harness", c.Harness, map[string]HarnessConfig{"claude": {Enabled: &yes}, "codex": {Enabled: &yes, Roots: []string{"/home/me/work/.codex"}}}},
		{"privacy", c.Privacy, Privacy{}},
		{"injection", c.Injection, Injection{
			Enabled: true, BriefChars: 3000, PromptChars: 2000, Projects: map[string]bool{quiet: false},
		}},
		{"capture", c.Capture, Capture{Mode: CaptureFull}},
		{"retention", c.Retention, Retention{
			Rule: Rule{Evict, 365}, Projects: map[string]Rule{forGood: {Keep, 0}},
		}},
		{"snapshot", c.Snapshot, Snapshot{Enabled: true, IntervalHours: 12, Keep: 7}},
	} {
		if !reflect.DeepEqual(part.got, part.want) {
			t.Errorf("%s: %+v, want %+v", part.name, part.got, part.want)
		}
	}

	shown := exampleKeys(t, example)
	for _, key := range tableKeys(string(text)) {
		if !shown[key] && key != "retention.project.*.age_days" {
			t.Errorf("the example lacks %s", key)
		}
		delete(shown, key)
	}
	for key := range shown {
		t.Errorf("the table lacks %s", key)
	}
}

// exampleKeys are the keys of a document, with a star for what the user chooses.
func exampleKeys(t *testing.T, document string) map[string]bool {
	t.Helper()
	var all map[string]any
	md, err := toml.Decode(document, &all)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, key := range md.Keys() {
		if strings.HasPrefix(md.Type(key...), "Hash") {
			continue
		}
		key = slices.Clone(key)
		for i := 1; i < len(key)-1; i++ {
			if key[i-1] == "project" || key[i-1] == "harness" {
				key[i] = "*"
			}
		}
		keys[strings.Join(key, ".")] = true
	}
	return keys
}

var (
	keyRow  = regexp.MustCompile("(?m)^\\| (`[a-z_.<>\"`, ]+`) \\| [^|]*\\| [^|]*\\| [^|]*\\| (?:yes|no) \\|$")
	keyName = regexp.MustCompile("`([^`]+)`")
)

// tableKeys are the keys that the page's table lists, in the same form. A key
// that begins with a dot has the beginning of the one before it.
func tableKeys(text string) []string {
	var keys []string
	for _, row := range keyRow.FindAllStringSubmatch(text, -1) {
		last := ""
		for _, m := range keyName.FindAllStringSubmatch(row[1], -1) {
			key := strings.NewReplacer(`"<path>"`, "*", "<id>", "*").Replace(m[1])
			if strings.HasPrefix(key, ".") {
				key = last[:strings.LastIndex(last, ".")] + key
			}
			last = key
			keys = append(keys, key)
		}
	}
	return keys
}
