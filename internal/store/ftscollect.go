package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Collecting. FTS5 ranks by looking up the length of every row that matches,
// which is nine tenths of the work of ranking a common word. An auxiliary
// function of our own only notes the rows and how often each phrase stands in
// them, from what FTS5 holds in memory anyway; whoever ranks knows the lengths
// in a denser form.
//
// The function is written against FTS5's C interface as the driver translated
// it: a C pointer is a uintptr to memory that the Go runtime does not manage,
// and a C function pointer is the address of a Go function's descriptor.

// CollectFunction is the SQL function that fills a Collector:
//
//	SELECT 1 FROM turns_fts WHERE turns_fts MATCH ? AND terminus_collect(turns_fts, ?)
//
// with the Collector's Handle. It is null for every row, so that no row comes
// back.
const CollectFunction = "terminus_collect"

// GroupBits is how many low bits of a rowid count inside one group of rows: a
// session's rows are one group.
const GroupBits = 24

// A Collector takes what one or more runs of one MATCH expression give. Its
// fields may be read between runs. It is for one goroutine.
type Collector struct {
	// Keep says whether rows of a group (rowid >> GroupBits) are noted; nil
	// notes all. It is asked once whenever the group changes.
	Keep func(group int64) bool
	// Whole says that one run covers the whole table, which then need not be
	// read once more to count the rows with the one phrase of an expression.
	Whole bool
	// All says that the expression is a conjunction of phrases. One run then
	// gives all rows of the table, whatever its range; a row comes back that ends
	// it (LIMIT 1).
	All bool

	// Phrases is the number of phrases in the expression, 0 until a row is noted.
	Phrases int
	// Rows are the rows noted, in the order of the runs, each run ascending.
	Rows []int64
	// Freq is how often each phrase stands in each row: Phrases numbers a row.
	Freq []uint32
	// Seen is how many rows matched, noted or not.
	Seen int64
	// TotalRows and TotalTokens are those of the whole table, 0 until a row is
	// noted.
	TotalRows, TotalTokens int64

	rowsWith []int64
	handle   int
	group    int64
	keep     bool

	// Of the walk along one phrase: its number, the row of Rows that comes next,
	// how many of those before it are kept, how many rows were met, and memory for
	// an iterator.
	phrase, next, kept int
	walked             int64
	iter               uintptr
}

// maxCollectors is how many collectors may be open at once. A further one
// waits; each is open for some milliseconds.
const maxCollectors = 64

var (
	collectors  [maxCollectors]atomic.Pointer[Collector] // by handle
	freeHandles = make(chan int, maxCollectors)
)

// registered tells whether connections get the function: once, before the first
// of them is opened.
var registered = sync.OnceValue(func() bool {
	for i := range maxCollectors {
		freeHandles <- i
	}
	tls := libc.NewTLS()
	defer tls.Close()
	extend := initCollect
	return sqlite3.Xsqlite3_auto_extension(tls, *(*uintptr)(unsafe.Pointer(&extend))) == sqlite3.SQLITE_OK
})

// ErrNoCollect means that FTS5 did not take the function, or that it does not
// give here what it gives elsewhere.
var ErrNoCollect = errors.New("the search index cannot be read directly")

// CollectError is ErrNoCollect where err says that the connection has no
// CollectFunction, and otherwise err.
func CollectError(err error) error {
	if err != nil && strings.Contains(err.Error(), "no such function: "+CollectFunction) {
		return ErrNoCollect
	}
	return err
}

// NewCollector opens a Collector, to be closed. It is ErrNoCollect where this
// build of SQLite does not take the function.
func NewCollector(ctx context.Context) (*Collector, error) {
	if !registered() {
		return nil, ErrNoCollect
	}
	select {
	case h := <-freeHandles:
		c := &Collector{handle: h, group: -1}
		collectors[h].Store(c)
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Handle is the second argument of CollectFunction.
func (c *Collector) Handle() int64 { return int64(c.handle) }

// RowsWith is the number of rows of the whole table that hold each phrase, nil
// while no row is noted.
func (c *Collector) RowsWith() []int64 {
	if c.Whole && c.Phrases == 1 && !c.All {
		return []int64{c.Seen}
	}
	return c.rowsWith
}

// Close gives the handle back. What was collected stays.
func (c *Collector) Close() {
	if collectors[c.handle].CompareAndSwap(c, nil) {
		freeHandles <- c.handle
	}
}

// collectStatement collects all rows, of every group.
const collectStatement = `SELECT 1 FROM t WHERE t MATCH ? AND ` + CollectFunction + `(t, ?) LIMIT 1`

// Collects proves, once a process and on a table of three rows, that the
// function reads FTS5's structures rightly: a driver with another layout must
// cost speed, not answers. It takes half a millisecond; whoever can compare a
// result with one of FTS5's own for less need not ask.
var Collects = sync.OnceValue(func() bool { return registered() && prove() })

func prove() bool {
	ctx := context.Background()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return false
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(ctx, `CREATE VIRTUAL TABLE t USING fts5(body, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
		INSERT INTO t(rowid, body) VALUES (5, 'a b a'), (33554433, 'b a b c b a'), (50331648, 'c d')`)
	if err != nil {
		return false
	}
	for _, all := range []bool{false, true} {
		c := &Collector{handle: <-freeHandles, group: -1, Keep: func(g int64) bool { return g == 2 }, All: all}
		collectors[c.handle].Store(c)
		_, err := db.ExecContext(ctx, collectStatement, `"b" AND "b a"`, c.Handle())
		c.Close()
		if err != nil || !slices.Equal(c.Rows, []int64{33554433}) || !slices.Equal(c.Freq, []uint32{3, 2}) ||
			c.TotalRows != 3 || c.TotalTokens != 11 || !slices.Equal(c.RowsWith(), []int64{2, 2}) {
			return false
		}
	}
	return true
}

// Log is the logarithm that FTS5 ranks with. Go's differs from it in the last
// bit of some values.
func Log(x float64) float64 { return libc.Xlog(nil, x) }

// at is the memory at a C address. It is not memory of the Go runtime, which
// therefore neither moves nor frees it.
func at(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// initCollect gives a new connection the function. A connection without it
// answers all the same, so it never fails.
func initCollect(tls *libc.TLS, db, _, _ uintptr) int32 {
	// The statement below may be the first to read the schema, and another
	// process may be about to write it; the driver sets its own time later.
	sqlite3.Xsqlite3_busy_timeout(tls, db, int32(busyTimeout.Milliseconds()))
	register(tls, db)
	return sqlite3.SQLITE_OK
}

// register does nothing where FTS5 cannot be reached: a file that is no
// database, or a build without it.
func register(tls *libc.TLS, db uintptr) {
	const pointer = 8 // bytes
	out := tls.Alloc(pointer)
	defer tls.Free(pointer)
	*(*uintptr)(at(out)) = 0

	name, query, kind := cString(CollectFunction), cString(`SELECT fts5(?1)`), cString("fts5_api_ptr")
	defer libc.Xfree(tls, name)
	defer libc.Xfree(tls, query)
	defer libc.Xfree(tls, kind)

	if sqlite3.Xsqlite3_prepare_v2(tls, db, query, -1, out, 0) != sqlite3.SQLITE_OK {
		return
	}
	stmt := *(*uintptr)(at(out))
	*(*uintptr)(at(out)) = 0
	sqlite3.Xsqlite3_bind_pointer(tls, stmt, 1, out, kind, 0)
	sqlite3.Xsqlite3_step(tls, stmt)
	api := *(*uintptr)(at(out))
	sqlite3.Xsqlite3_finalize(tls, stmt)
	if api == 0 {
		return
	}
	function := collect
	create := *(*func(tls *libc.TLS, api, name, data, function, destroy uintptr) int32)(
		unsafe.Pointer(&(*sqlite3.Tfts5_api)(at(api)).FxCreateFunction))
	create(tls, api, name, 0, *(*uintptr)(unsafe.Pointer(&function)), 0)
}

// cString copies a string into memory of C; an address of 0 stands for none,
// and SQLite takes it for a wrong argument.
func cString(s string) uintptr {
	p, err := libc.CString(s)
	if err != nil {
		return 0
	}
	return p
}

// collect is the auxiliary function: FTS5 calls it with the cursor on a row.
func collect(tls *libc.TLS, api, cursor, result uintptr, n int32, args uintptr) {
	if n != 1 {
		sqlite3.Xsqlite3_result_error_code(tls, result, sqlite3.SQLITE_MISUSE)
		return
	}
	h := sqlite3.Xsqlite3_value_int64(tls, *(*uintptr)(at(args)))
	var c *Collector
	if h >= 0 && h < maxCollectors {
		c = collectors[h].Load()
	}
	rc := int32(sqlite3.SQLITE_MISUSE)
	switch a := (*sqlite3.TFts5ExtensionApi)(at(api)); {
	case c != nil && c.All:
		rc = c.takeAll(tls, a, cursor)
		sqlite3.Xsqlite3_result_int(tls, result, 1)
	case c != nil:
		rc = c.take(tls, a, cursor)
	}
	if rc != sqlite3.SQLITE_OK {
		sqlite3.Xsqlite3_result_error_code(tls, result, rc)
	}
}

// The forms of the functions of FTS5's interface.
type (
	fnRowid  = func(tls *libc.TLS, cursor uintptr) int64
	fnCount  = func(tls *libc.TLS, cursor uintptr) int32
	fnRows   = func(tls *libc.TLS, cursor, out uintptr) int32
	fnTokens = func(tls *libc.TLS, cursor uintptr, column int32, out uintptr) int32
	fnFirst  = func(tls *libc.TLS, cursor uintptr, phrase int32, iter, column, offset uintptr) int32
	fnQuery  = func(tls *libc.TLS, cursor uintptr, phrase int32, data, callback uintptr) int32
)

// take notes the row on which the cursor stands.
func (c *Collector) take(tls *libc.TLS, api *sqlite3.TFts5ExtensionApi, cursor uintptr) int32 {
	row := (*(*fnRowid)(unsafe.Pointer(&api.FxRowid)))(tls, cursor)
	c.Seen++
	if !c.keeps(row) {
		return sqlite3.SQLITE_OK
	}
	if c.Phrases == 0 {
		if rc := c.start(tls, api, cursor); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	iter := tls.Alloc(iterSize)
	defer tls.Free(iterSize)
	first := *(*fnFirst)(unsafe.Pointer(&api.FxPhraseFirst))
	c.Rows = append(c.Rows, row)
	for i := range c.Phrases {
		if rc := first(tls, cursor, int32(i), iter, iter+iterColumn, iter+iterOffset); rc != sqlite3.SQLITE_OK {
			return rc
		}
		c.Freq = append(c.Freq, frequency(iter, *(*int32)(at(iter + iterColumn))))
	}
	return sqlite3.SQLITE_OK
}

// A phrase iterator is two addresses; column and offset are put behind it.
const iterColumn, iterOffset, iterSize = 16, 20, 24

// keeps reports whether the row's group is noted.
func (c *Collector) keeps(row int64) bool {
	if group := row >> GroupBits; group != c.group {
		c.group = group
		c.keep = c.Keep == nil || c.Keep(group)
	}
	return c.keep
}

// frequency is the number of positions in the list of a phrase in a row, of
// which FTS5 has decoded the first; column is negative where there is none. A
// position is a number of seven bits a byte, and in a table of one column there
// is nothing else in the list.
func frequency(iter uintptr, column int32) uint32 {
	if column < 0 {
		return 0
	}
	it := (*sqlite3.TFts5PhraseIter)(at(iter))
	n := uint32(1)
	for _, b := range unsafe.Slice((*byte)(at(it.Fa)), it.Fb-it.Fa) {
		n += uint32(^b >> 7)
	}
	return n
}

// totals reads what holds for the whole table and expression.
func (c *Collector) totals(tls *libc.TLS, api *sqlite3.TFts5ExtensionApi, cursor uintptr) int32 {
	const number = 8 // bytes
	out := tls.Alloc(number)
	defer tls.Free(number)
	value := (*int64)(at(out))
	if rc := (*(*fnRows)(unsafe.Pointer(&api.FxRowCount)))(tls, cursor, out); rc != sqlite3.SQLITE_OK {
		return rc
	}
	c.TotalRows = *value
	const allColumns = -1
	if rc := (*(*fnTokens)(unsafe.Pointer(&api.FxColumnTotalSize)))(tls, cursor, allColumns, out); rc != sqlite3.SQLITE_OK {
		return rc
	}
	c.TotalTokens = *value
	c.Phrases = int((*(*fnCount)(unsafe.Pointer(&api.FxPhraseCount)))(tls, cursor))
	return sqlite3.SQLITE_OK
}

// start reads the totals, and counts the rows of each phrase.
func (c *Collector) start(tls *libc.TLS, api *sqlite3.TFts5ExtensionApi, cursor uintptr) int32 {
	if rc := c.totals(tls, api, cursor); rc != sqlite3.SQLITE_OK {
		return rc
	}
	if c.Whole && c.Phrases == 1 {
		return sqlite3.SQLITE_OK
	}
	const number = 8 // bytes
	out := tls.Alloc(number)
	defer tls.Free(number)
	value := (*int64)(at(out))
	query, callback := *(*fnQuery)(unsafe.Pointer(&api.FxQueryPhrase)), countRow
	for i := range c.Phrases {
		*value = 0
		if rc := query(tls, cursor, int32(i), out, *(*uintptr)(unsafe.Pointer(&callback))); rc != sqlite3.SQLITE_OK {
			return rc
		}
		c.rowsWith = append(c.rowsWith, *value)
	}
	return sqlite3.SQLITE_OK
}

// countRow is called for every row that holds a phrase.
func countRow(_ *libc.TLS, _, _, counter uintptr) int32 {
	*(*int64)(at(counter))++
	return sqlite3.SQLITE_OK
}
