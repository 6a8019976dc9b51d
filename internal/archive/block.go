package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// BlockSize is the size of a full block, in bytes of stream: at 1 MiB
	// transcripts shrink to 18 % and a block opens in 0.8 ms; a quarter of it
	// costs two points, and more gains less than a point for each doubling.
	BlockSize = 1 << 20
	// SealSize is when the raw rows at the end of a live session are compressed
	// into one frame. An append below it is one small row.
	SealSize = 256 << 10
)

// Codecs of a block.
const (
	codecRaw  = 0
	codecZstd = 1
)

// A BlockInfo is a block without its bytes.
type BlockInfo struct {
	N, Off, Len int64
	Hash        []byte // SHA-256 of the uncompressed bytes
	Raw         bool
}

// A Block is a row of the table blocks.
type Block struct {
	BlockInfo
	Bytes []byte // as stored
	codec int
}

var encoders = sync.Pool{New: func() any {
	// Single-threaded, and with zstd's own checksum: a search compares it where
	// the block's hash would cost as much as inflating.
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true),
		zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		panic(err) // only for options that do not exist
	}
	return e
}}

func compress(p []byte) []byte {
	e := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(e)
	return e.EncodeAll(p, make([]byte, 0, len(p)/4+64))
}

var decoders = sync.Pool{New: func() any {
	// The memory limit bounds what a damaged frame header may ask for.
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		panic(err)
	}
	return d
}}

// decompress opens one frame that must hold exactly n bytes.
func decompress(frame []byte, n int64) ([]byte, error) {
	d := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(d)
	// The capacity is a hint; a frame that lies about n only costs a copy.
	out, err := d.DecodeAll(frame, make([]byte, 0, min(n, maxPart)))
	if err != nil {
		return nil, fmt.Errorf("it does not decompress: %w", err)
	}
	if int64(len(out)) != n {
		return nil, fmt.Errorf("it decompresses to %d bytes instead of %d", len(out), n)
	}
	return out, nil
}

// A Tail is the end of a session's stream: all that an append reads. Blocks
// below Settled are final and only their chained hash is kept at hand.
type Tail struct {
	No          int64
	StreamLen   int64
	Settled     int64
	SettledHash []byte
	Rows        []BlockInfo // the blocks from Settled on
	Sum         []byte      // the session's recorded checksum
}

// chain extends a hash over blocks by one block's length and hash.
func chain(sum []byte, b BlockInfo) []byte {
	h := sha256.New()
	h.Write(sum)
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(b.Len))
	h.Write(n[:])
	h.Write(b.Hash)
	return h.Sum(nil)
}

// checksum is the session's checksum: the chained hash of all its blocks.
func (t Tail) checksum() []byte {
	sum := t.SettledHash
	for _, b := range t.Rows {
		sum = chain(sum, b)
	}
	return sum
}

// next is the number that the next block gets.
func (t Tail) next() int64 {
	return t.Settled + int64(len(t.Rows))
}

// rawFrom is the index in Rows of the first of the raw rows at the end.
func (t Tail) rawFrom() int {
	i := len(t.Rows)
	for i > 0 && t.Rows[i-1].Raw {
		i--
	}
	return i
}

func blockInfos(ctx context.Context, q Querier, no, from int64) ([]BlockInfo, error) {
	rows, err := q.QueryContext(ctx, `SELECT n, stream_offset, byte_len, hash, codec FROM blocks
		WHERE session_no = ? AND n >= ? ORDER BY n`, no, from)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []BlockInfo
	for rows.Next() {
		var b BlockInfo
		var codec int
		if err := rows.Scan(&b.N, &b.Off, &b.Len, &b.Hash, &codec); err != nil {
			return nil, err
		}
		b.Raw = codec == codecRaw
		out = append(out, b)
	}
	return out, rows.Err()
}
