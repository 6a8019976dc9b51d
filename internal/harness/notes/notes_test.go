package notes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// notesOf gives the notes of each session that is listed, by its key.
func notesOf(t *testing.T, h Harness, transcripts []harness.Transcript) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, tr := range transcripts {
		for r, err := range h.Tail(context.Background(), tr) {
			if err != nil {
				t.Fatal(err)
			}
			all[tr.Key] = append(all[tr.Key], string(r.Bytes))
		}
	}
	return all
}

func found(t *testing.T, h Harness, path string) []harness.Transcript {
	t.Helper()
	var all []harness.Transcript
	for tr, err := range h.Discover(context.Background(), harness.Env{Roots: []string{path}}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tr)
	}
	return all
}

func TestASessionIsReadFromItsOwnPartsOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	var b strings.Builder
	for i := range 3 * maxParts {
		fmt.Fprintf(&b, `{"ts":"2026-03-01T10:00:00Z","project":"/w/p%d","text":"note %d"}`+"\n", i%3, i)
		fmt.Fprintf(&b, `{"ts":"2026-03-01T10:00:00Z","project":"/w/q%d","text":"note %d"}`+"\n", i/maxParts, i)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(b.String())
	h := Harness{}
	listed := found(t, h, path)
	if len(listed) != 6 {
		t.Fatalf("%d sessions are listed, want 6", len(listed))
	}
	want := notesOf(t, h, listed)
	for key, notes := range want {
		if len(notes) != maxParts {
			t.Errorf("%s has %d notes, want %d", key, len(notes), maxParts)
		}
	}
	for i, tr := range listed {
		if len(tr.Stamp) > 2048 {
			t.Errorf("the stamp has %d bytes", len(tr.Stamp))
		}
		for _, p := range parseParts(tr.Stamp) {
			if p.to-p.from > int64(b.Len())*2/3 {
				t.Errorf("%s is read in a part of %d bytes", tr.Key, p.to-p.from)
			}
		}
		listed[i].Stamp = ""
	}
	if whole := notesOf(t, h, listed); !maps.EqualFunc(whole, want, slices.Equal) {
		t.Errorf("the parts give %v, the file gives %v", want, whole)
	}

	before := found(t, h, path)
	write("\n" + b.String()) // every note stands elsewhere than its session's stamp says
	if moved := notesOf(t, h, before); !maps.EqualFunc(moved, want, slices.Equal) {
		t.Error("notes that moved after they were listed are not read")
	}
}

func BenchmarkReadingManyNotes(b *testing.B) {
	path := filepath.Join(b.TempDir(), File)
	var text strings.Builder
	const notes, projects = 10_000, 30
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range notes {
		fmt.Fprintf(&text, `{"ts":%q,"project":"/w/p%d","text":"note %d"}`+"\n", day.Add(time.Duration(i)*20*time.Minute).Format(time.RFC3339), i%projects, i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n := 0
		for tr, err := range (Harness{}).Discover(context.Background(), harness.Env{Roots: []string{path}}) {
			if err != nil {
				b.Fatal(err)
			}
			for range (Harness{}).Tail(context.Background(), tr) {
				n++
			}
		}
		if n != notes {
			b.Fatalf("%d notes are read", n)
		}
	}
}
