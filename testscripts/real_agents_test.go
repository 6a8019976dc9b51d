package testscripts

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Of the prompts that the made-up model was given, each begins so. The words stand in what it
// answered and in what its tools printed.
var (
	realPrompt = regexp.MustCompile(`SCRIPT:[a-z0-9_]+(?: [A-Za-z]+)*`)
	realWords  = regexp.MustCompile(`\b(?:zebra-quartz|final-pelican-text|delegated-ibis|compacted-narwhal|forked-badger|resumed-magpie|walrus-lantern)\b`)
)

// TestRealClientStoresOfEveryAgent: in each home that real agents wrote every prompt is found as a
// turn of a user, and every known word of an answer; a second pass takes in nothing; the archive is
// whole; and with the agent's files gone it still is.
func TestRealClientStoresOfEveryAgent(t *testing.T) {
	dir := os.Getenv(realStores)
	if dir == "" {
		t.Skipf("%s names no directory of homes", realStores)
	}
	homes, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range homes {
		t.Run(filepath.Base(from), func(t *testing.T) { realAgent(t, from) })
	}
}

type realSources struct {
	Data struct {
		Sources []struct {
			Harness                      string
			Transcripts, Sessions, Turns int
			Skipped                      []struct{ Path, Reason string }
		}
	}
}

func realAgent(t *testing.T, from string) {
	h := home(t, "")
	if err := os.CopyFS(h, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	prompts, words := whatStands(t, h)
	mustRun(t, h, "ingest")
	var s realSources
	if err := json.Unmarshal([]byte(mustRun(t, h, "sources", "--json")), &s); err != nil {
		t.Fatal(err)
	}
	for _, src := range s.Data.Sources {
		if src.Transcripts > 0 {
			t.Logf("%s: %d transcripts, %d sessions, %d turns", src.Harness, src.Transcripts, src.Sessions, src.Turns)
		}
		for _, k := range src.Skipped {
			t.Errorf("%s: not read: %s: %s", src.Harness, k.Path, k.Reason)
		}
	}
	for _, p := range prompts {
		if hits(t, h, "--kind", "user", p) == 0 {
			t.Errorf("the prompt %q is not found", p)
		}
	}
	for _, w := range words {
		if hits(t, h, w) == 0 {
			t.Errorf("the word %q is not found", w)
		}
	}
	t.Logf("%d prompts and %d words found", len(prompts), len(words))
	before := mustRun(t, h, "status", "--json")
	mustRun(t, h, "ingest")
	if run := passOf(t, h); run.FilesCommitted != 0 || run.BytesRead != 0 || run.FilesFailed != 0 {
		t.Errorf("a second pass takes in %+v", run)
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err == nil {
			err = os.Remove(filepath.Join(h, rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, h, "ingest")
	mustRun(t, h, "verify")
	if a, b := totals(t, before), totals(t, mustRun(t, h, "status", "--json")); a != b {
		t.Errorf("without the agent's files there is %+v, not %+v", b, a)
	}
}

// whatStands are the prompts and the known words that stand anywhere in an agent's files.
func whatStands(t *testing.T, h string) (prompts, words []string) {
	t.Helper()
	err := filepath.WalkDir(h, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "_observed":
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range realPrompt.FindAll(bytes.ReplaceAll(data, []byte(`\n`), []byte("\n")), -1) {
			prompts = append(prompts, string(m))
		}
		for _, m := range realWords.FindAll(data, -1) {
			words = append(words, string(m))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(prompts)
	slices.Sort(words)
	return slices.Compact(prompts), slices.Compact(words)
}

func hits(t *testing.T, h string, args ...string) int {
	t.Helper()
	var doc struct {
		Data struct{ Hits []json.RawMessage }
	}
	out := mustRun(t, h, slices.Concat([]string{"search", "--project", "*", "--json"}, args)...)
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	return len(doc.Data.Hits)
}

type realRun struct {
	FilesCommitted int64 `json:"files_committed"`
	FilesFailed    int64 `json:"files_failed"`
	BytesRead      int64 `json:"bytes_read"`
}

func passOf(t *testing.T, h string) realRun {
	t.Helper()
	var doc struct {
		Data struct {
			LastRun realRun `json:"last_run"`
		}
	}
	if err := json.Unmarshal([]byte(mustRun(t, h, "status", "--json")), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Data.LastRun
}

type realTotals struct{ Sessions, Turns int64 }

func totals(t *testing.T, status string) realTotals {
	t.Helper()
	var doc struct{ Data realTotals }
	if err := json.Unmarshal([]byte(status), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Data
}
