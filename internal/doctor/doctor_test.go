package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/ingest"
)

// names are the contract's, in its order.
var names = []string{
	"binary", "settings_file", "hook_SessionStart", "hook_UserPromptSubmit", "hook_SessionEnd", "hook_PostCompact", "mcp_server",
	"claude_code", "config_roots", "data_directory", "store", "last_run", "cleanup_period_days", "auto_compact",
}

func TestEveryRunHasTheSameChecks(t *testing.T) {
	home := t.TempDir()
	nowhere := config.Environ{GOOS: runtime.GOOS}
	fresh := config.Environ{GOOS: runtime.GOOS, Home: home, WorkDir: home, Get: func(name string) string {
		if name == "LOCALAPPDATA" || name == "APPDATA" {
			return filepath.Join(home, name)
		}
		return ""
	}}
	for name, report := range map[string]Report{
		"without an environment": Run(context.Background(), Options{Environ: nowhere, Exe: "/t", Version: "1", Now: time.Now()}),
		"on a fresh machine":     Run(context.Background(), Options{Environ: fresh, Exe: "/t", Version: "1", Now: time.Now()}),
		"that could not begin":   Unrun("why"),
	} {
		var got []string
		for _, e := range report {
			got = append(got, e.Name)
			if e.Finding.Finding == "" {
				t.Errorf("%s: %s says nothing", name, e.Name)
			}
			if (e.State == OK || e.State == Unknown) && e.Fix != nil {
				t.Errorf("%s: %s is %s, and has the fix %q", name, e.Name, e.State, *e.Fix)
			}
		}
		if strings.Join(got, " ") != strings.Join(names, " ") {
			t.Errorf("%s: %v", name, got)
		}
		if len(report.Data()) != len(names) {
			t.Errorf("%s: the data has %d keys", name, len(report.Data()))
		}
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("looking made %v, %v", entries, err)
	}
}

func TestVersionsAreComparedByNumbers(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"2.1.227", "2.1.227", 0},
		{"2.1.99", "2.1.227", -1},
		{"2.2", "2.1.227", 1},
		{"2.1", "2.1.0", 0},
		{"2.1.227-beta", "2.1.227", 0},
		{"10.0", "9.9", 1},
		{"2.x.1", "2.0.1", 0},
		{"2.1.99999999999999999999", "2.1.227", 1},
	} {
		got := compareVersions(tc.a, tc.b)
		if got < 0 != (tc.want < 0) || got > 0 != (tc.want > 0) {
			t.Errorf("%s and %s: %d", tc.a, tc.b, got)
		}
	}
	for word, want := range map[string]bool{"2.1": true, "v2.1": false, "2": false, "": false, ".": false, "hello": false} {
		if isVersion(word) != want {
			t.Errorf("%q", word)
		}
	}
}

func TestCommandsAreQuotedForTheirShell(t *testing.T) {
	for _, tc := range []struct{ path, goos, want string }{
		{"/home/you/.local/bin/terminus", "linux", "/home/you/.local/bin/terminus install"},
		{"/my bin/it's", "linux", `'/my bin/it'\''s' install`},
		{`C:\Programs\terminus.exe`, windows, `C:\Programs\terminus.exe install`},
		{`C:\my bin\it's.exe`, windows, `& 'C:\my bin\it''s.exe' install`},
		{"", "linux", "'' install"},
	} {
		if got := call(tc.path, tc.goos, "install"); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
}

func TestAnErrorIsCutBetweenCharacters(t *testing.T) {
	for text, want := range map[string]string{"": "", "short": "short", "aéb": "a", "ééé": "é"} {
		limit := 2
		if text == "short" {
			limit = 5
		}
		if got := cut(text, limit); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func standing(path string, written time.Time, archived bool) ingest.Standing {
	s := ingest.Standing{Transcript: harness.Transcript{Path: path}, Archived: archived}
	s.Transcript.Stat.Mtime = written.UnixNano()
	return s
}

func TestWhatTheNextSweepDeletes(t *testing.T) {
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	ago := func(days float64) time.Time { return now.Add(-time.Duration(days * float64(24*time.Hour))) }
	for name, tc := range map[string]struct {
		all  []ingest.Standing
		days float64
		want string
	}{
		"nothing":  {nil, 30, "x"},
		"none due": {[]ingest.Standing{standing("a", ago(29), true)}, 30, "x; the first transcript to go is a, on 2026-09-02 (archived)"},
		"one": {
			[]ingest.Standing{standing("a", ago(31), false), standing("b", ago(1), false)},
			30,
			"x; the next sweep deletes 1 transcript, none archived: a (last written 2026-08-01, not archived)",
		},
		"half a day": {[]ingest.Standing{standing("a", ago(1.6), true)}, 1.5, "x; the next sweep deletes 1 transcript, all archived: a (last written 2026-08-30, archived)"},
		"for ever":   {[]ingest.Standing{standing("a", ago(999), true)}, 1e300, "x"},
	} {
		if got := due(ok("x"), tc.all, now, tc.days); got.Finding != tc.want || got.State != OK {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAProgramThatDoesNotEndIsNotWaitedFor(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no shell")
	}
	start := time.Now()
	// The child holds the output open longer than its parent lives.
	said, err := output(context.Background(), time.Minute, nil, "/bin/sh", "-c", "echo 1.0; sleep 60 & exit 0")
	if string(said) != "1.0\n" || err != nil {
		t.Errorf("%q, %v", said, err)
	}
	if _, err := output(context.Background(), 50*time.Millisecond, nil, "/bin/sh", "-c", "sleep 60"); !errors.Is(err, errTooLong) {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if said, err := output(context.Background(), time.Minute, nil, "/bin/sh", "-c", "yes | head -c 1000000"); err != nil || len(said) != maxOutput {
		t.Errorf("%d bytes, %v", len(said), err)
	}
	if _, err := output(context.Background(), time.Minute, nil, filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// A trace is of the event and of a run that ended; whatever the transcript holds,
// and wherever it is cut, nothing else is taken for one.
func FuzzTrace(f *testing.F) {
	record := `{"attachment":{"type":"hook_success","hookEvent":"SessionStart","command":"/t hook SessionStart","durationMs":5},"timestamp":"2026-08-12T21:00:00.000Z","cwd":"/w"}`
	f.Add([]byte(record + "\n" + record[:50]))
	f.Add([]byte(strings.Replace(record, "5}", "1e999}", 1)))
	f.Add([]byte(`{"attachment":{"hookEvent":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, found := lastTrace(data, "SessionStart", "/t")
		if !found && got != (trace{}) {
			t.Fatalf("%+v without a run", got)
		}
		if found && !strings.Contains(string(data), "/t") && !strings.Contains(string(data), `\u`) && !strings.Contains(string(data), `\/`) {
			t.Fatalf("%+v out of %q", got, data)
		}
		more, found := lastTrace(append(append(data, '\n'), record...), "SessionStart", "/t")
		if want := (trace{at: "2026-08-12T21:00:00.000Z", dir: "/w", ms: 5}); !found || more != want {
			t.Fatalf("the last run is %+v", more)
		}
	})
}

// What a server says counts tools or is an error.
func FuzzCountTools(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{},{}]}}`)
	f.Add(`{"id":2,"result":[]}` + "\n" + `{"id":"2","result":{"tools":[1]}}`)
	f.Fuzz(func(t *testing.T, said string) {
		if n, err := countTools(said); (n > 0) == (err != nil) {
			t.Fatalf("%d tools, %v", n, err)
		}
	})
}

// Versions of any form are compared without a preference for a side.
func FuzzCompareVersions(f *testing.F) {
	f.Add("2.1.227", "2.1.99-beta")
	f.Add("", "..")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := compareVersions(a, b), compareVersions(b, a)
		if x < 0 != (y > 0) || compareVersions(a, a) != 0 {
			t.Fatalf("%q and %q: %d, %d", a, b, x, y)
		}
		if c := cut(a, 3); !strings.HasPrefix(a, c) || utf8.ValidString(a) && !utf8.ValidString(c) {
			t.Fatalf("%q is cut to %q", a, c)
		}
	})
}
