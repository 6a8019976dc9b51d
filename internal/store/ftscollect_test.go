package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// searchTable opens a store with search rows, by rowid, one connection a use.
func searchTable(t testing.TB, rows map[int64]string) *DB {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	w, err := OpenWriter(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	for id, body := range rows {
		if _, err := w.ExecContext(ctx, `INSERT INTO turns_fts(rowid, body) VALUES (?, ?)`, id, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := OpenReader(ctx, Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func run(t testing.TB, db *DB, c *Collector, match string, first, last int64) error {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), `SELECT 1 FROM turns_fts WHERE turns_fts MATCH ? AND rowid BETWEEN ? AND ?
		AND `+CollectFunction+`(turns_fts, ?)`, match, first, last, c.Handle())
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		t.Error("a row comes back")
	}
	return rows.Err()
}

func collector(t testing.TB) *Collector {
	t.Helper()
	c, err := NewCollector(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const session = 1 << GroupBits

func TestACollectorTakesRowsAndFrequencies(t *testing.T) {
	far := strings.Repeat("x ", 40_000) // positions of three bytes
	db := searchTable(t, map[int64]string{
		1: "a b a", 2: "c", session: "b a b", session + 1: far + "a " + far + "a b", 5 * session: "b a",
	})
	all := []int64{1, session, session + 1, 5 * session}
	for name, c := range map[string]struct {
		match string
		keep  func(int64) bool
		whole bool
		spans []int64
		rows  []int64
		freq  []uint32
		seen  int64
		with  []int64
	}{
		"one word":            {`"a"`, nil, true, []int64{0, 9 * session}, all, []uint32{2, 1, 2, 1}, 4, []int64{4}},
		"one word, not whole": {`"a"`, nil, false, []int64{0, 9 * session}, all, []uint32{2, 1, 2, 1}, 4, []int64{4}},
		"two phrases": {
			`"a" AND "b a"`, nil, true,
			[]int64{0, 9 * session},
			[]int64{1, session, 5 * session},
			[]uint32{2, 1, 1, 1, 1, 1},
			3,
			[]int64{4, 3},
		},
		"either": {
			`"c" OR "a b"`, nil, true,
			[]int64{0, 9 * session},
			[]int64{1, 2, session, session + 1},
			[]uint32{0, 1, 1, 0, 0, 1, 0, 1},
			4,
			[]int64{1, 3},
		},
		"a prefix": {`"a"*`, nil, true, []int64{0, session - 1}, []int64{1}, []uint32{2}, 1, []int64{1}},
		"spans":    {`"a"`, nil, false, []int64{0, 1, session + 1, session + 5}, []int64{1, session + 1}, []uint32{2, 2}, 2, []int64{4}},
		"groups": {
			`"a"`, func(g int64) bool { return g == 1 }, true,
			[]int64{0, 9 * session},
			[]int64{session, session + 1},
			[]uint32{1, 2},
			4,
			[]int64{4},
		},
		"no group": {`"a"`, func(int64) bool { return false }, true, []int64{0, 9 * session}, nil, nil, 4, nil},
		"nothing":  {`"d"`, nil, true, []int64{0, 9 * session}, nil, nil, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := collector(t)
			got.Keep, got.Whole = c.keep, c.whole
			for i := 0; i < len(c.spans); i += 2 {
				if err := run(t, db, got, c.match, c.spans[i], c.spans[i+1]); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(got.Rows, c.rows) || !slices.Equal(got.Freq, c.freq) || got.Seen != c.seen || !slices.Equal(got.RowsWith(), c.with) {
				t.Errorf("got %v %v %d %v", got.Rows, got.Freq, got.Seen, got.RowsWith())
			}
			if c.rows != nil && (got.TotalRows != 5 || got.TotalTokens != 3+1+3+80_003+2) {
				t.Errorf("totals: %d, %d", got.TotalRows, got.TotalTokens)
			}
		})
	}
}

// TestAConjunctionReadByPhraseIsThatReadByRow takes random tables, groups left
// out, and conjunctions of words, phrases and prefixes.
func TestAConjunctionReadByPhraseIsThatReadByRow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	letters := []string{"a", "b", "c", "ab", "abc"}
	rows := map[int64]string{}
	for range 400 {
		var body []string
		for range rnd.IntN(30) {
			body = append(body, letters[min(rnd.IntN(5), rnd.IntN(5))])
		}
		rows[rnd.Int64N(8)*session+rnd.Int64N(200)] = strings.Join(body, " ")
	}
	db := searchTable(t, rows)
	found := 0
	for range 300 {
		var phrases []string
		for range 1 + rnd.IntN(4) {
			words := letters[rnd.IntN(5)]
			for range rnd.IntN(3) {
				words += " " + letters[rnd.IntN(5)]
			}
			if words = `"` + words + `"`; rnd.IntN(4) == 0 {
				words += "*"
			}
			phrases = append(phrases, words)
		}
		match := strings.Join(phrases, " AND ")
		out := rnd.Int64N(12)
		keep := func(group int64) bool { return group != out }
		byRow, byPhrase := collector(t), collector(t)
		byRow.Keep, byPhrase.Keep, byPhrase.All = keep, keep, true
		if err := run(t, db, byRow, match, math.MinInt64, math.MaxInt64); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(`SELECT 1 FROM turns_fts WHERE turns_fts MATCH ? AND terminus_collect(turns_fts, ?) LIMIT 1`, match, byPhrase.Handle()); err != nil {
			t.Fatal(err)
		}
		found += len(byRow.Rows)
		if !slices.Equal(byRow.Rows, byPhrase.Rows) || !slices.Equal(byRow.Freq, byPhrase.Freq) ||
			len(byRow.Rows) > 0 && !slices.Equal(byRow.RowsWith(), byPhrase.RowsWith()) {
			t.Fatalf("%s: by row %v %v %v, by phrase %v %v %v", match,
				byRow.Rows, byRow.Freq, byRow.RowsWith(), byPhrase.Rows, byPhrase.Freq, byPhrase.RowsWith())
		}
		byRow.Close()
		byPhrase.Close()
	}
	if found < 1000 {
		t.Errorf("%d rows were found in all: the test shows little", found)
	}
}

func TestAWrongCallOfTheCollectingFunctionIsAnError(t *testing.T) {
	db := searchTable(t, map[int64]string{1: "a"})
	c := collector(t)
	for name, call := range map[string]string{
		"no handle":      `terminus_collect(turns_fts)`,
		"two handles":    fmt.Sprintf(`terminus_collect(turns_fts, %d, 1)`, c.Handle()),
		"a free handle":  fmt.Sprintf(`terminus_collect(turns_fts, %d)`, (c.Handle()+1)%maxCollectors),
		"no such handle": `terminus_collect(turns_fts, 64)`,
		"negative":       `terminus_collect(turns_fts, -1)`,
		"no number":      `terminus_collect(turns_fts, x'00ff') AND terminus_collect(turns_fts, 'one')`,
		"no table":       `terminus_collect(1, 1)`,
	} {
		t.Run(name, func(t *testing.T) {
			var n int
			err := db.QueryRow(`SELECT 1 FROM turns_fts WHERE turns_fts MATCH 'a' AND ` + call).Scan(&n)
			if name == "no number" { // which counts as 0, and may be open
				return
			}
			if err == nil || errors.Is(err, sql.ErrNoRows) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCollectorsAreIndependentAndTheirNumberIsBounded(t *testing.T) {
	rows := map[int64]string{}
	for i := range int64(200) {
		rows[i] = "a b"
	}
	db := searchTable(t, rows)
	var wg sync.WaitGroup
	for i := range 2 * maxCollectors {
		wg.Go(func() {
			c, err := NewCollector(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			c.Keep = func(int64) bool { return i%2 == 0 }
			if err := run(t, db, c, `"a" AND "b"`, 0, 1<<40); err != nil {
				t.Error(err)
			}
			if want := 200 * (1 - i%2); len(c.Rows) != want {
				t.Errorf("%d rows, want %d", len(c.Rows), want)
			}
		})
	}
	wg.Wait()

	var open []*Collector
	for range maxCollectors {
		c, err := NewCollector(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewCollector(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("one more: %v", err)
	}
	for _, c := range open {
		c.Close()
		c.Close() // does nothing
	}
	if n := len(freeHandles); n != maxCollectors {
		t.Errorf("%d handles are free", n)
	}
}

func TestTheIndexCanBeReadDirectlyHere(t *testing.T) {
	if !Collects() {
		t.Fatal("it cannot")
	}
}

func BenchmarkProof(b *testing.B) {
	registered()
	for b.Loop() {
		if !prove() {
			b.Fatal("it cannot be read")
		}
	}
}

func TestAConnectionWithoutTheCollectingFunctionIsTold(t *testing.T) {
	if err := CollectError(errors.New("SQL logic error: no such function: terminus_collect (1)")); !errors.Is(err, ErrNoCollect) {
		t.Errorf("got %v", err)
	}
	other := errors.New("disk I/O error")
	if CollectError(nil) != nil || !errors.Is(CollectError(other), other) {
		t.Error("another error is changed")
	}
}
