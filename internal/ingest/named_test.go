package ingest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/claude"
)

func TestAFileOfAnotherAgentIsTakenAsThatAgentsOwn(t *testing.T) {
	f := newFixture(t)
	dir := filepath.Join(f.home, "packed")
	f.harnesses = []harness.Harness{claude.Harness{}, packedHarness{dir: dir}}
	if err := os.MkdirAll(filepath.Join(dir, "deeper"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.jsonl": "kestrel", "b.jsonl": "merganser", "deeper/settings.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(userLine("u", text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(f.home, "link.jsonl")
	if err := os.Symlink(filepath.Join(dir, "a.jsonl"), link); err != nil {
		t.Skip(err)
	}
	o := f.options()
	o.Path = link
	if _, err := Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if f.count(`SELECT count(*) FROM sessions WHERE session_key = 'packed:a'`) != 1 || f.count(`SELECT count(*) FROM sessions`) != 1 {
		t.Error("it is archived under another key, or with others")
	}
	o.Path = filepath.Join(dir, "deeper", "settings.json")
	_, err := Run(context.Background(), o)
	if err == nil || !strings.HasSuffix(err.Error(), "settings.json: it is no transcript of Claude Code, below whose directory it stands") {
		t.Errorf("error %v", err) // the harness above has the name of the one that it is made of
	}
}
