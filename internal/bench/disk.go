package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/terminus-archive/terminus/internal/store"
)

// disk notes what each part of the store takes.
func (b *bench) disk() error {
	bytes, _, err := sizeOf(b.root)
	if err != nil {
		return err
	}
	db, err := store.OpenReader(context.Background(), store.Path(b.data()))
	if err != nil {
		return err
	}
	defer db.Close()
	info, err := os.Stat(db.Path)
	if err != nil {
		return err
	}
	rows, err := db.Query(`SELECT CASE
			WHEN name LIKE 'turns_fts%' THEN 'search index'
			WHEN name = 'blocks' OR name LIKE 'sqlite_autoindex_blocks%' THEN 'blocks'
			WHEN name LIKE 'companion%' OR name LIKE 'sqlite_autoindex_companion%' THEN 'companions'
			WHEN name LIKE '%entit%' THEN 'entities'
			WHEN name LIKE '%turns%' THEN 'turns'
			WHEN name = 'lengths' THEN 'lengths' ELSE 'the rest' END AS part, sum(pgsize) FROM dbstat
		WHERE aggregate = TRUE GROUP BY part ORDER BY 2 DESC`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var parts []string
	for rows.Next() {
		var part string
		var n int64
		if err := rows.Scan(&part, &n); err != nil {
			return err
		}
		parts = append(parts, fmt.Sprintf("%s %.2f %%", part, 100*float64(n)/float64(bytes)))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	b.note("store", "%.1f MB, %.1f %% of the transcripts: %s", float64(info.Size())/1e6,
		100*float64(info.Size())/float64(bytes), strings.Join(parts, ", "))
	segments, err := b.segments()
	if err == nil {
		b.note("segments of the index", "%d", segments)
	}
	return err
}

// The search index keeps a list of its segments in this row of its data.
const structureRow = 10

// segments counts the segments of the search index: what every look-up of a
// word has to ask.
func (b *bench) segments() (uint64, error) {
	var p []byte
	if err := b.ask(fmt.Sprintf(`SELECT block FROM turns_fts_data WHERE id = %d`, structureRow), &p); err != nil {
		return 0, err
	}
	const cookie, mark = 4, "\xff\x00\x00\x01"
	if len(p) < cookie {
		return 0, errors.New("the index has no structure")
	}
	p = p[cookie:]
	p = []byte(strings.TrimPrefix(string(p), mark))
	_, n := varint(p) // levels
	segments, m := varint(p[n:])
	if n == 0 || m == 0 {
		return 0, errors.New("the structure of the index cannot be read")
	}
	return segments, nil
}

// varint reads SQLite's variable-length integer, of the lengths that a count
// takes; 0 bytes for any other.
func varint(p []byte) (v uint64, n int) {
	for n < len(p) && n < binary.MaxVarintLen32 {
		c := p[n]
		v = v<<7 | uint64(c&0x7f)
		n++
		if c < 0x80 {
			return v, n
		}
	}
	return 0, 0
}
