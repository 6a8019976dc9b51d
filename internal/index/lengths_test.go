package index_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/store"
)

// TestLengthsAreThoseOfTheSearchRows writes turns, some of which take over
// others, and compares with what FTS5 itself keeps.
func TestLengthsAreThoseOfTheSearchRows(t *testing.T) {
	ctx := context.Background()
	db, err := store.OpenWriter(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	no, err := archive.CreateSession(ctx, db, "a.jsonl", "claude")
	if err != nil {
		t.Fatal(err)
	}
	slot, err := archive.AssignSlot(ctx, db, "a.jsonl", "/p")
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	bodies := []string{
		"", "///", "one", "one two three", "camelCase word_s", strings.Repeat("w ", 300),
		strings.Repeat("w ", index.LongLength-1), strings.Repeat("w ", index.LongLength), strings.Repeat("w ", 100_000),
	}
	next := int64(0)
	for pass := range 12 {
		var rows []index.Row
		for range rnd.IntN(9) {
			at := rnd.IntN(int(next) + 8) // an old one now and then
			rows = append(rows, index.Row{NativeID: strconv.Itoa(at), Type: "user", Body: []byte(bodies[rnd.IntN(len(bodies))])})
		}
		added, _, err := index.Write(ctx, db, index.Target{No: no, Slot: slot, Next: next}, rows)
		if err != nil {
			t.Fatal(err)
		}
		next += added
		if pass == 6 { // as a store that never had them
			if _, err := db.Exec(`DELETE FROM lengths`); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if pass < 6 {
			compareLengths(t, db, slot, next)
		}
	}
	compareLengths(t, db, slot, next)
}

// compareLengths checks that lengths is right wherever it claims to know.
func compareLengths(t *testing.T, db *store.DB, slot, turns int64) {
	t.Helper()
	var counts []byte
	if err := db.QueryRow(`SELECT coalesce((SELECT counts FROM lengths WHERE slot = ?), x'')`, slot).Scan(&counts); err != nil {
		t.Fatal(err)
	}
	if int64(len(counts)) != turns*index.LengthBytes {
		t.Fatalf("%d bytes for %d turns", len(counts), turns)
	}
	for seq := range turns {
		got := int64(binary.LittleEndian.Uint16(counts[seq*index.LengthBytes:]))
		var sizes []string
		var size []byte
		err := db.QueryRow(`SELECT sz FROM turns_fts_docsize WHERE id = ?`, slot<<archive.TurnBits|seq).Scan(&size)
		want := int64(0)
		if err == nil {
			if want, err = index.DecodeLength(size); err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, fmt.Sprint(want))
		}
		if want = min(want, index.LongLength); got != want && got != 0 {
			t.Errorf("turn %d: %d, FTS5 has %v", seq, got, sizes)
		}
	}
}

func TestDecodeLength(t *testing.T) {
	for in, want := range map[string]int64{
		"\x00": 0, "\x7f": 127, "\x81\x00": 128, "\x84\x80\x00": 65536, "\x87\xff\xff\xff\x7f": 1<<31 - 1,
		"": -1, "\x81": -1, "\x01\x01": -1, "\x81\x80\x80\x80\x80\x00": -1,
	} {
		got, err := index.DecodeLength([]byte(in))
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%x: got %d, want %d", in, got, want)
		}
	}
}

func FuzzDecodeLength(f *testing.F) {
	f.Add([]byte{0x84, 0x80, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := index.DecodeLength(b); err == nil && (n < 0 || n >= 1<<35) {
			t.Errorf("%x: %d", b, n)
		}
	})
}
