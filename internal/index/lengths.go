package index

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/terminus-archive/terminus/internal/archive"
)

// Lengths. Ranking needs the number of tokens of every search row that matches.
// FTS5 keeps them too, one row each, and looking them up there is nine tenths of
// the work of ranking a common word; in a blob a session they are read in bulk.

const (
	// LengthBytes is what one turn takes in lengths.counts, little endian.
	LengthBytes = 2
	// LongLength stands for every length that does not fit: FTS5 knows it.
	LongLength = 1<<16 - 1
)

// noteLengths brings a session's lengths up to date with the search rows that
// were just written: those of the turns from t.Next to end, and those of turns
// that were taken over. The numbers are FTS5's own.
func noteLengths(ctx context.Context, w archive.Execer, t Target, end int64, taken []int64) error {
	if t.Next == end && len(taken) == 0 {
		return nil
	}
	counts, stored, err := storedLengths(ctx, w, t.Slot)
	if err != nil {
		return err
	}
	if short := int(end)*LengthBytes - len(counts); short > 0 {
		counts = append(counts, make([]byte, short)...)
	}
	if err := readLengths(ctx, w, t, counts, t.Next, end); err != nil {
		return err
	}
	for _, seq := range taken {
		if err := readLengths(ctx, w, t, counts, seq, seq+1); err != nil {
			return err
		}
	}
	// Two statements in place of one that does both: it would need a journal of
	// its own, for which FTS5 writes out what it holds in memory.
	if stored {
		_, err = w.ExecContext(ctx, `UPDATE lengths SET counts = ? WHERE slot = ?`, counts, t.Slot)
	} else {
		_, err = w.ExecContext(ctx, `INSERT INTO lengths(slot, counts) VALUES (?, ?)`, t.Slot, counts)
	}
	return err
}

func storedLengths(ctx context.Context, q archive.Querier, slot int64) (counts []byte, stored bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT counts FROM lengths WHERE slot = ?`, slot).Scan(&counts)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return counts, err == nil, err
}

// readLengths sets the lengths of the turns from first to before end.
func readLengths(ctx context.Context, q archive.Querier, t Target, counts []byte, first, end int64) error {
	clear(counts[first*LengthBytes : end*LengthBytes])
	if first == end {
		return nil
	}
	rows, err := q.QueryContext(ctx, `SELECT id, sz FROM turns_fts_docsize WHERE id >= ? AND id < ?`, t.rowid(first), t.rowid(end))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var size sql.RawBytes
		if err := rows.Scan(&id, &size); err != nil {
			return err
		}
		n, err := DecodeLength(size)
		if err != nil {
			return fmt.Errorf("search row %d: %w", id, err)
		}
		at := (id & (MaxTurns - 1)) * LengthBytes
		binary.LittleEndian.PutUint16(counts[at:], uint16(min(n, LongLength)))
	}
	return rows.Err()
}

// ForgetLengths removes the lengths of all sessions, for when their search rows go.
func ForgetLengths(ctx context.Context, w archive.Execer) error {
	_, err := w.ExecContext(ctx, `DELETE FROM lengths`)
	return err
}

var errLength = errors.New("turns_fts_docsize does not hold a length")

// DecodeLength reads a value of turns_fts_docsize.sz, of a table of one column:
// a number of up to 31 bits, seven in a byte, highest first, with the high bit
// set in all bytes but the last.
func DecodeLength(size []byte) (int64, error) {
	const longest = 5 // bytes
	var n int64
	for i, b := range size {
		n = n<<7 | int64(b&0x7f)
		if b < 0x80 {
			if i+1 != len(size) {
				break
			}
			return n, nil
		}
		if i+1 == longest {
			break
		}
	}
	return 0, errLength
}
