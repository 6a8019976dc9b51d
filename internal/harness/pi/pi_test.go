package pi_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/harness/pi"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestKeysAreReadOffThePath(t *testing.T) {
	const id = "5a1c0001-0000-4000-8000-000000000001"
	for _, tc := range []struct {
		h         harness.Harness
		path, key string
	}{
		{pi.Pi(), "/h/.pi/agent/sessions/--w--/2026-03-01T10-00-00-000Z_" + id + ".jsonl", "pi:" + id},
		{pi.Pi(), "/h/.pi/agent/sessions/--w--/2026-03-01T10-00-00-000Z_" + id + "/0-scout.jsonl", "pi:" + id + "/0-scout"},
		{pi.Pi(), "/h/.pi/agent/sessions/--w--/mine.jsonl", "pi:mine"},
		{pi.Pi(), "/h/.pi/agent/sessions/--w--/a_b.jsonl", "pi:a_b"},
		{pi.Kimchi(), "/s/2026-project/2026-03-01T10-00-00-000Z_" + id + ".jsonl", "kimchi:" + id},
		{pi.GJC(), "/s/" + id + "/1-a/2-b.jsonl", "gjc:" + id + "/1-a/2-b"},
		{pi.OpenClaw(), "/h/.openclaw/agents/main/sessions/" + id + ".jsonl.reset.1772900000000", "openclaw:" + id},
		{pi.OpenClaw(), "/h/.openclaw/agents/main/sessions/" + id + ".jsonl.deleted.1772900000000.zst", "openclaw:" + id},
	} {
		if got := tc.h.(harness.Keyer).KeyAt(tc.path); got != tc.key {
			t.Errorf("%s: %s, want %s", tc.path, got, tc.key)
		}
	}
}

func TestTheRootIsAboveAllSessionsOfAStore(t *testing.T) {
	for _, tc := range []struct {
		h          harness.Harness
		path, root string
	}{
		{pi.Pi(), "/h/.pi/agent/sessions/--w--/x.jsonl", "/h/.pi/agent/sessions"},
		{pi.OpenClaw(), "/h/.openclaw/agents/main/sessions/x.jsonl", "/h/.openclaw/agents"},
		{pi.Pi(), "/elsewhere/x.jsonl", ""},
	} {
		if got := tc.h.(harness.Rooter).RootAt(filepath.FromSlash(tc.path)); filepath.ToSlash(got) != tc.root {
			t.Errorf("%s: %q, want %q", tc.path, got, tc.root)
		}
	}
}

func TestRootsHonourTheVariablesOfTheAgent(t *testing.T) {
	vars := map[string]string{}
	m := harness.Machine{GOOS: "linux", Home: "/h", Get: func(name string) string { return vars[name] }}
	for _, tc := range []struct {
		h                 harness.Harness
		name, value, want string
	}{
		{pi.Pi(), "", "", "/h/.pi/agent/sessions"},
		{pi.Pi(), "PI_CODING_AGENT_DIR", "/a", "/a/sessions"},
		{pi.Pi(), "PI_CODING_AGENT_SESSION_DIR", "/s", "/s"},
		{pi.Prime(), "PRIME_AGENT_SESSION_DIR", "/s", "/s"},
		{pi.Prime(), "PRIME_AGENT_CODING_AGENT_SESSION_DIR", "/s", "/s"},
		{pi.GJC(), "GJC_CODING_AGENT_DIR", "/g", "/g/sessions"},
		{pi.Senpi(), "SENPI_CODING_AGENT_DIR", "/g", "/g/sessions"},
		{pi.Kimchi(), "XDG_CONFIG_HOME", "/c", "/c/kimchi/harness/sessions"},
		{pi.Kimchi(), "KIMCHI_CODING_AGENT_DIR", "/k", "/k/sessions"},
		{pi.OpenClaw(), "OPENCLAW_STATE_DIR", "/o", "/o/agents"},
		{pi.OMP(), "XDG_DATA_HOME", "/x", "/h/.omp/agent/sessions /h/.omp/profiles /x/omp/sessions /x/omp/profiles"},
	} {
		clear(vars)
		vars[tc.name] = tc.value
		if got := filepath.ToSlash(strings.Join(tc.h.Roots(m), " ")); got != tc.want {
			t.Errorf("%s with %s=%s: %s, want %s", tc.h.ID(), tc.name, tc.value, got, tc.want)
		}
	}
}

// session derives turns of lines and gives, of each, its first text, with a minus where search
// does not find it.
func session(h harness.Harness, lines ...string) (transcript.State, []transcript.Turn, string) {
	s := transcript.State{Key: h.ID() + ":x"}
	var all []transcript.Turn
	var texts []string
	for _, l := range lines {
		for _, turn := range h.Turns([]byte(l+"\n"), &s) {
			all = append(all, turn)
			sign := ""
			if turn.Unindexed {
				sign = "-"
			}
			for _, p := range turn.Pieces[:min(1, len(turn.Pieces))] {
				texts = append(texts, sign+string(p.Text))
			}
		}
	}
	return s, all, strings.Join(texts, " ")
}

func said(id, at, text string) string {
	return `{"type":"message","id":"` + id + `","timestamp":"2026-03-01T` + at + `Z","message":{"role":"user","content":"` + text + `"}}`
}

func TestOnlyEntriesOlderThanTheForkAreCopies(t *testing.T) {
	header := func(more string) string {
		return `{"type":"session","version":3,"id":"f","timestamp":"2026-03-01T11:00:00.500Z","cwd":"/w"` + more + `}`
	}
	const parent = `,"parentSession":"C:\\pi\\2026-03-01T10-00-00-000Z_p.jsonl"`
	for _, tc := range []struct{ name, header, want, continues, parent string }{
		{"a fork", header(parent), "-copied own later", "p", ""},
		{"no fork", header(""), "copied own later", "", ""},
		{"a subagent of prime-agent", header(parent + `,"rlmDepth":1`), "-copied own later", "", "prime:p"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, turns, got := session(pi.Prime(), tc.header, said("a", "11:00:00.499", "copied"), said("b", "11:00:00.5", "own"), said("c", "12:00:00", "later"))
			if got != tc.want || s.ContinuesFrom != tc.continues || s.ParentKey != tc.parent {
				t.Errorf("%s, continues %q, parent %q", got, s.ContinuesFrom, s.ParentKey)
			}
			if turns[0].UUID == "" || turns[0].UUID == turns[1].UUID {
				t.Errorf("the turns have the ids %q and %q", turns[0].UUID, turns[1].UUID)
			}
		})
	}
}

// pi writes a session of its first form anew, with ids that its entries did not have.
func TestASessionThatIsWrittenInANewFormIsNotDoubled(t *testing.T) {
	home := harnesstest.Open(t, pi.Pi(), harnesstest.Options{})
	home.Pass()
	const word = "dugongs"
	if n := home.Finds(word); n != 3 {
		t.Fatalf("%q is found %d times", word, n)
	}
	old, err := filepath.Glob(filepath.Join(home.Dir, ".pi", "agent", "*.jsonl"))
	if err != nil || len(old) != 1 {
		t.Fatal(old, err)
	}
	data, err := os.ReadFile(old[0])
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(`{"type":"session",`), []byte(`{"type":"session","version":3,`), 1)
	data = bytes.ReplaceAll(data, []byte(`{"type":"message",`), []byte(`{"type":"message","id":"01234567","parentId":null,`))
	data = bytes.ReplaceAll(data, []byte(`hookMessage`), []byte(`custom`))
	data = bytes.ReplaceAll(data, []byte(`"firstKeptEntryIndex":1`), []byte(`"firstKeptEntryId":"01234567"`))
	moved := filepath.Join(home.Dir, ".pi", "agent", "sessions", "--w-old--", filepath.Base(old[0]))
	if err = os.MkdirAll(filepath.Dir(moved), 0o700); err == nil {
		err = os.WriteFile(moved, data, 0o600)
	}
	if err == nil {
		err = os.Remove(old[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	home.Pass()
	home.Verify()
	if n := home.Finds(word); n != 3 {
		t.Errorf("%q is found %d times after that", word, n)
	}
}

func TestASessionThatMovedIntoTheDatabaseIsNotDoubled(t *testing.T) {
	home := harnesstest.Open(t, pi.OpenClaw(), harnesstest.Options{})
	home.Pass()
	for word, want := range map[string]int{"remind": 2, "moved": 1, "tuatara": 2, "geckos": 2, "iguana": 2} {
		if n := home.Finds(word); n != want {
			t.Errorf("%q is found %d times, want %d", word, n, want)
		}
	}
	home.Verify()
}

func TestADatabaseOfAnotherFormIsNamed(t *testing.T) {
	home := harnesstest.Open(t, pi.OpenClaw(), harnesstest.Options{})
	path := filepath.Join(home.Dir, ".openclaw", "agents", "main", "agent", "openclaw-agent.sqlite")
	harnesstest.Database(t, path, `ALTER TABLE transcript_events RENAME COLUMN event_json TO event`)
	if res := home.Pass(); len(res.Unreadable) != 1 {
		t.Errorf("unreadable: %v", res.Unreadable)
	}
}

func TestACompressedEventIsReadAndADamagedOneCostsNoOther(t *testing.T) {
	home := harnesstest.Open(t, pi.OpenClaw(), harnesstest.Options{})
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	event := e.EncodeAll([]byte(said("z", "11:00:00", "a compressed numbat")), nil)
	path := filepath.Join(home.Dir, ".openclaw", "agents", "main", "agent", "openclaw-agent.sqlite")
	insert := func(n, blob string) {
		harnesstest.Database(t, path, `INSERT INTO transcript_events VALUES ('c1a50000-0000-4000-8000-000000000000', `+n+`, x'`+blob+`', 9)`)
	}
	insert("8", hexOf(event))
	home.Pass()
	if n := home.Finds("numbat"); n != 1 {
		t.Errorf("found %d times", n)
	}
	insert("9", hexOf(event[:8]))
	insert("10", hexOf(append([]byte{0xff, 0xfe}, "no json"...)))
	insert("11", hexOf([]byte(said("y", "11:00:01", "behind it a bilby"))))
	if res := home.Pass(); len(res.Unreadable) != 0 {
		t.Errorf("unreadable: %v", res.Unreadable)
	}
	if n := home.Finds("bilby"); n != 1 {
		t.Errorf("what stands behind a damaged event is found %d times", n)
	}
	stream := home.Stream("openclaw:c1a50000-0000-4000-8000-000000000000")
	for _, damaged := range [][]byte{event[:8], append([]byte{0xff, 0xfe}, "no json"...)} {
		if want := base64.StdEncoding.EncodeToString(damaged); !bytes.Contains(stream, []byte(want)) {
			t.Errorf("the bytes %s are not archived", want)
		}
	}
	home.Verify()
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var out []byte
	for _, c := range b {
		out = append(out, digits[c>>4], digits[c&15])
	}
	return string(out)
}
