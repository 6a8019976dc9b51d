package store

import (
	"context"
	"encoding/binary"
	"errors"
)

const (
	// scrubBatch is how many pages one transaction of Scrub reads: the log then
	// stays below WALLimit whatever they hold.
	scrubBatch = walLimit / pageSize / 2
	// headerOnFirst is where the b-tree of page 1 begins: the header of the
	// database stands before it.
	headerOnFirst = 100
)

// Kinds of b-tree pages: the first byte of their header.
const (
	interiorIndex = 2
	interiorTable = 5
	leafIndex     = 10
	leafTable     = 13
)

// Scrub overwrites what SQLite leaves behind in pages that are in use. It moves
// rows between pages by copying them, and where it lays out a page anew the old
// copies stay in the gap before the rows, where secure_delete does not look: the
// text of a row that is deleted later is then still in the file. Scrub writes
// zeros into these gaps, through SQLite, in transactions of bounded size; between
// them the log is trimmed. Nothing that can be read changes.
//
// w must not be in a transaction. It reads every page of the database once.
func (w *Writer) Scrub(ctx context.Context) error {
	version, err := w.dataVersion(ctx)
	if err != nil {
		return err
	}
	pages, err := w.treePages(ctx)
	if err != nil {
		return err
	}
	for len(pages) > 0 {
		n := min(len(pages), scrubBatch)
		if err := w.scrub(ctx, version, pages[:n]); err != nil {
			w.Rollback()
			return err
		}
		pages = pages[n:]
		if err := w.TrimWAL(ctx); err != nil {
			return err
		}
	}
	return nil
}

// dataVersion is a number that changes when another connection has written.
func (w *Writer) dataVersion(ctx context.Context) (v int64, err error) {
	err = w.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&v)
	return v, asStoreError("read", w.db.Path, err)
}

// treePages lists the pages that are nodes of b-trees and have room.
func (w *Writer) treePages(ctx context.Context) ([]int64, error) {
	rows, err := w.QueryContext(ctx, `SELECT pageno FROM dbstat WHERE pagetype <> 'overflow' AND unused > 0 ORDER BY pageno`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var no int64
		if err := rows.Scan(&no); err != nil {
			return nil, asStoreError("read", w.db.Path, err)
		}
		out = append(out, no)
	}
	return out, asStoreError("read", w.db.Path, rows.Err())
}

// scrub is one transaction.
func (w *Writer) scrub(ctx context.Context, version int64, pages []int64) error {
	if err := w.Begin(ctx); err != nil {
		return err
	}
	// What kind of page each is was asked before: another program that wrote
	// meanwhile may have made it something else.
	if now, err := w.dataVersion(ctx); err != nil || now != version {
		if err == nil {
			err = &Error{Op: "write", Path: w.db.Path, Kind: Locked, Err: errors.New("another program writes to it")}
		}
		return err
	}
	for _, no := range pages {
		var page []byte
		if err := w.QueryRowContext(ctx, `SELECT data FROM sqlite_dbpage WHERE pgno = ?`, no).Scan(&page); err != nil {
			return asStoreError("read", w.db.Path, err)
		}
		if !clearGap(page, no == 1) {
			continue
		}
		if _, err := w.ExecContext(ctx, `UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?`, page, no); err != nil {
			return err
		}
	}
	return w.Commit(ctx)
}

// clearGap writes zeros between the list of cells and the first cell of a b-tree
// page, and reports whether anything else stood there. A page that does not look
// like one is left alone.
func clearGap(page []byte, first bool) bool {
	head := 0
	if first {
		head = headerOnFirst
	}
	if len(page) < head+12 {
		return false
	}
	list := head + 8
	switch page[head] {
	case interiorIndex, interiorTable:
		list += 4 // the right-most child
	case leafIndex, leafTable:
	default:
		return false
	}
	from := list + 2*int(binary.BigEndian.Uint16(page[head+3:]))
	to := int(binary.BigEndian.Uint16(page[head+5:]))
	if to == 0 {
		to = 1 << 16
	}
	if from > to || to > len(page) {
		return false
	}
	dirty := false
	for i, b := range page[from:to] {
		if b != 0 {
			page[from+i], dirty = 0, true
		}
	}
	return dirty
}
