package ingest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/capture"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/claude"
	"github.com/terminus-archive/terminus/internal/transcript"
)

const (
	full    = config.CaptureFull
	lean    = config.CaptureLean
	minimal = config.CaptureMinimal
)

// passIn makes a pass in a mode.
func (f *fixture) passIn(mode config.CaptureMode) Result {
	f.t.Helper()
	f.cfg.Capture.Mode = mode
	res := f.pass()
	if len(res.Failures) > 0 {
		f.t.Fatalf("%s: %v", mode, res.Failures)
	}
	return res
}

// output is a record with a tool's result of about size bytes, told by word.
func output(n int, word string, size int) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"timestamp":"2026-01-02T03:04:05.000Z","sessionId":"s","cwd":"/work/p",`+
		`"message":{"role":"user","content":"call %d"},"toolUseResult":{"stdout":%q}}`+"\n", uuid(n), n, word+" "+strings.Repeat("y", size))
}

// as is a text of lines as a mode archives them.
func as(mode config.CaptureMode, lines ...string) string {
	c := capture.New(mode, claude.Harness{}, harness.Lines)
	var out strings.Builder
	for _, l := range lines {
		out.Write(c.Line([]byte(l)))
	}
	return out.String()
}

const (
	little = 10
	much   = 2 * capture.Limit
)

// The states of a transcript under modes that change: what the archive holds of
// it, what was added to the stream, and the session's mode.
func TestTranscriptsUnderCaptureModes(t *testing.T) {
	say, small, big, other := user(1, "say"), output(2, "smallword", little), output(3, "bigword", much), output(4, "otherword", much)
	type step struct {
		mode config.CaptureMode
		file string
	}
	cases := []struct {
		name   string
		steps  []step
		states []string
		stream string
		mode   config.CaptureMode
	}{
		{"full", []step{{full, say + small + big}}, []string{say + small + big}, say + small + big, full},
		{"lean", []step{{lean, say + small + big}}, []string{say + small + as(lean, big)}, say + small + as(lean, big), lean},
		{"lean, with nothing to leave out", []step{{lean, say}}, []string{say}, say, lean},
		{
			"minimal",
			[]step{{minimal, say + small + big}},
			[]string{say + as(minimal, small, big)},
			say + as(minimal, small, big),
			minimal,
		},
		{
			"grown in another mode: what was archived stays as it was",
			[]step{{full, say + big}, {lean, say + big + other}, {minimal, say + big + other + small}, {full, say + big + other + small + big}},
			[]string{say + big + as(lean, other) + as(minimal, small) + big},
			say + big + as(lean, other) + as(minimal, small) + big, minimal,
		},
		{
			"lean, cut",
			[]step{{lean, say + big + small}, {lean, say + big}},
			[]string{say + as(lean, big) + small, say + as(lean, big)},
			say + as(lean, big) + small, lean,
		},
		{
			"lean, rewound and gone on",
			[]step{{lean, say + big + small}, {lean, say + big}, {lean, say + big + other}},
			[]string{say + as(lean, big) + small, say + as(lean, big, other)},
			say + as(lean, big) + small + as(lean, other), lean,
		},
		{
			"lean, another output of the same length is the same line",
			[]step{{lean, say + big}, {lean, say + strings.Replace(big, "bigword", "bugword", 1)}},
			[]string{say + as(lean, big)},
			say + as(lean, big), lean,
		},
		{
			"lean, then rewritten in full: what was left out is archived, what was not is not again",
			[]step{{lean, say + small + big}, {full, small + big + say}},
			[]string{say + small + as(lean, big), small + big + say},
			say + small + as(lean, big) + big, lean,
		},
		{
			"full, then rewritten in minimal: the whole lines are known",
			[]step{{full, say + small + big}, {minimal, big + small + say}},
			[]string{say + small + big, big + small + say},
			say + small + big, full,
		},
		{
			"lean, then rewritten in minimal: the longer lines are known",
			[]step{{lean, say + small + big}, {minimal, big + small + say + other}},
			[]string{say + small + as(lean, big), as(lean, big) + small + say + as(minimal, other)},
			say + small + as(lean, big) + as(minimal, other), minimal,
		},
		{
			"minimal, then rewritten in lean",
			[]step{{minimal, say + small + big}, {lean, big + small + say}},
			[]string{say + as(minimal, small, big), as(minimal, big) + small + say},
			say + as(minimal, small, big) + small, lean,
		},
		{"minimal, emptied", []step{{minimal, small}, {minimal, ""}}, []string{as(minimal, small), ""}, as(minimal, small), minimal},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			var path string
			for i, s := range c.steps {
				path = f.write(sessionA, s.file)
				f.passIn(s.mode)
				f.settled(t, i, path, s.file)
			}
			if got := f.states(path); fmt.Sprint(got) != fmt.Sprint(c.states) {
				t.Errorf("archived states\n%.3000q\nwant\n%.3000q", got, c.states)
			}
			if got := f.stream(sessionA); got != c.stream {
				t.Errorf("the stream holds\n%.3000q\nwant\n%.3000q", got, c.stream)
			}
			if got := f.mode(sessionA); got != c.mode {
				t.Errorf("the session's mode is %q, want %q", got, c.mode)
			}
		})
	}
}

func (f *fixture) mode(key string) config.CaptureMode {
	f.t.Helper()
	var mode string
	if err := f.reader().QueryRow(`SELECT capture_mode FROM session_meta WHERE session_key = ?`, key).Scan(&mode); err != nil {
		f.t.Fatal(err)
	}
	return config.CaptureMode(mode)
}

// settled checks that a pass left nothing to do, in its mode and in the others,
// and a healthy store; file is what the transcript holds.
func (f *fixture) settled(t *testing.T, step int, path, file string) {
	t.Helper()
	was, before := f.cfg.Capture.Mode, f.dump()
	for _, mode := range []config.CaptureMode{was, map[config.CaptureMode]config.CaptureMode{full: lean, lean: minimal, minimal: full}[was]} {
		if res := f.passIn(mode); res.FilesCommitted > 0 || f.dump() != before {
			t.Fatalf("step %d: a second pass, %s, takes in %+v", step, mode, res)
		}
	}
	f.cfg.Capture.Mode = was
	f.verifyClean()
	if n := f.count(`SELECT count(*) FROM session_meta WHERE transcript_diverged IS NOT NULL`); n > 0 {
		t.Fatalf("step %d: it is said to have diverged", step)
	}
	whole := file[:strings.LastIndexByte(file, '\n')+1]
	if n := f.count(`SELECT coalesce(max(byte_offset), 0) FROM watermarks WHERE source = ?`, canonical(t, path)); n != len(whole) {
		t.Fatalf("step %d: %d bytes of %d are said to be read", step, n, len(whole))
	}
}

// What was left out does not come back, is not found, and leaves everything else
// as it was: ids, order, who typed.
func TestTurnsStayWhatTheyAreWhenOutputIsLeftOut(t *testing.T) {
	queued := `{"type":"attachment","uuid":"q","timestamp":"2026-01-02T03:04:05.000Z","attachment":{"type":"queued_command","prompt":"queuedword"}}` + "\n"
	attached := `{"type":"attachment","uuid":"f","timestamp":"2026-01-02T03:04:05.000Z","attachment":{"type":"file","content":"fileword"}}` + "\n"
	content := user(1, "say") + output(2, "smallword", little) + output(3, "bigword", much) + queued + attached + user(4, "end")
	facts := map[config.CaptureMode]string{}
	for _, mode := range []config.CaptureMode{full, lean, minimal} {
		f := newFixture(t)
		f.write(sessionA, content)
		f.passIn(mode)
		for word, found := range map[string]bool{
			"say": true, "end": true, "call": true, "queuedword": true,
			"smallword": mode != minimal, "bigword": mode == full, "fileword": mode != minimal,
		} {
			if got := f.find(word) > 0; got != found {
				t.Errorf("%s: %s is found: %v", mode, word, got)
			}
		}
		rows, err := f.reader().Query(`SELECT id || ' ' || hex(uuid) || ' ' || record_type || ' ' || coalesce(is_typed, '-') || ' ' || ts FROM turns ORDER BY id`)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				t.Fatal(err)
			}
			facts[mode] += s + "\n"
		}
		_ = rows.Close()
		before := f.dump() + f.words()
		f.reindex()
		if f.dump()+f.words() != before {
			t.Errorf("%s: reindex makes other rows", mode)
		}
		f.verifyClean()
	}
	if facts[lean] != facts[full] || facts[minimal] != facts[full] {
		t.Errorf("full\n%slean\n%sminimal\n%s", facts[full], facts[lean], facts[minimal])
	}
}

// The file itself is what is compared: its end at each growth, all of it once a
// day and when it was replaced, its beginning when it moves to where it has a key.
func TestAShortenedTranscriptIsKnownByItsOwnBytes(t *testing.T) {
	f := newFixture(t)
	big := output(3, "bigword", much)
	path := f.write("agent-x1.jsonl", user(1, "say"), big)
	f.passIn(lean)
	there := f.path("aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x1.jsonl")
	if err := os.MkdirAll(filepath.Dir(there), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, there); err != nil {
		t.Fatal(err)
	}
	if res := f.passIn(lean); res.TurnsAdded != 0 {
		t.Fatalf("moved: %+v", res)
	}
	if n := f.count(`SELECT count(*) FROM sessions`); n != 1 {
		t.Fatalf("%d sessions after a move", n)
	}
	// Rewritten above the compared end, which only the comparison of a day finds:
	// what differs was left out, so nothing is archived, and it is known from then on.
	long := strings.Repeat(user(7, "filler"), 1000)
	f.append("aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x1.jsonl", long)
	f.passIn(lean)
	file, err := os.OpenFile(there, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt([]byte(user(1, "say")+strings.Replace(big, "bigword", "bugword", 1)), 0); err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	before := f.stream("aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x1.jsonl")
	f.now = f.now.Add(25 * time.Hour)
	f.passIn(lean)
	if f.stream("aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x1.jsonl") != before {
		t.Error("something was archived again")
	}
	f.append("aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x1.jsonl", user(9, "more"))
	if res := f.passIn(lean); res.TurnsAdded != 1 {
		t.Errorf("after that, one record: %+v", res)
	}
	f.verifyClean()
}

// An agent that does anything to its file, and a user that does anything to the
// mode: each state comes back with every line in a form that its pass allowed, no
// line is held twice in one form, and the store is healthy.
func TestRandomEditsUnderRandomModes(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playModes(t, rand.New(rand.NewPCG(seed, 3))) })
	}
}

func playModes(t *testing.T, r *rand.Rand) {
	modes := []config.CaptureMode{full, lean, minimal}
	f := newFixture(t)
	next := func() string {
		n := r.IntN(12)
		switch r.IntN(4) {
		case 0:
			return output(n, fmt.Sprint("word", n), little)
		case 1:
			return output(n, fmt.Sprint("word", n), much+n)
		case 2:
			return fmt.Sprintf("not json %d\n", n)
		}
		return user(n, fmt.Sprint("text ", n))
	}
	var lines []string
	for step := range 12 {
		for range 1 + r.IntN(4) {
			switch k := r.IntN(6); {
			case k < 3 || len(lines) == 0:
				lines = append(lines, next())
			case k == 3:
				lines = lines[:r.IntN(len(lines))]
			case k == 4:
				lines[r.IntN(len(lines))] = next()
			default:
				lines = lines[1:]
			}
		}
		lines = slices.Clone(lines)
		mode := modes[r.IntN(3)]
		path := f.write(sessionA, lines...)
		f.passIn(mode)
		if f.count(`SELECT count(*) FROM sessions`) == 0 {
			continue
		}
		f.settled(t, step, path, strings.Join(lines, ""))
		states := f.states(path)
		got := strings.SplitAfter(states[len(states)-1], "\n")
		got = got[:len(got)-1]
		if len(got) != len(lines) {
			t.Fatalf("step %d: %d lines are archived of %d", step, len(got), len(lines))
		}
		for i, l := range lines {
			if got[i] != l && got[i] != as(lean, l) && got[i] != as(minimal, l) {
				t.Fatalf("step %d: line %d, %.80q, is archived as %.80q", step, i, l, got[i])
			}
		}
	}
}

// bulkyRows is a row harness that says where its rows hold output.
type bulkyRows struct{ rowHarness }

func (bulkyRows) Bulk() harness.Bulk { return harness.Bulk{Members: []string{"output"}} }

func TestRowsUnderCaptureModes(t *testing.T) {
	f := newFixture(t)
	h := bulkyRows{rowHarness{path: filepath.Join(t.TempDir(), "agent.db")}}
	f.harnesses = []harness.Harness{h}
	agent, err := sql.Open("sqlite", "file:"+h.path)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	do := func(stmt string, args ...any) {
		t.Helper()
		if _, err := agent.Exec(stmt, args...); err != nil {
			t.Fatal(err)
		}
	}
	row := func(text, out string) string { return fmt.Sprintf(`{"role":"user","text":%q,"output":%q}`, text, out) }
	elided := `{"output":{"terminusElided":5},"role":"user","text":"one"}`
	do(`CREATE TABLE message(id TEXT, conversation TEXT, position REAL, body TEXT)`)
	do(`INSERT INTO message VALUES ('m1', 'a', 1, ?)`, row("one", "abc"))
	line := func(id, row string) string { return string(transcript.Wrap(id, []byte(row))) }
	steps := []struct {
		name   string
		mode   config.CaptureMode
		change string
		args   []any
		added  string // to the stream
		turns  int
	}{
		{"first", minimal, ``, nil, line("m1", elided), 1},
		{"one more", minimal, `INSERT INTO message VALUES ('m2', 'a', 2, ?)`, []any{`{"role":"user","text":"two"}`}, line("m2", `{"role":"user","text":"two"}`), 2},
		{"another output of the same length", minimal, `UPDATE message SET body = ? WHERE id = 'm1'`, []any{row("one", "xyz")}, ``, 2},
		{"in full: the row takes over its turn", full, `INSERT INTO message VALUES ('m3', 'a', 3, ?)`, []any{row("three", "def")}, line("m1", row("one", "xyz")) + line("m3", row("three", "def")), 3},
		{"and stays whole", minimal, `UPDATE message SET position = 4 WHERE id = 'm1'`, nil, ``, 3},
	}
	var stream string
	for _, s := range steps {
		if s.change != "" {
			do(s.change, s.args...)
		}
		f.passIn(s.mode)
		stream += s.added
		if got := f.stream("rows:a"); got != stream {
			t.Fatalf("%s: the stream holds\n%s\nwant\n%s", s.name, got, stream)
		}
		if n := f.count(`SELECT count(*) FROM turns`); n != s.turns {
			t.Fatalf("%s: %d turns, want %d", s.name, n, s.turns)
		}
		before := f.dump()
		f.passIn(s.mode)
		if f.dump() != before {
			t.Fatalf("%s: a second pass changes the store", s.name)
		}
		f.verifyClean(h)
	}
}

// Files of output are left out as the mode says, and taken in when it no longer does.
func TestCompanionsUnderCaptureModes(t *testing.T) {
	f := newFixture(t)
	dir := strings.TrimSuffix(sessionA, ".jsonl")
	f.write(sessionA, user(1, "say"))
	f.write(dir+"/tool-results/small.txt", "small")
	f.write(dir+"/tool-results/deep/big.txt", strings.Repeat("b", capture.Limit+1))
	f.write(dir+"/custom-title.json", strings.Repeat("t", capture.Limit+1))
	for _, step := range []struct {
		mode config.CaptureMode
		want int
	}{{minimal, 1}, {lean, 2}, {full, 3}, {minimal, 3}} {
		f.passIn(step.mode)
		if got := f.count(`SELECT count(*) FROM companions`); got != step.want {
			t.Errorf("%s: %d companions, want %d", step.mode, got, step.want)
		}
		if res := f.passIn(step.mode); res.FilesCommitted+res.BytesRead > 0 {
			t.Errorf("%s: a second pass takes in %+v", step.mode, res)
		}
	}
}

// A store of a build that did not know modes has none recorded.
func TestASessionWithoutAModeWasFull(t *testing.T) {
	for _, c := range []struct{ now, want config.CaptureMode }{{full, full}, {lean, lean}} {
		f := newFixture(t)
		f.write(sessionA, user(1, "say"))
		f.passIn(full)
		f.spoil(`UPDATE session_meta SET capture_mode = NULL`)
		f.append(sessionA, user(2, "more"))
		f.passIn(c.now)
		if got := f.mode(sessionA); got != c.want {
			t.Errorf("then %s: %q", c.now, got)
		}
		s, _, err := archive.Load(context.Background(), f.reader(), sessionA)
		if err != nil || s.Meta.CaptureMode != string(c.want) {
			t.Errorf("%q, %v", s.Meta.CaptureMode, err)
		}
	}
}
