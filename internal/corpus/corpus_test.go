package corpus

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// tree returns for each file below dir its hash, size and modification time.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = fmt.Sprintf("%x %d %s", sha256.Sum256(data), len(data), info.ModTime().UTC())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func generate(t *testing.T, o Options) (string, Stats) {
	t.Helper()
	dir := t.TempDir()
	stats, err := Generate(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, stats
}

func TestSameOptionsGiveSameBytes(t *testing.T) {
	o := Options{Seed: 7, Bytes: 6 << 20}
	first, stats := generate(t, o)
	second, again := generate(t, o)
	if stats != again {
		t.Errorf("stats differ: %+v, %+v", stats, again)
	}
	a, b := tree(t, first), tree(t, second)
	if len(a) != len(b) {
		t.Errorf("%d files, then %d", len(a), len(b))
	}
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s: %s, then %s", name, a[name], b[name])
		}
	}
	other, _ := generate(t, Options{Seed: 8, Bytes: 6 << 20})
	for name := range tree(t, other) {
		if _, ok := a[name]; ok && strings.HasSuffix(name, ".jsonl") {
			t.Errorf("another seed has the transcript %s too", name)
		}
	}
}

// A line is what the test reads of a record.
type line struct {
	Type, Subtype, UUID, ParentUUID, Timestamp, SessionID, AgentID, PromptSource string

	IsCompactSummary bool
	Message          struct{ Content json.RawMessage }
	ToolUseResult    json.RawMessage
}

// A census is what a corpus holds.
type census struct {
	kinds, tools  map[string]int
	bytes         map[string]int64
	total         int64
	records       int64
	longest       int64
	rare          map[string]int
	typed         int
	compressed    int64
	otherScripts  int
	copiedRecords int
	seen          map[string]string
}

var toolName = regexp.MustCompile(`"type":"tool_use","id":"[^"]+","name":"([^"]+)"`)

// take reads a transcript and checks each of its lines.
func (c *census) take(t *testing.T, path string, enc *zstd.Encoder) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) == 0 || data[len(data)-1] != '\n' {
		t.Fatalf("%s does not end in a newline", path)
	}
	for rest := data; len(rest) > 0; {
		n := min(len(rest), 1<<20)
		c.compressed += int64(len(enc.EncodeAll(rest[:n], nil)))
		rest = rest[n:]
	}
	own := map[string]bool{}
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		raw := scan.Bytes()
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatalf("%s: %v in %.200s", path, err, raw)
		}
		c.records++
		c.total += int64(len(raw)) + 1
		c.longest = max(c.longest, int64(len(raw)))
		c.kinds[l.Type+l.Subtype]++
		c.bytes[l.Type] += int64(len(raw)) + 1
		if m := toolName.FindSubmatch(raw); m != nil && l.Type == "assistant" {
			c.tools[string(m[1])]++
		}
		if !strings.Contains(path, l.SessionID) {
			t.Fatalf("%s: record of session %q", path, l.SessionID)
		}
		c.takeTurn(t, path, l, raw, own)
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func (c *census) takeTurn(t *testing.T, path string, l line, raw []byte, own map[string]bool) {
	t.Helper()
	if l.UUID == "" {
		return
	}
	if !uuidForm.MatchString(l.UUID) || own[l.UUID] {
		t.Fatalf("%s: uuid %q is malformed or comes twice", path, l.UUID)
	}
	if l.ParentUUID != "" && !own[l.ParentUUID] {
		t.Fatalf("%s: parent %q comes later or never", path, l.ParentUUID)
	}
	own[l.UUID] = true
	if _, err := time.Parse(stampLayout, l.Timestamp); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if of, ok := c.seen[l.UUID]; ok && of != path {
		c.copiedRecords++
	}
	c.seen[l.UUID] = path
	if l.PromptSource != "" {
		c.typed++
	}
	if bytes.Contains(raw, []byte(Rare)) {
		c.rare[path]++
	}
	if bytes.ContainsFunc(raw, func(r rune) bool { return r >= 0x400 && r != '→' }) {
		c.otherScripts++
	}
}

func count(t *testing.T, dir string) *census {
	t.Helper()
	c := &census{
		kinds: map[string]int{}, tools: map[string]int{}, bytes: map[string]int64{},
		rare: map[string]int{}, seen: map[string]string{},
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		switch filepath.Ext(path) {
		case ".jsonl":
			c.take(t, path, enc)
		case ".json":
			if data, err := os.ReadFile(path); err != nil || !json.Valid(data) {
				t.Errorf("%s: %v, or no JSON", path, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCorpusIsLikeLife(t *testing.T) {
	o := Options{Seed: 4, Bytes: 40 << 20, Projects: 5}
	dir, stats := generate(t, o)
	c := count(t, dir)
	if c.records != stats.Records || c.total != stats.Bytes || c.longest != stats.LongestLine {
		t.Errorf("found %d records, %d bytes, longest %d; stats say %+v", c.records, c.total, c.longest, stats)
	}
	share := func(kind string) float64 { return 100 * float64(c.bytes[kind]) / float64(c.total) }
	calls := 0
	for _, n := range c.tools {
		calls += n
	}
	tool := func(name string) float64 { return 100 * float64(c.tools[name]) / float64(calls) }
	copied := 100 * float64(c.copiedRecords) / float64(len(c.seen))
	for _, m := range []struct {
		what        string
		got, lo, hi float64
	}{
		{"percent of the size asked for", 100 * float64(c.total) / float64(o.Bytes), 90, 112},
		{"percent user bytes", share("user"), 45, 75},
		{"percent assistant bytes", share("assistant"), 15, 35},
		{"percent attachment bytes", share("attachment"), 3, 25},
		{"percent api-request-shape bytes", share("api-request-shape"), 1, 12},
		{"percent Bash", tool("Bash"), 36, 48},
		{"percent Read", tool("Read"), 9, 19},
		{"percent Edit", tool("Edit"), 9, 19},
		{"subagents", float64(stats.Subagents), 5, 300},
		{"companions", float64(stats.Companions), 10, 600},
		{"compactions", float64(c.kinds["systemcompact_boundary"]), 1, 100},
		{"percent of turns copied by forks", copied, 0.2, 12},
		{"typed prompts", float64(c.typed), 300, 5000},
		{"turns in other scripts", float64(c.otherScripts), 50, 5000},
		{"longest line", float64(c.longest), 150_000, 700_000},
		{"sessions with the rare word", float64(len(c.rare)), 2, 2},
		{"compressed percent at 1 MiB", 100 * float64(c.compressed) / float64(c.total), 16, 22},
	} {
		t.Logf("%s: %.1f", m.what, m.got)
		if m.got < m.lo || m.got > m.hi {
			t.Errorf("%s: %.1f, want %.1f to %.1f", m.what, m.got, m.lo, m.hi)
		}
	}
	for path, n := range c.rare {
		if n != 1 {
			t.Errorf("%s holds %s in %d turns, want 1", path, Rare, n)
		}
	}
}

func TestFilesAreOldAndPrivate(t *testing.T) {
	dir, _ := generate(t, Options{Seed: 5, Bytes: 3 << 20, Sessions: 60, Style: Claude197})
	newest := Options{}.withDefaults().Newest
	oldest := newest.AddDate(0, 0, -historyDays)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && (info.ModTime().After(newest) || info.ModTime().Before(oldest)) {
			t.Errorf("%s is of %s", path, info.ModTime())
		}
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSessionsOptionIsExact(t *testing.T) {
	dir, stats := generate(t, Options{Seed: 5, Bytes: 2 << 20, Sessions: 120, Projects: 4, Style: Claude197})
	found, err := filepath.Glob(filepath.Join(dir, "projects", "*", "*.jsonl"))
	if err != nil || len(found) != 120 || stats.Sessions != 120 {
		t.Errorf("%d transcripts, stats %+v, %v", len(found), stats, err)
	}
}

func TestGenerateRefusesAnExistingCorpus(t *testing.T) {
	dir, _ := generate(t, Options{Bytes: 1 << 16})
	if _, err := Generate(dir, Options{Bytes: 1 << 16}); err == nil {
		t.Error("no error")
	}
}

func TestFolderNameReplacesWhatIsNotAlphanumeric(t *testing.T) {
	for cwd, want := range map[string]string{
		"/tmp/p":              MinimalFolder,
		"/home/dev/my_app.io": "-home-dev-my-app-io",
		"/srv/größe":          "-srv-gr--e",
	} {
		if got := folderName(cwd); got != want {
			t.Errorf("folderName(%q) = %q, want %q", cwd, got, want)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	o := Options{Seed: 1, Bytes: 64 << 20}
	b.SetBytes(o.Bytes)
	for b.Loop() {
		if _, err := Generate(b.TempDir(), o); err != nil {
			b.Fatal(err)
		}
	}
}
