package ingest

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// toldHarness keeps one file of lines. Where its sessions ran stands beside them; a line
// that begins with a slash names another directory.
type toldHarness struct {
	rowHarness
	file, dir string
}

func (toldHarness) ID() string { return "told" }

func (h toldHarness) Discover(context.Context, harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		info, err := os.Stat(h.file)
		if err == nil {
			yield(harness.Transcript{Key: "told:1", Source: h.file, Path: h.file, Dir: h.dir, Stat: fsx.StatOf(info)}, nil)
		}
	}
}

func (toldHarness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	if record[0] == '/' {
		s.SeeDirectory(record[:len(record)-1])
	}
	return []transcript.Turn{{Len: len(record) - 1, Type: transcript.User, Pieces: []transcript.Piece{{Text: record}}}}
}

func TestADirectoryToldBesideTheRecordsIsTheSessions(t *testing.T) {
	f := newFixture(t)
	h := toldHarness{file: filepath.Join(canonical(t, t.TempDir()), "a"), dir: "/home/dev/told"}
	f.harnesses = []harness.Harness{h}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(h.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f.pass()
	}
	where := `SELECT count(*) FROM session_meta WHERE cwd = ? AND project = ?`
	write("one\n")
	write("one\n/home/dev/said\n")
	if f.count(where, h.dir, h.dir) != 1 {
		t.Errorf("the session is not in %s", h.dir)
	}
	before := f.dump()
	f.spoil(`UPDATE session_meta SET cwd = NULL, derive_state = '{}'`)
	f.reindex(h)
	if f.count(where, h.dir, h.dir) != 1 || f.dump() != before {
		t.Errorf("after reindex the session is not what it was:\n%s", f.dump())
	}
}

func TestADirectoryToldLateDoesNotMoveASession(t *testing.T) {
	f := newFixture(t)
	h := toldHarness{file: filepath.Join(canonical(t, t.TempDir()), "a")}
	f.harnesses = []harness.Harness{h}
	if err := os.WriteFile(h.file, []byte("/home/dev/said\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.pass()
	if err := os.WriteFile(h.file, []byte("/home/dev/said\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.dir = "/home/dev/told"
	f.harnesses = []harness.Harness{h}
	f.pass()
	if f.count(`SELECT count(*) FROM session_meta WHERE cwd = '/home/dev/said' AND told_cwd IS NULL AND turns = 2`) != 1 {
		t.Errorf("the session moved:\n%s", f.dump())
	}
}
