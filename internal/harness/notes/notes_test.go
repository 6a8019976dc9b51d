package notes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestALineThatIsNoNoteIsNamedAndCostsNoOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	text := "{\"ts\":\"2026-03-01T10:00:00Z\",\"text\":\"kept\"}\nno note\n{\"ts\":\"2026-03-01T10:00:00Z\"}\n{\"ts\":\"2026-03-01T11:00:00Z\",\"text\":\"kept as well\"}\n{\"ts\":\"20"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{path, filepath.Dir(path)} {
		h := Harness{}
		found, problems := 0, 0
		for tr, err := range h.Discover(context.Background(), harness.Env{Roots: []string{root}}) {
			var p *harness.Problem
			switch {
			case errors.As(err, &p):
				problems++
				if !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), "2 lines") {
					t.Errorf("the problem is told as %q", err)
				}
			case err != nil:
				t.Fatal(err)
			default:
				found++
				n := 0
				for _, err := range h.Tail(context.Background(), tr) {
					if err != nil {
						t.Fatal(err)
					}
					n++
				}
				if n != 2 || tr.Key != "notes:2026-03-01" {
					t.Errorf("session %s has %d notes, want 2", tr.Key, n)
				}
			}
		}
		if found != 1 || problems != 1 {
			t.Errorf("%s: %d sessions and %d problems, want one of each", root, found, problems)
		}
	}
}

func TestTheDayOfANoteIsNotThatOfTheMachine(t *testing.T) {
	zone := time.Local
	defer func() { time.Local = zone }()
	for _, tc := range []struct{ ts, want string }{
		{"2026-03-01T23:40:00Z", "2026-03-01"},
		{"2026-03-01T00:20:00Z", "2026-03-01"},
		{"2026-03-02T00:30:00+02:00", "2026-03-02"},
	} {
		for _, hours := range []int{-11, 0, 13} {
			time.Local = time.FixedZone("", hours*3600)
			note, _ := transcript.ParseValue([]byte(`{"ts":"` + tc.ts + `","text":"x"}`))
			if got := keyOf(note); got != "notes:"+tc.want {
				t.Errorf("%s, %d hours from UTC: %s, want the day %s", tc.ts, hours, got, tc.want)
			}
		}
	}
}
