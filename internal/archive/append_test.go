package archive

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/terminus-archive/terminus/internal/store"
)

func openStore(t testing.TB) *store.Writer {
	t.Helper()
	ctx := context.Background()
	db, err := store.OpenWriter(ctx, filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w, err := db.Writer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	if err := w.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	return w
}

// put appends lines to a session and commits them the way a pass does.
func put(t testing.TB, w *store.Writer, key string, quiet bool, cut func() bool, lines ...[]byte) Session {
	t.Helper()
	ctx := context.Background()
	s, ok, err := Load(ctx, w, key)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		if s.No, err = CreateSession(ctx, w, key, "claude"); err != nil {
			t.Fatal(err)
		}
		s.Tail.No = s.No
	}
	raw, err := s.Tail.OpenRaw(ctx, w)
	if err != nil {
		t.Fatal(err)
	}
	a := NewAppender(s.Tail, raw)
	save := func(up Append) {
		if err := SaveMeta(ctx, w, key, Meta{TranscriptPath: "/p"}, up.Tail, up.Unsettled); err != nil {
			t.Fatal(err)
		}
		if err := SaveBlocks(ctx, w, s.No, up); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range lines {
		if a.AtCut(len(l)) && cut() {
			save(a.Cut())
		}
		a.Add(l, true)
	}
	save(a.Finish(quiet))
	s, _, err = Load(ctx, w, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func never() bool { return false }

func randomLines(r *rand.Rand, n int) [][]byte {
	var out [][]byte
	for range n {
		size := r.IntN(2000)
		switch r.IntN(40) {
		case 0:
			size = r.IntN(400 << 10)
		case 1:
			size = r.IntN(5 << 20)
		}
		line := make([]byte, size+1)
		for i := range line[:size] {
			line[i] = 'a' + byte(r.IntN(16))
		}
		line[size] = '\n'
		out = append(out, line)
	}
	return out
}

func layout(t *testing.T, w *store.Writer, no int64) []string {
	t.Helper()
	infos, err := blockInfos(context.Background(), w, no, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range infos {
		out = append(out, fmt.Sprintf("%d %d %d %x %v", b.N, b.Off, b.Len, b.Hash[:4], b.Raw))
	}
	return out
}

func TestBlocksOfASettledSessionDependOnlyOnItsBytes(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		lines := randomLines(r, 60)
		whole := bytes.Join(lines, nil)
		w := openStore(t)
		one := put(t, w, "one", true, never, lines...)
		cuts := put(t, w, "cuts", true, func() bool { return true }, lines...)
		for i := 0; i < len(lines); {
			k := min(len(lines), i+1+r.IntN(20))
			put(t, w, "live", false, func() bool { return r.IntN(2) == 0 }, lines[i:k]...)
			i = k
		}
		if err := Settle(ctx, w, "live"); err != nil {
			t.Fatal(err)
		}
		live, _, err := Load(ctx, w, "live")
		if err != nil {
			t.Fatal(err)
		}
		want := layout(t, w, one.No)
		for name, s := range map[string]Session{"cuts": cuts, "live": live} {
			if got := layout(t, w, s.No); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d: %s has blocks\n%v\nin one go there are\n%v", seed, name, got, want)
			}
			if !bytes.Equal(s.Tail.Sum, one.Tail.Sum) || s.Tail.Settled != one.Tail.Settled {
				t.Fatalf("seed %d: %s has another checksum", seed, name)
			}
			got, err := ReadRange(ctx, w, s.No, 0, int64(len(whole)))
			if err != nil || !bytes.Equal(got, whole) {
				t.Fatalf("seed %d: %s gives back other bytes (%v)", seed, name, err)
			}
		}
		for range 50 {
			off := r.Int64N(int64(len(whole)))
			n := r.Int64N(int64(len(whole))-off) + 1
			got, err := ReadRange(ctx, w, live.No, off, n)
			if err != nil || !bytes.Equal(got, whole[off:off+n]) {
				t.Fatalf("seed %d: range %d+%d: %v", seed, off, n, err)
			}
		}
		if _, err := ReadRange(ctx, w, live.No, int64(len(whole))-1, 2); err == nil {
			t.Fatal("a range past the end is no error")
		}
	}
}

func TestALiveAppendAddsOneRowAndRewritesNothing(t *testing.T) {
	w := openStore(t)
	line := bytes.Repeat([]byte("x"), 4095)
	line = append(line, '\n')
	put(t, w, "s", false, never, line)
	before := layout(t, w, 0)
	put(t, w, "s", false, never, line)
	after := layout(t, w, 0)
	if len(after) != 2 || after[0] != before[0] {
		t.Fatalf("blocks before %v, after %v", before, after)
	}
	for range SealSize/4096 - 2 {
		put(t, w, "s", false, never, line)
	}
	if got := layout(t, w, 0); len(got) != 1 {
		t.Fatalf("raw rows of %d bytes are not sealed: %v", SealSize, got)
	}
}

func TestAnAppendRefusesADamagedEnd(t *testing.T) {
	ctx := context.Background()
	for _, damage := range []string{
		`UPDATE blocks SET bytes = x'00' || substr(bytes, 2)`,
		`UPDATE blocks SET hash = zeroblob(32)`,
		`UPDATE session_meta SET checksum = zeroblob(32)`,
		`DELETE FROM blocks`,
	} {
		w := openStore(t)
		put(t, w, "s", false, never, []byte("line\n"))
		if _, err := w.ExecContext(ctx, damage); err != nil {
			t.Fatal(err)
		}
		s, _, err := Load(ctx, w, "s")
		if err == nil {
			_, err = s.Tail.OpenRaw(ctx, w)
		}
		if err == nil {
			t.Errorf("%s: not noticed", damage)
		}
	}
}

func TestSessionNumbersAndSlots(t *testing.T) {
	ctx := context.Background()
	w := openStore(t)
	for i := range 3 {
		no, err := CreateSession(ctx, w, fmt.Sprint("s", i), "claude")
		if err != nil || no != int64(i) {
			t.Fatalf("session %d has number %d: %v", i, no, err)
		}
	}
	if _, err := w.ExecContext(ctx, `DELETE FROM sessions WHERE session_no = 2`); err != nil {
		t.Fatal(err)
	}
	if no, err := CreateSession(ctx, w, "s3", "claude"); err != nil || no != 3 {
		t.Fatalf("a number was used twice: %d, %v", no, err)
	}
	slots := map[string]int64{}
	for i, project := range []string{"/a", "/b", "", "/a"} {
		key := fmt.Sprint("s", []int{0, 1, 3, 4}[i])
		if i == 3 {
			if _, err := CreateSession(ctx, w, key, "claude"); err != nil {
				t.Fatal(err)
			}
		}
		slot, err := AssignSlot(ctx, w, key, project)
		if err != nil {
			t.Fatal(err)
		}
		slots[key] = slot
	}
	if slots["s0"] != 0 || slots["s1"] != 1<<SlotBits || slots["s3"] != 2<<SlotBits || slots["s4"] != 1 {
		t.Fatalf("slots %v", slots)
	}
	if _, err := w.ExecContext(ctx, `UPDATE slot_blocks SET used = 1024 WHERE block = 0`); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateSession(ctx, w, "s5", "claude"); err != nil {
		t.Fatal(err)
	}
	if slot, err := AssignSlot(ctx, w, "s5", "/a"); err != nil || slot != 3<<SlotBits {
		t.Fatalf("a full block is followed by slot %d: %v", slot, err)
	}
}

var (
	_ Execer  = (*store.Writer)(nil)
	_ Querier = (*sql.DB)(nil)
)
