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
