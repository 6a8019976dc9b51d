package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/observe"
	"github.com/terminus-archive/terminus/internal/store"
)

const beside = "aaaaaaaa-0000-4000-8000-000000000001/tool-results/out.txt"

// companions tells of each version whether its bytes are there.
func (f *fixture) companions(no int64) string {
	f.t.Helper()
	list, err := archive.Companions(context.Background(), f.reader(), no)
	if err != nil {
		f.t.Fatal(err)
	}
	var out []string
	for _, c := range list {
		var b bytes.Buffer
		switch err := archive.WriteCompanion(context.Background(), f.reader(), c, &b); {
		case errors.Is(err, archive.ErrEvicted) && c.Evicted && b.Len() == 0:
			out = append(out, fmt.Sprintf("%d evicted", c.Version))
		case err == nil:
			out = append(out, fmt.Sprintf("%d %s", c.Version, b.String()))
		default:
			f.t.Fatal(c, err)
		}
	}
	return strings.Join(out, ", ")
}

// The bytes of companions go and come with those of their session.
func TestCompanionsAreEvictedAndComeBackWithTheirSession(t *testing.T) {
	const name = "aaaaaaaa-0000-4000-8000-000000000001.jsonl"
	f := newFixture(t)
	f.write(name, user(1, "one"))
	f.write(beside, "printed")
	f.pass()
	f.evict(name)
	if got := f.companions(0); got != "1 evicted" {
		t.Errorf("evicted: %s", got)
	}
	f.verifyClean()
	f.idle()
	// Touched, it is known by its hash.
	later := f.now.Add(time.Hour)
	if err := os.Chtimes(f.path(beside), later, later); err != nil {
		t.Fatal(err)
	}
	f.pass()
	if got := f.companions(0); got != "1 evicted" {
		t.Errorf("touched: %s", got)
	}
	f.idle()
	// What is new is kept, whatever became of the older version.
	f.write(beside, "printed more")
	f.pass()
	if got := f.companions(0); got != "1 evicted, 2 printed more" {
		t.Errorf("changed: %s", got)
	}
	f.verifyClean()
	f.idle()
	f.write(beside, "printed")
	f.append(name, user(2, "two"))
	f.pass()
	if got := f.companions(0); got != "1 printed, 2 printed more" {
		t.Errorf("back: %s", got)
	}
	f.verifyClean()
	f.idle()
	f.evict(name)
	if got := f.companions(0); got != "1 evicted, 2 evicted" {
		t.Errorf("evicted again: %s", got)
	}
	f.verifyClean()
}

// A deleted session is gone from every table, its neighbours stay as they were, and
// neither its number nor its slot is given away again.
func TestADeletedSessionIsGoneFromEveryTable(t *testing.T) {
	const name, other = "aaaaaaaa-0000-4000-8000-000000000001.jsonl", "bbbbbbbb-0000-4000-8000-000000000001.jsonl"
	tables := func(f *fixture) string {
		var out []string
		for _, table := range []string{
			"sessions", "session_meta", "blocks", "revisions", "extents", "companions", "companion_marks", "companion_parts", "watermarks",
			"turns", "line_index", "compaction_boundaries", "entities", "entity_values", "lengths", "turns_fts_docsize", "observations",
		} {
			out = append(out, fmt.Sprintf("%s %d", table, f.count(`SELECT count(*) FROM `+table)))
		}
		return strings.Join(out, "\n")
	}
	tool := func(n int, path string) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,"timestamp":"2026-01-02T03:04:05.000Z","sessionId":"s","cwd":"/work/p","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":%q}}]}}`+"\n", uuid(n), path)
	}
	alone := newFixture(t)
	alone.write(other, user(9, "stays"), tool(10, "/both.go"))
	alone.pass()
	alone.pass()

	f := newFixture(t)
	f.write(name, user(1, "goes"), tool(2, "/both.go"), tool(3, "/only.go"))
	f.write(beside, "printed")
	f.pass()
	f.write(name, user(1, "goes"), tool(3, "/only.go"), user(4, "another state")) // a revision
	f.write(other, user(9, "stays"), tool(10, "/both.go"))
	f.pass()
	f.pass()
	s, ok, err := archive.Load(context.Background(), f.reader(), name)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, path := range []string{f.path(name), f.path(beside)} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	f.write1(func(ctx context.Context, w *store.Writer) error {
		if _, err := observe.Delete(ctx, w, name); err != nil {
			return err
		}
		if err := index.Erase(ctx, w, s.No, s.Slot); err != nil {
			return err
		}
		return archive.Delete(ctx, w, s.No)
	})
	if got, want := tables(f), tables(alone); got != want {
		t.Errorf("it leaves\n%s\na store that never had it has\n%s", got, want)
	}
	if n := f.count(`SELECT count(*) FROM pragma_foreign_key_check`); n > 0 {
		t.Errorf("%d rows refer to what is gone", n)
	}
	if n := f.find("goes"); n > 0 {
		t.Errorf("it is found %d times", n)
	}
	f.verifyClean()
	if pending, err := index.PurgePending(context.Background(), f.reader()); err != nil || !pending {
		t.Errorf("a purge is owed: %v, %v", pending, err)
	}
	f.pass()
	if pending, err := index.PurgePending(context.Background(), f.reader()); err != nil || pending {
		t.Errorf("after a pass a purge is owed: %v, %v", pending, err)
	}
	f.write(name, user(1, "goes"))
	f.pass()
	back, _, err := archive.Load(context.Background(), f.reader(), name)
	if err != nil || back.No <= s.No+1 || back.Slot <= s.Slot+1 {
		t.Errorf("it comes back as session %d in slot %d, it was %d in %d (%v)", back.No, back.Slot, s.No, s.Slot, err)
	}
	f.verifyClean()
}
