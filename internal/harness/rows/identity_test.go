package rows

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/transcript"
)

func ids(t *testing.T, document string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "d.json")
	if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	var out []string
	for r, err := range Records(Document{Path: path, IDOf: func(m transcript.Value) string { return Print(m.Text()) }}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r.ID)
	}
	return out
}

func TestAMessageWithoutAnIDKeepsItsOwnWhereverItMoves(t *testing.T) {
	long := strings.Repeat("olive ", 20)
	before := ids(t, `["first","yes","`+long+`","yes"]`)
	if before[3] != before[1]+".2" {
		t.Errorf("the second of two equal messages is %q beside %q", before[3], before[1])
	}
	if got := ids(t, `["yes","`+long+` and more","yes"]`); !slices.Equal(got, before[1:]) {
		t.Errorf("ids are %q, want %q", got, before[1:])
	}
	if got := ids(t, `["first","no"]`); got[0] != before[0] || slices.Contains(before, got[1]) {
		t.Errorf("another message has an id that was given: %q", got)
	}
}
