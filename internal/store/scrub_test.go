package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
)

// page makes a leaf of a table with cells of that size at its end, and junk in
// the gap before them.
func page(size, cells, cellSize int) []byte {
	p := bytes.Repeat([]byte{0xa5}, size)
	p[0] = leafTable
	binary.BigEndian.PutUint16(p[3:], uint16(cells))
	binary.BigEndian.PutUint16(p[5:], uint16(size-cells*cellSize))
	return p
}

func TestOnlyTheGapOfAPageIsCleared(t *testing.T) {
	full := page(512, 4, 126) // 8 + 2 * 4 bytes, then the cells: no gap is left
	binary.BigEndian.PutUint16(full[5:], 16)
	for _, c := range []struct {
		name  string
		page  []byte
		first bool
		dirty bool
	}{
		{"a leaf with junk in its gap", page(512, 3, 20), false, true},
		{"a full leaf", full, false, false},
		{"a page of no tree", append([]byte{1}, page(512, 3, 20)[1:]...), false, false},
		{"cells that begin behind the end", page(512, 300, 20), false, false},
		{"a page that is too short", []byte{leafTable, 0, 0}, false, false},
		{"the first page, whose tree begins behind the header", append(make([]byte, headerOnFirst), page(412, 3, 20)...), true, false},
	} {
		got := bytes.Clone(c.page)
		if dirty := clearGap(got, c.first); dirty != c.dirty && !c.first {
			t.Errorf("%s: dirty %v", c.name, dirty)
		}
		if c.dirty && (bytes.Contains(got[8+2*3:512-60], []byte{0xa5}) || !bytes.Equal(got[512-60:], c.page[512-60:]) || !bytes.Equal(got[:14], c.page[:14])) {
			t.Errorf("%s: something else was changed, or not all of the gap", c.name)
		}
		if clearGap(got, c.first) {
			t.Errorf("%s: it is not clean afterwards", c.name)
		}
	}
}

// Whatever a page holds, nothing is written outside the gap that its header tells,
// and a second look finds nothing.
func FuzzClearGap(f *testing.F) {
	f.Add(page(512, 3, 20), false)
	f.Add(append(make([]byte, headerOnFirst), page(412, 3, 20)...), true)
	f.Fuzz(func(t *testing.T, p []byte, first bool) {
		got := bytes.Clone(p)
		dirty := clearGap(got, first)
		if dirty == bytes.Equal(got, p) {
			t.Fatalf("dirty %v", dirty)
		}
		if clearGap(got, first) {
			t.Fatal("it is not clean afterwards")
		}
		if !dirty {
			return
		}
		head := 0
		if first {
			head = headerOnFirst
		}
		from := head + 8 + 2*int(binary.BigEndian.Uint16(p[head+3:]))
		to := int(binary.BigEndian.Uint16(p[head+5:]))
		if to == 0 {
			to = 1 << 16
		}
		if !bytes.Equal(got[:from], p[:from]) || !bytes.Equal(got[to:], p[to:]) {
			t.Fatal("something outside the gap was changed")
		}
	})
}

// Copies that SQLite leaves behind are gone after a scrub, and nothing that can be
// read has changed.
func TestScrubRemovesWhatDeletedRowsLeftBehind(t *testing.T) {
	ctx := context.Background()
	db := writer(t, t.TempDir())
	w, err := db.Writer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	do := func(query string, args ...any) {
		t.Helper()
		if _, err := w.ExecContext(ctx, query, args...); err != nil {
			t.Fatal(err)
		}
	}
	// Rows in no order, so that pages are split all over the index.
	for i := range 6000 {
		at := i * 7919 % 6000
		do(`INSERT INTO entity_values(kind, value) VALUES ('path', ?)`, fmt.Sprintf("%05d-secret%d-%s", at, i%3, strings.Repeat("x", i%200)))
	}
	do(`DELETE FROM entity_values WHERE value LIKE '%secret1%'`)
	if err := w.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	places := func() int {
		data, err := os.ReadFile(db.Path)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(data, []byte("secret1"))
	}
	if places() == 0 {
		t.Skip("this build of SQLite leaves nothing behind")
	}
	sum := func() (text string) {
		t.Helper()
		if err := w.QueryRowContext(ctx, `SELECT count(*) || ' ' || sum(length(value)) || ' ' || min(value) || max(value) FROM entity_values`).Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := sum()
	if err := w.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	if cleared, err := w.Truncate(ctx, 0); err != nil || !cleared {
		t.Fatal(cleared, err)
	}
	if n := places(); n > 0 {
		t.Errorf("%d copies are left", n)
	}
	if after := sum(); after != before {
		t.Errorf("the rows were %s and are %s", before, after)
	}
	var check string
	if err := w.QueryRowContext(ctx, `PRAGMA integrity_check`).Scan(&check); err != nil || check != "ok" {
		t.Errorf("integrity_check: %s %v", check, err)
	}
	// Nothing more to write.
	if err := w.Scrub(ctx); err != nil || db.WALBytes() > 0 {
		t.Errorf("a second scrub wrote %d bytes, %v", db.WALBytes(), err)
	}
}

// What kind a page is was asked before it is written: where another program has
// written in between, nothing is.
func TestScrubStopsWhereAnotherProgramWrites(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db := writer(t, dir)
	w, err := db.Writer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	version, err := w.dataVersion(ctx)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := w.treePages(ctx)
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	other := writer(t, dir)
	exec(t, other.DB, `INSERT INTO meta VALUES ('other', 'x')`)
	if err := w.scrub(ctx, version, pages); !IsKind(err, Locked) {
		t.Errorf("it gives %v", err)
	}
	w.Rollback()
	if err := w.Scrub(ctx); err != nil {
		t.Errorf("from the start: %v", err)
	}
}
