package ingest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/store"
)

// evict drops the bytes of a session as retention does.
func (f *fixture) evict(key string) {
	f.t.Helper()
	f.write1(func(ctx context.Context, w *store.Writer) error {
		s, ok, err := archive.Load(ctx, w, key)
		if err != nil || !ok {
			return fmt.Errorf("session %s: %v, %w", key, ok, err)
		}
		return archive.Evict(ctx, w, s.No)
	})
}

// write1 runs one transaction.
func (f *fixture) write1(do func(ctx context.Context, w *store.Writer) error) {
	f.t.Helper()
	ctx := context.Background()
	db, err := store.OpenWriter(ctx, f.cfg.DataDir)
	if err != nil {
		f.t.Fatal(err)
	}
	defer db.Close()
	w, err := db.Writer(ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	defer w.Close()
	if err = w.Begin(ctx); err == nil {
		err = do(ctx, w)
	}
	if err == nil {
		err = w.Commit(ctx)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// turnsOf lists the turns of the archive, each with its id, uuid and, where it is
// there, its record.
func (f *fixture) turns() (ids []string, records map[int64]string) {
	f.t.Helper()
	rows, err := f.reader().Query(`SELECT id, hex(uuid), stream_offset, byte_len FROM turns ORDER BY id`)
	if err != nil {
		f.t.Fatal(err)
	}
	defer rows.Close()
	records = map[int64]string{}
	for rows.Next() {
		var id, off, n int64
		var uuid string
		if err := rows.Scan(&id, &uuid, &off, &n); err != nil {
			f.t.Fatal(err)
		}
		ids = append(ids, fmt.Sprint(id, " ", uuid, " ", off, " ", n))
		if p, err := archive.ReadRange(context.Background(), f.reader(), id>>archive.TurnBits, off, n); err == nil {
			records[id] = string(p)
		}
	}
	return ids, records
}

// isEvicted tells whether a session is marked, and how much of its stream is gone.
func (f *fixture) isEvicted(key string) (bool, int64) {
	f.t.Helper()
	s, ok, err := archive.Load(context.Background(), f.reader(), key)
	if err != nil || !ok {
		f.t.Fatalf("session %s: %v, %v", key, ok, err)
	}
	return s.Evicted, s.EvictedLen
}

// idle makes a second pass, which must change nothing.
func (f *fixture) idle() {
	f.t.Helper()
	before := f.dump()
	if res := f.pass(); res.FilesCommitted > 0 || res.TurnsAdded > 0 || len(res.Failures) > 0 || f.dump() != before {
		f.t.Fatalf("a second pass is not idle: %+v\n%s\n---\n%s", res, before, f.dump())
	}
}

// An evicted session's transcript is taken in again when it changes. One that
// begins with what was archived gives the bytes back.
func TestAnEvictedSessionIsTakenInAgain(t *testing.T) {
	l := func(n int) string { return user(n, fmt.Sprintf("line%d text", n)) }
	many := func(from, to int) string {
		var b strings.Builder
		for n := from; n < to; n++ {
			b.WriteString(l(n))
		}
		return b.String()
	}
	long := func(from, to int) string {
		var b strings.Builder
		for n := from; n < to; n++ {
			b.WriteString(user(n, strings.Repeat(fmt.Sprintf("word%d ", n), 4000)))
		}
		return b.String()
	}
	cases := []struct {
		name   string
		before []string // states before the eviction, a pass after each
		after  string
		// evicted is whether the mark stays, added how many turns come.
		evicted bool
		added   int
	}{
		{"only touched", []string{many(0, 4)}, many(0, 4), true, 0},
		{"a line appended", []string{many(0, 4)}, many(0, 5), false, 1},
		{"a torn line appended", []string{many(0, 4)}, many(0, 4) + l(4)[:30], true, 0},
		{"a line that is no record appended", []string{many(0, 4)}, many(0, 4) + "not json\n", false, 0},
		{"cut", []string{many(0, 4)}, many(0, 2), true, 2},
		{"emptied", []string{many(0, 4)}, "", true, 0},
		{"rewritten", []string{many(0, 4)}, many(10, 13), true, 3},
		{"a line in the middle rewritten", []string{many(0, 4)}, many(0, 1) + l(9) + many(2, 4), true, 4},
		{"rewound and continued", []string{many(0, 4)}, many(0, 2) + l(8), true, 3},
		{"was rewound before, appended", []string{many(0, 4), many(0, 2)}, many(0, 2) + l(7), true, 1},
		{"was rewound before, back to the older state", []string{many(0, 4), many(0, 2)}, many(0, 4), true, 0},
		{"was rewound before, back to the older state and appended", []string{many(0, 4), many(0, 2)}, many(0, 4) + l(7), false, 1},
		{
			"was rewound and continued before, all of it there and appended",
			[]string{many(0, 4), many(0, 2) + l(8), many(0, 2) + l(8) + many(2, 4)},
			many(0, 2) + l(8) + many(2, 4) + l(9), false, 1,
		},
		{"a line held twice by the state", []string{l(0) + l(1) + l(0)}, l(0) + l(1) + l(0) + l(2), false, 1},
		{"several blocks", []string{long(0, 80)}, long(0, 81), false, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			for _, s := range c.before {
				f.write(sessionA, s)
				f.pass()
			}
			was, had := f.turns()
			f.evict(sessionA)
			f.verifyClean()
			f.idle()
			path := f.write(sessionA, c.after)
			now := time.Now().Add(time.Hour)
			if err := os.Chtimes(path, now, now); err != nil {
				t.Fatal(err)
			}
			if res := f.pass(); len(res.Failures) > 0 || res.TurnsAdded != int64(c.added) {
				t.Fatalf("got %+v", res)
			}
			f.idle()
			f.verifyClean()
			evicted, gone := f.isEvicted(sessionA)
			if evicted != c.evicted || evicted != (gone > 0) {
				t.Fatalf("evicted %v, %d bytes are gone", evicted, gone)
			}
			is, has := f.turns()
			if len(is) != len(was)+c.added || strings.Join(is[:len(was)], "\n") != strings.Join(was, "\n") {
				t.Fatalf("turns\n%s\nwere\n%s", strings.Join(is, "\n"), strings.Join(was, "\n"))
			}
			if evicted {
				if len(has) != c.added {
					t.Fatalf("%d turns have a record, %d were added", len(has), c.added)
				}
				return
			}
			for id, record := range had {
				if has[id] != record {
					t.Fatalf("turn %d is %q, was %q", id, has[id], record)
				}
			}
			states := f.states(path)
			if got := states[len(states)-1]; got != c.after {
				t.Fatalf("the newest state is %q, the file is %q", got, c.after)
			}
			if r := f.reindex(); r.Sessions != 1 {
				t.Fatalf("reindex: %+v", r)
			}
			if again, _ := f.turns(); strings.Join(again, "\n") != strings.Join(is, "\n") {
				t.Fatal("reindex makes other turns")
			}
		})
	}
}

// A session that took in bytes while it was evicted gives those back as well.
func TestWhatCameAfterAnEvictionStands(t *testing.T) {
	f := newFixture(t)
	f.write(sessionA, user(1, "first"), user(2, "second"))
	f.pass()
	f.evict(sessionA)
	f.write(sessionA, user(5, "other"))
	f.pass()
	f.write(sessionA, user(5, "other"), user(6, "more"))
	f.pass()
	f.idle()
	f.verifyClean()
	if evicted, gone := f.isEvicted(sessionA); !evicted || gone == 0 {
		t.Fatal("it is not evicted any longer")
	}
	stream := func() int64 {
		s, _, _ := archive.Load(context.Background(), f.reader(), sessionA)
		return s.Tail.StreamLen
	}
	if want := int64(len(user(1, "first") + user(2, "second") + user(5, "other") + user(6, "more"))); stream() != want {
		t.Fatalf("the stream has %d bytes, want %d", stream(), want)
	}

	// The first state is back, with a line more.
	path := f.write(sessionA, user(1, "first"), user(2, "second"), user(6, "more"), user(7, "last"))
	f.pass()
	f.idle()
	f.verifyClean()
	if evicted, gone := f.isEvicted(sessionA); evicted || gone != 0 {
		t.Fatal("it is still evicted")
	}
	if got, want := f.stream(sessionA), user(1, "first")+user(2, "second")+user(5, "other")+user(6, "more")+user(7, "last"); got != want {
		t.Fatalf("the stream is %q", got)
	}
	if got := f.states(path); got[len(got)-1] != user(1, "first")+user(2, "second")+user(6, "more")+user(7, "last") {
		t.Fatalf("states %q", got)
	}

	// It can be evicted again, and again.
	f.evict(sessionA)
	f.write(sessionA, user(8, "eighth"))
	f.pass()
	f.evict(sessionA)
	f.verifyClean()
	f.idle()
	f.write(sessionA, user(8, "eighth"), user(9, "ninth"))
	f.pass()
	f.idle()
	f.verifyClean()
}

// A copy, a moved folder and a file that comes back are no change.
func TestAnEvictedSessionElsewhereIsNotTakenInAgain(t *testing.T) {
	content := user(1, "first") + user(2, "second")
	for _, c := range []struct {
		name   string
		change func(f *fixture, path string)
	}{
		{"gone", func(f *fixture, path string) { f.remove(path) }},
		{"gone and back", func(f *fixture, path string) {
			f.remove(path)
			f.pass()
			f.write(sessionA, content)
		}},
		{"moved", func(f *fixture, path string) {
			f.remove(path)
			f.writeAt("-q", content)
		}},
		{"copied", func(f *fixture, _ string) { f.writeAt("-q", content) }},
		{"its copy cut", func(f *fixture, _ string) {
			f.writeAt("-q", content)
			f.pass()
			f.writeAt("-q", "")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			path := f.write(sessionA, content)
			f.pass()
			f.evict(sessionA)
			c.change(f, path)
			if res := f.pass(); len(res.Failures) > 0 || res.TurnsAdded > 0 {
				t.Fatalf("got %+v", res)
			}
			f.idle()
			f.verifyClean()
			if evicted, _ := f.isEvicted(sessionA); !evicted {
				t.Fatal("it is not evicted any longer")
			}
			if n := f.count(`SELECT count(*) FROM blocks`); n > 0 {
				t.Fatalf("%d blocks are there", n)
			}
			// Growth, wherever it happens, brings the bytes back.
			f.writeAt("-r", content+user(3, "third"))
			f.pass()
			f.idle()
			f.verifyClean()
			if evicted, _ := f.isEvicted(sessionA); evicted || f.stream(sessionA) != content+user(3, "third") {
				t.Fatal("it is not whole again")
			}
		})
	}
}

func (f *fixture) remove(path string) {
	f.t.Helper()
	if err := os.Remove(path); err != nil {
		f.t.Fatal(err)
	}
}

// writeAt puts the transcript of sessionA into another project folder.
func (f *fixture) writeAt(folder, content string) string {
	f.t.Helper()
	path := filepath.Join(f.home, ".claude", "projects", folder, sessionA)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return path
}

// Whatever an agent does to its file, and whenever retention evicts: a second pass
// takes in nothing, verify finds nothing, no turn is lost or moved, and what is
// there is what the file said.
func TestEvictionsBetweenRandomEdits(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 7))
		script := make([]byte, 8+r.IntN(24))
		for i := range script {
			script[i] = byte(r.IntN(256))
			switch r.IntN(6) {
			case 0:
				script[i] = 0xff
			case 1:
				script[i] = 0xfe
			}
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playEvictions(t, script) })
	}
}

// FuzzEvictedStatesHeal is the same for the fuzzer: the steps of
// FuzzStatesComeBack, and 0xfe, which is a pass and an eviction.
func FuzzEvictedStatesHeal(f *testing.F) {
	f.Add([]byte{0x01, 0x02, 0x03, 0xfe, 0x21, 0xff, 0x41, 0xfe, 0x04, 0xff})
	f.Add([]byte{0x01, 0x01, 0xfe, 0x02, 0xfe, 0x01, 0xff, 0x81, 0xff, 0xa1, 0xff})
	f.Add([]byte("\x05\x06\xfe\x22\xff\x06\xff\x23\xff\x05\x06\xff"))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 40 {
			return // each pass costs milliseconds
		}
		playEvictions(t, script)
	})
}

func playEvictions(t *testing.T, script []byte) {
	t.Helper()
	x := newFixture(t)
	e := edits{}
	known := map[int64]string{} // the record of every turn that was ever read
	for i, b := range append(script, 0xff) {
		if b < 0xfe {
			e.step(b)
			continue
		}
		path := x.write(sessionA, e.content())
		was := []string{}
		if x.exists() {
			was, _ = x.turns()
		}
		if res := x.pass(); len(res.Failures) > 0 {
			t.Fatalf("step %d: %v", i, res.Failures)
		}
		x.idle()
		x.verifyClean()
		if x.count(`SELECT count(*) FROM sessions`) == 0 {
			continue
		}
		is, records := x.turns()
		if len(is) < len(was) || strings.Join(is[:len(was)], "\n") != strings.Join(was, "\n") {
			t.Fatalf("step %d: turns were lost or moved", i)
		}
		for id, record := range records {
			if old, ok := known[id]; ok && old != record {
				t.Fatalf("step %d: turn %d is %q, was %q", i, id, record, old)
			}
			known[id] = record
		}
		x.newestState(t, i, path, e.whole())
		if b == 0xfe {
			x.evict(sessionA)
			x.verifyClean()
		}
	}
}

// exists reports whether there is a store.
func (f *fixture) exists() bool {
	_, err := os.Stat(store.Path(f.cfg.DataDir))
	return err == nil
}

// newestState compares the newest state of a transcript with the file: its length
// and hash always, its bytes where they are there.
func (f *fixture) newestState(t *testing.T, step int, path, whole string) {
	t.Helper()
	ctx := context.Background()
	m, err := archive.LoadWatermark(ctx, f.reader(), canonical(t, path))
	if err != nil {
		t.Fatal(err)
	}
	r, err := archive.LoadRevision(ctx, f.reader(), m.Revision)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sumOf(whole); r.Len != int64(len(whole)) || string(r.Hash) != sum || r.Extents.Total() != r.Len || m.Offset != r.Len {
		t.Fatalf("step %d: the newest state is of %d bytes, the file has %d", step, r.Len, len(whole))
	}
	if evicted, _ := f.isEvicted(sessionA); evicted {
		return
	}
	var b strings.Builder
	if err := archive.WriteRevision(ctx, f.reader(), r, &b); err != nil || b.String() != whole {
		t.Fatalf("step %d: %v: the newest state is %q", step, err, b.String())
	}
}

// edits are what an agent does to its file.
type edits struct {
	lines []string
	torn  bool
}

func (e *edits) whole() string { return strings.Join(e.lines, "") }

func (e *edits) content() string {
	if e.torn {
		return e.whole() + `{"torn":`
	}
	return e.whole()
}

func (e *edits) step(b byte) {
	arg := int(b & 0x1f)
	switch {
	case b < 0x20:
		e.lines = append(e.lines, user(arg, fmt.Sprint("text ", arg)))
	case b < 0x40:
		e.lines = e.lines[:max(0, len(e.lines)-arg)]
	case b < 0x60 && len(e.lines) > 0:
		e.lines[arg%len(e.lines)] = user(arg+100, fmt.Sprint("text ", arg))
	case b < 0x80 && len(e.lines) > 0:
		e.lines = e.lines[1:]
	case b < 0xa0:
		e.lines = append(e.lines, "\x00\xffnot json "+fmt.Sprint(arg)+"\n")
	default:
		e.torn = !e.torn
	}
	e.lines = append([]string(nil), e.lines...)
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

// A transcript that became something that its evicted session cannot take in is
// marked, until a pass can.
func TestATranscriptThatCouldNotBeArchivedIsSaid(t *testing.T) {
	f := newFixture(t)
	f.write(sessionA, user(1, "first"))
	f.pass()
	f.evict(sessionA)
	f.spoil(`UPDATE session_meta SET checksum = zeroblob(32)`)
	f.write(sessionA, user(2, "other"))
	if res := f.pass(); len(res.Failures) != 1 {
		t.Fatalf("got %+v", res)
	}
	diverged := func() (found bool) {
		for _, x := range f.verify() {
			found = found || x.Block == nil && strings.HasPrefix(x.Detail, "its transcript became something that could not be archived")
		}
		return found
	}
	if !diverged() {
		t.Fatalf("verify finds %+v", f.verify())
	}
	f.spoil(`UPDATE session_meta SET checksum = settled_hash`)
	if res := f.pass(); len(res.Failures) > 0 || res.TurnsAdded != 1 {
		t.Fatalf("got %+v", res)
	}
	f.verifyClean()
	f.idle()
}

// What lies beside an evicted session is archived when it changes, and its own
// bytes come back with those of the session.
func TestTheCompanionsOfAnEvictedSession(t *testing.T) {
	f := newFixture(t)
	const beside = "aaaaaaaa-0000-4000-8000-000000000001/tool-results/"
	f.write(sessionA, user(1, "first"))
	f.write(beside+"one.txt", "one")
	f.write(beside+"two.txt", "two")
	f.pass()
	f.evict(sessionA)
	f.verifyClean()
	f.idle()
	held := func() int { return f.count(`SELECT count(*) FROM companions WHERE is_evicted IS NULL`) }
	if held() != 0 || f.count(`SELECT count(*) FROM companion_parts`) != 0 {
		t.Fatal("companions are still there")
	}
	f.write(beside+"two.txt", "two is another")
	f.write(beside+"three.txt", "three")
	f.pass()
	f.idle()
	f.verifyClean()
	if held() != 2 {
		t.Fatalf("%d companions are there", held())
	}
	f.append(sessionA, user(2, "second"))
	f.pass()
	f.idle()
	f.verifyClean()
	if held() != 3 || f.count(`SELECT count(*) FROM companions`) != 4 {
		t.Fatalf("%d companions are there", held())
	}
}

// Under a capture mode the bytes that come back are those that were archived,
// whatever the mode is by then.
func TestAnEvictedSessionComesBackUnderCaptureModes(t *testing.T) {
	result := func(n, size int) string {
		return fmt.Sprintf(`{"type":"user","uuid":%q,"timestamp":"2026-01-02T03:04:05.000Z","sessionId":"s","cwd":"/work/p","toolUseResult":{"stdout":%q},"message":{"role":"user","content":"said %d"}}`+"\n",
			uuid(n), strings.Repeat("x", size), n)
	}
	full, lean, minimal := config.CaptureFull, config.CaptureLean, config.CaptureMinimal
	for _, c := range []struct {
		name        string
		first, then config.CaptureMode // before the eviction, a pass each
		last        config.CaptureMode
		evicted     bool
	}{
		{"full throughout", full, full, full, false},
		{"lean throughout", lean, lean, lean, false},
		{"minimal throughout", minimal, minimal, minimal, false},
		{"full, then lean by now", full, full, lean, false},
		{"lean, then full by now", lean, lean, full, false},
		{"minimal, then lean by now", minimal, minimal, lean, false},
		{"changed before the eviction", full, minimal, minimal, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			set := func(m config.CaptureMode) { f.cfg.Capture.Mode = m }
			set(c.first)
			f.write(sessionA, user(1, "first"), result(2, 9000), result(3, 20))
			f.pass()
			set(c.then)
			f.append(sessionA, result(4, 9000), result(5, 20))
			f.pass()
			was, had := f.turns()
			stream := f.stream(sessionA)
			f.evict(sessionA)
			set(c.last)
			f.idle()
			f.append(sessionA, user(6, "last"))
			if res := f.pass(); len(res.Failures) > 0 || res.TurnsAdded != 1 {
				t.Fatalf("got %+v", res)
			}
			f.idle()
			f.verifyClean()
			if evicted, _ := f.isEvicted(sessionA); evicted != c.evicted {
				t.Fatalf("evicted: %v", evicted)
			}
			is, has := f.turns()
			if len(is) != len(was)+1 || strings.Join(is[:len(was)], "\n") != strings.Join(was, "\n") {
				t.Fatal("turns were lost or moved")
			}
			if c.evicted {
				if len(has) != 1 {
					t.Fatalf("%d turns have a record", len(has))
				}
				return
			}
			if got := f.stream(sessionA); got != stream+user(6, "last") || len(has) != len(had)+1 {
				t.Fatalf("the stream is %d bytes, was %d", len(got), len(stream))
			}
		})
	}
}
