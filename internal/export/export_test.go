package export

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

func TestFileNameIsTheKeyOrTellsKeysApart(t *testing.T) {
	const id = "5e0a1b2c-0000-4000-8000-0123456789ab"
	long := strings.Repeat("x", 300)
	tests := []struct{ key, want string }{
		{id + ".jsonl", id + ".jsonl"},
		{strings.ToUpper(id) + ".jsonl", id + "-2391bd62e650cad5.jsonl"},
		{id + "/subagents/agent-a1.jsonl", id + "-subagents-agent-a1-4eaf0fe32bac9175.jsonl"},
		{"codex:" + id, "codex-" + id + "-1b88b3535b530df1.jsonl"},
		{"/work/odd name.jsonl", "work-odd-name-eeb55e179ece2179.jsonl"},
		{"..", "5ec1f7e700f37c3d.jsonl"},
		{"con.jsonl", "con-cf9ba79fd2ec14bf.jsonl"},
		{long, long[:slugLen] + "-0d4e2ca9e9cbced7.jsonl"},
	}
	seen := map[string]string{}
	for _, tt := range tests {
		got := FileName(tt.key)
		if got != tt.want {
			t.Errorf("FileName(%q) = %q, want %q", tt.key, got, tt.want)
		}
		if !plainName(got) || len(got) > maxName {
			t.Errorf("FileName(%q) = %q, which is no plain name", tt.key, got)
		}
		if other, ok := seen[strings.ToLower(got)]; ok {
			t.Errorf("%q and %q have one name", tt.key, other)
		}
		seen[strings.ToLower(got)] = tt.key
	}
}

// However a manifest was written, what is accepted names files of the export alone, each once,
// and can be written again.
func FuzzParseManifest(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"files":[{"file":"a.jsonl","session_key":"k","bytes":1,"turns":2,"evicted":true}]}`,
		`{"files":[{"file":"../a.jsonl","session_key":"k"}]}`, `{"files":[{"file":"C:a.jsonl","session_key":"k"}]}`,
		`{"files":[{"file":"a.jsonl","session_key":"\u0000"}]}`, `{"bytes":1e400}`, `[`, `{"files":[null,{}]}`,
		`{"files":[{"file":"a.jsonl","session_key":"k"},{"file":"A.jsonl","session_key":"l"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, e := range m.Files {
			path := filepath.Join("export", e.File)
			if filepath.Dir(path) != "export" || names[strings.ToLower(e.File)] || e.Bytes < 0 {
				t.Errorf("accepted %+v", e)
			}
			names[strings.ToLower(e.File)] = true
		}
		text, err := m.encode()
		if err != nil || !json.Valid(text) {
			t.Errorf("encoded: %v\n%s", err, text)
		}
	})
}
