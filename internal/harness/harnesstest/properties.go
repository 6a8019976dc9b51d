package harnesstest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/export"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Run holds a harness to every property.
func Run(t *testing.T, h harness.Harness, o Options) {
	for _, p := range []struct {
		name  string
		check func(home *Home, o Options)
	}{
		{"what is read is what was agreed", (*Home).golden},
		{"keys and sources", (*Home).keys},
		{"two passes converge", func(home *Home, _ Options) { home.converge() }},
		{"what is no conversation is not found", (*Home).absent},
		{"derived again it is the same", func(home *Home, _ Options) { home.again() }},
		{"what was deleted stays", func(home *Home, _ Options) { home.vanish() }},
		{"a transcript grows, is torn, and is cut", func(home *Home, _ Options) { home.grow() }},
		{"a store full of nonsense costs nothing that was archived", func(home *Home, _ Options) { home.garbage() }},
		{"an excluded project is not archived", func(home *Home, _ Options) { home.exclude() }},
		{"exported and taken in elsewhere it is the same", func(home *Home, _ Options) { home.elsewhere() }},
		{"hostile records", func(home *Home, _ Options) { home.hostile() }},
		{"a home without the agent", func(home *Home, _ Options) { home.empty() }},
	} {
		t.Run(p.name, func(t *testing.T) {
			home := Open(t, h, o)
			p.check(home, o)
		})
	}
}

func (home *Home) keys(o Options) {
	sources := map[string]bool{}
	for _, tr := range home.Found() {
		id, rest, ok := strings.Cut(tr.Key, ":")
		if !o.PathKeys && (!ok || id != home.h.ID() || rest == "") {
			home.t.Errorf("the key %q is not <harness>:<id>", tr.Key)
		}
		if sources[tr.Source] {
			home.t.Errorf("the source %q is there twice", tr.Source)
		}
		sources[tr.Source] = true
		if !strings.HasPrefix(tr.Source, tr.Path) {
			home.t.Errorf("the source %q does not begin with the path %q", tr.Source, tr.Path)
		}
		if _, err := os.Stat(tr.Path); err != nil {
			home.t.Error(err)
		}
	}
	if len(sources) == 0 {
		home.t.Error("nothing is found")
	}
}

func (home *Home) clean(what string, res ingest.Result) {
	home.t.Helper()
	if len(res.Failures)+len(res.Unreadable) > 0 {
		home.t.Errorf("%s: failures %v, unreadable %v", what, res.Failures, res.Unreadable)
	}
}

func (home *Home) converge() {
	first := home.Pass()
	home.clean("first", first)
	if first.TurnsAdded == 0 {
		home.t.Fatal("no turn was taken in")
	}
	home.Verify()
	before := home.facts()
	second := home.Pass()
	home.clean("second", second)
	if second.BytesRead != 0 || second.TurnsAdded != 0 || second.FilesCommitted != 0 {
		home.t.Errorf("the second pass took in %+v", second)
	}
	same(home.t, before, home.facts())
	for _, tr := range home.Found() {
		want := bytes.Join(home.Records(tr), nil)
		if len(want) == 0 {
			continue
		}
		if got := home.Newest(tr.Source); !bytes.Equal(got, want) {
			home.t.Errorf("%s does not come back as it was: %d bytes, want %d", tr.Source, len(got), len(want))
		}
	}
}

func same(t *testing.T, before, after []string) {
	t.Helper()
	if slices.Equal(before, after) {
		return
	}
	for i := range max(len(before), len(after)) {
		var b, a string
		if i < len(before) {
			b = before[i]
		}
		if i < len(after) {
			a = after[i]
		}
		if a != b {
			t.Errorf("row %d:\n was %s\n now %s", i, b, a)
			return
		}
	}
}

func (home *Home) absent(o Options) {
	home.Pass()
	for _, word := range o.Absent {
		if n := home.Finds(word); n != 0 {
			home.t.Errorf("%q is found %d times", word, n)
		}
	}
}

func (home *Home) again() {
	home.Pass()
	before := home.facts()
	if _, err := ingest.Reindex(context.Background(), ingest.ReindexOptions{DataDir: home.cfg.DataDir}); err != nil {
		home.t.Fatal(err)
	}
	same(home.t, before, home.facts())
	home.Verify()
}

func (home *Home) vanish() {
	home.Pass()
	before := home.facts()
	for _, root := range ingest.Roots(home.cfg, home.h) {
		if err := os.RemoveAll(root); err != nil {
			home.t.Fatal(err)
		}
	}
	home.clean("without the store", home.Pass())
	same(home.t, before, home.facts())
	home.Verify()
}

// grow appends to every file of lines, tears its end, cuts it, and puts it back.
func (home *Home) grow() {
	const grown = 2 // transcripts are enough
	home.Pass()
	n := 0
	for _, tr := range home.Found() {
		if tr.Kind != harness.Lines || tr.Zstd || n == grown {
			continue
		}
		n++
		whole, err := os.ReadFile(tr.Path)
		if err != nil {
			home.t.Fatal(err)
		}
		lines := bytes.SplitAfter(whole, []byte("\n"))
		last := lines[max(0, len(lines)-2)]
		huge := `{"type":"message","text":"` + strings.Repeat("monstrous ", 1_200_000) + "\"}\n"
		for _, step := range []struct{ name, content string }{
			{"a line more", string(whole) + string(last)},
			{"a torn line more", string(whole) + string(last) + string(last[:len(last)/2])},
			{"NULs, no JSON, and other JSON", string(whole) + "\x00\x00\x00\n" + "no json\n" + "[]\n7\nnull\n{}\n"},
			{"a monstrous line", string(whole) + huge},
			{"cut in the middle", string(whole[:len(whole)/2])},
			{"replaced by another beginning", `{"type":"other"}` + "\n" + string(whole)},
			{"as it was", string(whole)},
		} {
			if err := os.WriteFile(tr.Path, []byte(step.content), 0o600); err != nil {
				home.t.Fatal(err)
			}
			home.clean(step.name, home.Pass())
			want := step.content[:strings.LastIndexByte(step.content, '\n')+1]
			if got := home.Newest(tr.Source); string(got) != want {
				home.t.Errorf("%s: %s does not come back: %d bytes, want %d", step.name, tr.Path, len(got), len(want))
			}
		}
		home.Verify()
	}
}

// garbage overwrites every file of the store: nothing archived is lost, and nothing fails as a whole.
func (home *Home) garbage() {
	home.Pass()
	keys := home.Rows(`SELECT session_key FROM sessions ORDER BY 1`)
	streams := map[string][]byte{}
	for _, k := range keys {
		streams[k] = home.Stream(k)
	}
	for name, content := range map[string]string{
		"text": "no store at all\n", "empty": "", "NULs": strings.Repeat("\x00", 9000),
		"brackets": strings.Repeat("[", 1<<20) + "\n", "a header alone": "SQLite format 3\x00",
	} {
		for _, file := range home.files() {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				home.t.Fatal(err)
			}
		}
		home.Pass()
		for _, k := range keys {
			if got := home.Stream(k); !bytes.HasPrefix(got, streams[k]) {
				home.t.Errorf("%s: %s lost what was archived", name, k)
			}
		}
	}
	home.Verify()
}

func (home *Home) exclude() {
	dir := ""
	for _, tr := range home.Found() {
		if s, _ := turnsOf(home.h, tr, home.Records(tr)); s.CWD != "" {
			dir = s.CWD
			break
		}
	}
	if dir == "" {
		home.t.Skip("no session names its directory")
	}
	home.Configure(fmt.Sprintf("exclude = [%q]\n", dir))
	home.Pass()
	if n := home.Rows(`SELECT session_key FROM session_meta WHERE cwd = ?`, dir); len(n) > 0 {
		home.t.Errorf("archived in spite of the exclusion: %v", n)
	}
}

func (home *Home) empty() {
	if err := os.RemoveAll(home.Dir); err != nil {
		home.t.Fatal(err)
	}
	home.clean("without a home", home.Pass())
}

// hostile reads every record of the made-up home in every state of ruin.
func (home *Home) hostile() {
	for _, tr := range home.Found() {
		records := home.Records(tr)
		state, _ := turnsOf(home.h, tr, records)
		for i, r := range records {
			if i >= 40 {
				break
			}
			for _, bad := range ruins(r) {
				Check(home.t, home.h, bad, transcript.State{Key: tr.Key})
				Check(home.t, home.h, bad, state)
			}
		}
	}
}

// ruins are states in which a record may be found.
func ruins(r []byte) [][]byte {
	all := [][]byte{r, nil, []byte("\n"), bytes.Repeat([]byte("["), 4096), append([]byte("\x00\x00"), r...)}
	step := max(1, len(r)/64)
	for k := 0; k < len(r); k += step {
		all = append(all, r[:k], append(bytes.Clone(r[:k]), r[min(len(r), k+step):]...))
	}
	for _, swap := range []string{`null`, `7`, `"text"`, `[]`, `{}`, `[[["a"]]]`, `-1e999`, `true`} {
		all = append(all, swapped(r, swap)...)
	}
	return all
}

// swapped are copies of a record in each of which one value is another one.
func swapped(r []byte, by string) [][]byte {
	v, ok := transcript.ParseValue(bytes.TrimRight(r, "\n"))
	if !ok {
		return nil
	}
	var all [][]byte
	var walk func(v transcript.Value, depth int)
	walk = func(m transcript.Value, depth int) {
		at := cap(v) - cap(m)
		all = append(all, slices.Concat(v[:at], []byte(by), v[at+len(m):], []byte("\n")))
		if depth == 5 || len(all) > 400 {
			return
		}
		for _, e := range m.Members() {
			walk(e, depth+1)
		}
		for e := range m.Elements() {
			walk(e, depth+1)
		}
	}
	walk(v, 0)
	return all
}

// Check holds what is read of any record to what is promised of it: the same twice, spans inside
// the record, known types, bounded. It is what the fuzz targets of the harnesses call.
func Check(t testing.TB, h harness.Harness, record []byte, s transcript.State) {
	t.Helper()
	input := bytes.Clone(record)
	one, two := s, s
	one.Strange, two.Strange = maps.Clone(s.Strange), maps.Clone(s.Strange)
	a := h.Turns(record, &one)
	first := fmt.Sprintf("%+v %+v", a, one)
	for i := range a {
		turn := &a[i]
		if turn.Off < 0 || turn.Len < 0 || turn.Off+turn.Len > len(record) {
			t.Errorf("a turn stands at %d, %d bytes, in a record of %d: %.200q", turn.Off, turn.Len, len(record), record)
		}
		switch turn.Type {
		case transcript.User, transcript.Assistant, transcript.System, transcript.Attachment:
		default:
			t.Errorf("a turn has the type %q", turn.Type)
		}
		if (turn.Nature != transcript.NatureNone) != (turn.Type == transcript.User) && turn.Type != transcript.Attachment {
			t.Errorf("a turn of the type %s has the nature %d: %.200q", turn.Type, turn.Nature, record)
		}
	}
	for _, text := range []string{one.SessionID, one.CWD, one.Branch, one.ContinuesFrom, one.FirstParent, one.ParentKey, one.FirstTS, one.LastTS, one.Title, one.Own} {
		if len(text) > 2*transcript.StateLimit {
			t.Errorf("a state holds %d bytes", len(text))
		}
	}
	b := h.Turns(record, &two)
	if again := fmt.Sprintf("%+v %+v", b, two); again != first {
		t.Errorf("the same record is read in two ways: %.200q", record)
	}
	if !bytes.Equal(record, input) {
		t.Errorf("the record was changed: %.200q", input)
	}
}

// elsewhere exports the archive, takes it in where there is none, and then lets the agent's own
// store be found: nothing is archived twice.
func (home *Home) elsewhere() {
	const sessions = `SELECT session_key, stream_len, project FROM session_meta ORDER BY 1`
	t, ctx := home.t, context.Background()
	home.Pass()
	streams := home.Rows(sessions)
	r, err := search.Open(ctx, home.cfg)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "export")
	_, reason, err := export.Write(ctx, export.Options{Reader: r, Dir: dir, DataDir: home.cfg.DataDir})
	_ = r.Close()
	if err != nil || reason != "" {
		t.Fatal(reason, err)
	}
	home.cfg.DataDir = filepath.Join(t.TempDir(), "elsewhere")
	done, err := ingest.Import(ctx, ingest.ImportOptions{Config: home.cfg, Dir: dir, Now: time.Now})
	if err != nil || len(done.Refused) > 0 {
		t.Fatalf("%+v %v", done, err)
	}
	if got := home.Rows(sessions); !slices.Equal(got, streams) {
		t.Errorf("taken in: %v, want %v", got, streams)
	}
	home.Verify()
	home.clean("the agent's own store", home.Pass())
	if got := home.Rows(sessions); !slices.Equal(got, streams) {
		t.Errorf("with the agent's own store: %v, want %v", got, streams)
	}
	home.Verify()
}
