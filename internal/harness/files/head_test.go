package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/fsx"
)

func TestTheHeadOfAFileTellsWhatStandsInItsFirstObject(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"a line", "{\"id\":\"a\"}\n{\"id\":\"b\"}\n", "a"},
		{"a document", "\xef\xbb\xbf{\n  \"id\": \"a\"\n}\n", "a"},
		{"torn behind it", `{"id":"a","messages":[{"te`, "a"},
		{"torn in it", `{"id":"a`, ""},
		{"far behind", `{"text":"` + strings.Repeat("x", headBytes) + `","id":"a"}`, ""},
		{"a short line before long ones", "{\"id\":\"a\"}\n" + strings.Repeat("x", 2*headBytes), "a"},
		{"a line longer than the first read", `{"text":"` + strings.Repeat("x", lineBytes) + "\",\"id\":\"a\"}\n{}\n", "a"},
		{"a document longer than the first read", "{\n\"text\":\"" + strings.Repeat("x", lineBytes) + "\",\n\"id\":\"a\"\n}\n", "a"},
		{"blanks as long as the first read", strings.Repeat("\n", lineBytes) + `{"id":"a"}`, "a"},
		{"behind blanks", "\n\x00 {\"id\":\"a\"}\n", "a"},
		{"a list", `["id"]`, ""},
		{"nothing", "", ""},
		{"no JSON", "id: a\n", ""},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		head, err := Head(path)
		if got := head.Get("id").String(); err != nil || got != c.want {
			t.Errorf("%s: the id is %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	if _, err := Head(t.TempDir()); !errors.Is(err, fsx.ErrNotRegular) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Head(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// BenchmarkHead is what each file of lines costs in each pass where only its header says whose
// it is.
func BenchmarkHead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	line := `{"sessionId":"a","projectHash":"b"}` + "\n" + `{"type":"user","content":"` + strings.Repeat("x", 500) + "\"}\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 200)), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Head(path); err != nil {
			b.Fatal(err)
		}
	}
}
