package store

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A conjunction of phrases need not be met row by row: FTS5 walks the rows of
// one phrase by itself, without SQLite's machine between two rows, and that
// walk has to be made for each phrase anyway to count its rows. So one walk a
// phrase gives the counts, the frequencies and, intersected, the rows.

// maxRoom bounds the room that is set aside for the rows of the first phrase.
// Memory is used as it fills; growing it would copy every row several times.
const maxRoom = 1 << 20

// takeAll walks the rows of each phrase, the cursor standing on the first row
// that holds them all.
func (c *Collector) takeAll(tls *libc.TLS, api *sqlite3.TFts5ExtensionApi, cursor uintptr) int32 {
	if rc := c.totals(tls, api, cursor); rc != sqlite3.SQLITE_OK {
		return rc
	}
	room := min(max(c.TotalRows, 0), maxRoom)
	c.Rows, c.Freq = make([]int64, 0, room), make([]uint32, 0, room*int64(c.Phrases))
	c.iter = tls.Alloc(iterSize)
	defer tls.Free(iterSize)
	query, callback := *(*fnQuery)(unsafe.Pointer(&api.FxQueryPhrase)), phraseRow
	for i := range c.Phrases {
		c.phrase, c.next, c.kept, c.walked = i, 0, 0, 0
		rc := query(tls, cursor, int32(i), uintptr(c.handle), *(*uintptr)(unsafe.Pointer(&callback)))
		if rc != sqlite3.SQLITE_OK {
			return rc
		}
		c.rowsWith = append(c.rowsWith, c.walked)
		if i > 0 {
			c.Rows, c.Freq = c.Rows[:c.kept], c.Freq[:c.kept*c.Phrases]
		}
	}
	return sqlite3.SQLITE_OK
}

// phraseRow is called for every row that holds a phrase, rows ascending.
func phraseRow(tls *libc.TLS, api, cursor, handle uintptr) int32 {
	c := collectors[handle].Load()
	if c == nil {
		return sqlite3.SQLITE_MISUSE
	}
	a := (*sqlite3.TFts5ExtensionApi)(at(api))
	row := (*(*fnRowid)(unsafe.Pointer(&a.FxRowid)))(tls, cursor)
	c.walked++
	if c.phrase == 0 {
		if !c.keeps(row) {
			return sqlite3.SQLITE_OK
		}
		n, rc := c.frequencyHere(tls, a, cursor)
		c.Rows = append(c.Rows, row)
		c.Freq = append(c.Freq, n)
		for range c.Phrases - 1 {
			c.Freq = append(c.Freq, 0)
		}
		return rc
	}
	for c.next < len(c.Rows) && c.Rows[c.next] < row {
		c.next++
	}
	if c.next == len(c.Rows) || c.Rows[c.next] != row {
		return sqlite3.SQLITE_OK
	}
	n, rc := c.frequencyHere(tls, a, cursor)
	c.Rows[c.kept] = row
	to, from := c.Freq[c.kept*c.Phrases:], c.Freq[c.next*c.Phrases:]
	copy(to[:c.phrase], from[:c.phrase])
	to[c.phrase] = n
	c.kept++
	c.next++
	return rc
}

// frequencyHere is how often the one phrase of a walk stands in the row of its
// cursor.
func (c *Collector) frequencyHere(tls *libc.TLS, api *sqlite3.TFts5ExtensionApi, cursor uintptr) (uint32, int32) {
	rc := (*(*fnFirst)(unsafe.Pointer(&api.FxPhraseFirst)))(tls, cursor, 0, c.iter, c.iter+iterColumn, c.iter+iterOffset)
	if rc != sqlite3.SQLITE_OK {
		return 0, rc
	}
	return frequency(c.iter, *(*int32)(at(c.iter + iterColumn))), rc
}
