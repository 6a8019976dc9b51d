package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"io"
)

// maxPart bounds every single allocation that stored numbers ask for: no block
// and no companion part is larger.
const maxPart = 4 << 20

// ReadRange returns n bytes of a session's stream from off. A range that the
// stream does not hold is an error, never a short read. Every block that it
// opens is checked against its hash. The error is ErrEvicted, a *DamageError,
// or a failure of the database.
func ReadRange(ctx context.Context, q Querier, sessionNo, off, n int64) ([]byte, error) {
	p, err := readRange(ctx, q, sessionNo, off, n)
	var d *DamageError
	if errors.As(err, &d) {
		var evicted sql.NullInt64
		e := q.QueryRowContext(ctx, `SELECT m.is_evicted FROM sessions s JOIN session_meta m USING (session_key)
			WHERE s.session_no = ?`, sessionNo).Scan(&evicted)
		if e == nil && evicted.Int64 == 1 {
			return nil, ErrEvicted
		}
	}
	return p, err
}

func readRange(ctx context.Context, q Querier, no, off, n int64) ([]byte, error) {
	if n < 0 || off < 0 {
		return nil, damaged(no, nil, "a range of %d bytes at %d is asked for", n, off)
	}
	if n == 0 {
		return nil, nil
	}
	rows, err := q.QueryContext(ctx, `SELECT n, stream_offset, byte_len, hash, codec, bytes FROM blocks
		WHERE session_no = ? AND stream_offset < ? AND stream_offset + byte_len > ? ORDER BY n`, no, off+n, off)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []byte
	at := off
	for rows.Next() {
		b, err := scanBlock(rows)
		if err != nil {
			return nil, err
		}
		p, err := b.open(no)
		if err != nil {
			return nil, err
		}
		if b.Off > at {
			return nil, damaged(no, &b.N, "it begins at %d, the block before it ends at %d", b.Off, at)
		}
		lo, hi := at-b.Off, min(off+n-b.Off, b.Len)
		if lo > hi {
			return nil, damaged(no, &b.N, "it overlaps the block before it")
		}
		if out == nil && hi-lo == n {
			return p[lo:hi:hi], rows.Err() // one block holds it: no copy
		}
		out = append(out, p[lo:hi]...)
		at = b.Off + hi
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if at != off+n {
		return nil, damaged(no, nil, "its blocks end at %d, bytes up to %d are asked for", at, off+n)
	}
	return out, nil
}

func scanBlock(rows *sql.Rows) (Block, error) {
	var b Block
	err := rows.Scan(&b.N, &b.Off, &b.Len, &b.Hash, &b.codec, &b.Bytes)
	b.Raw = b.codec == codecRaw
	return b, err
}

// open returns the block's uncompressed bytes, checked.
func (b Block) open(no int64) ([]byte, error) {
	p, err := b.inflate(no)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(p); !bytes.Equal(sum[:], b.Hash) {
		return nil, damaged(no, &b.N, "its hash is %x, recorded is %x", sum, b.Hash)
	}
	return p, nil
}

// inflate returns the block's uncompressed bytes. Only a frame's own checksum
// stands for them.
func (b Block) inflate(no int64) ([]byte, error) {
	if b.Len < 0 || b.Len > maxPart {
		return nil, damaged(no, &b.N, "it claims %d bytes", b.Len)
	}
	p := b.Bytes
	switch b.codec {
	case codecRaw:
	case codecZstd:
		var err error
		if p, err = decompress(b.Bytes, b.Len); err != nil {
			return nil, damaged(no, &b.N, "%v", err)
		}
	default:
		return nil, damaged(no, &b.N, "its codec %d is unknown", b.codec)
	}
	if int64(len(p)) != b.Len {
		return nil, damaged(no, &b.N, "it holds %d bytes instead of %d", len(p), b.Len)
	}
	return p, nil
}

// A stream reads a session's bytes in order, one block at a time, without
// keeping a statement open between blocks.
type stream struct {
	ctx  context.Context
	q    Querier
	no   int64
	n    int64 // number of the next block
	at   int64 // stream offset that the next block must have
	end  int64
	rest []byte
}

// Stream reads the bytes of a session from off, which must be the start of a
// block, to end. Reading stops with a *DamageError at the first block that is
// not what was written.
func Stream(ctx context.Context, q Querier, sessionNo, end int64) io.Reader {
	return &stream{ctx: ctx, q: q, no: sessionNo, end: end}
}

func streamFrom(ctx context.Context, q Querier, no, block, off, end int64) io.Reader {
	return &stream{ctx: ctx, q: q, no: no, n: block, at: off, end: end}
}

func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.at >= s.end {
			return 0, io.EOF
		}
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	k := copy(p, s.rest)
	s.rest = s.rest[k:]
	return k, nil
}

func (s *stream) next() error {
	var b Block
	err := s.q.QueryRowContext(s.ctx, `SELECT n, stream_offset, byte_len, hash, codec, bytes FROM blocks
		WHERE session_no = ? AND n = ?`, s.no, s.n).Scan(&b.N, &b.Off, &b.Len, &b.Hash, &b.codec, &b.Bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return damaged(s.no, &s.n, "it is missing: the stream ends at %d instead of %d", s.at, s.end)
	}
	if err != nil {
		return err
	}
	if b.Off != s.at {
		return damaged(s.no, &b.N, "it begins at %d instead of %d", b.Off, s.at)
	}
	p, err := b.open(s.no)
	if err != nil {
		return err
	}
	if len(p) == 0 {
		return damaged(s.no, &b.N, "it is empty")
	}
	s.n++
	s.at += b.Len
	s.rest = p[:min(int64(len(p)), s.end-b.Off)]
	return nil
}

// A rangeReader reads a range of a stream in steps of a block.
type rangeReader struct {
	ctx     context.Context
	q       Querier
	no      int64
	at, end int64
	rest    []byte
}

func (r *rangeReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		n := min(r.end-r.at, BlockSize)
		if n <= 0 {
			return 0, io.EOF
		}
		var err error
		if r.rest, err = readRange(r.ctx, r.q, r.no, r.at, n); err != nil {
			return 0, err
		}
		r.at += n
	}
	k := copy(p, r.rest)
	r.rest = r.rest[k:]
	return k, nil
}
