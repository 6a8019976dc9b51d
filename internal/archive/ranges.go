package archive

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
)

// A Range is a stretch of a session's stream, in bytes.
type Range struct{ SessionNo, Off, Len int64 }

// ReadRanges reads several ranges, opening each block that they lie in once,
// on as many cores as there are. given gets, in no order and one call at a
// time, what ReadRange would have returned for ranges[i]; the bytes are the
// caller's. The result is a failure of the database, after which some ranges
// were not given.
//
// Of a compressed block it compares the frame's own checksum and not the
// block's hash, which takes as long as inflating: no accident goes unseen, a
// forgery does. Who hands out a record as what was archived uses ReadRange.
//
// It holds the bytes of all ranges and a few blocks; the caller bounds their
// sum.
func ReadRanges(ctx context.Context, q Querier, ranges []Range, given func(i int, b []byte, err error)) error {
	r := ranger{ctx: ctx, q: q, parts: make([]part, 0, len(ranges))}
	for i, g := range ranges {
		if g.Off < 0 || g.Len <= 0 {
			b, err := ReadRange(ctx, q, g.SessionNo, g.Off, g.Len)
			given(i, b, err)
			continue
		}
		r.parts = append(r.parts, part{Range: g, i: i, at: g.Off})
	}
	slices.SortStableFunc(r.parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.SessionNo, b.SessionNo), cmp.Compare(a.Off, b.Off))
	})
	err := r.read()
	for i := range r.parts {
		p := &r.parts[i]
		switch {
		case !p.failed && p.at == p.end():
			given(p.i, p.bytes, nil)
		case err == nil:
			// Once more, alone: it says what is the matter.
			b, err := ReadRange(ctx, q, p.SessionNo, p.Off, p.Len)
			given(p.i, b, err)
		}
	}
	return err
}

// A part is a range that is being read.
type part struct {
	Range
	i     int   // in the caller's order
	at    int64 // the next byte that is needed
	bytes []byte
	// failed marks that a block of it could not be opened. It is guarded by the
	// ranger's mutex: several blocks may belong to one part.
	failed bool
}

func (p *part) end() int64 { return p.Off + p.Len }

// A ranger reads parts, which are sorted: one goroutine reads the blocks, all
// cores open them.
type ranger struct {
	ctx   context.Context
	q     Querier
	parts []part
	mu    sync.Mutex
}

// An opening is a block to be opened and the parts that lie in it.
type opening struct {
	no    int64
	block Block
	parts []*part
}

func (r *ranger) read() error {
	jobs := make(chan opening)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(r.parts)) {
		workers.Go(func() {
			for job := range jobs {
				r.open(job)
			}
		})
	}
	err := r.send(jobs)
	close(jobs)
	workers.Wait()
	return err
}

// open copies what the parts need out of their block. It runs on a goroutine of
// its own, where a panic would end the process: whoever reads the part alone
// then meets it.
func (r *ranger) open(job opening) {
	defer func() {
		if p := recover(); p != nil {
			r.fail(job)
		}
	}()
	open := job.block.inflate
	if job.block.Raw {
		open = job.block.open
	}
	b, err := open(job.no)
	if err != nil {
		r.fail(job)
		return
	}
	for _, p := range job.parts {
		from, to := max(p.Off, job.block.Off), min(p.end(), job.block.Off+job.block.Len)
		copy(p.bytes[from-p.Off:to-p.Off], b[from-job.block.Off:])
	}
}

func (r *ranger) fail(job opening) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range job.parts {
		p.failed = true
	}
}

// send reads each block that a part needs and hands it on with all parts that
// lie in it. A part whose block is missing stays where it is.
func (r *ranger) send(jobs chan<- opening) error {
	for i := range r.parts {
		for p := &r.parts[i]; p.at < p.end(); {
			block, found, err := r.block(p.SessionNo, p.at)
			if err != nil {
				return err
			}
			job := opening{no: p.SessionNo, block: block}
			if found {
				r.share(&job, r.parts[i:])
			}
			if len(job.parts) == 0 { // it is missing, or its numbers are not true
				break
			}
			select {
			case jobs <- job:
			case <-r.ctx.Done():
				return r.ctx.Err()
			}
		}
	}
	return nil
}

// block reads the first block that holds the byte at at.
func (r *ranger) block(no, at int64) (b Block, found bool, err error) {
	rows, err := r.q.QueryContext(r.ctx, `SELECT n, stream_offset, byte_len, hash, codec, bytes FROM blocks
		WHERE session_no = ? AND stream_offset <= ? AND stream_offset + byte_len > ? ORDER BY n LIMIT 1`, no, at, at)
	if err != nil {
		return b, false, err
	}
	defer rows.Close()
	if rows.Next() {
		if b, err = scanBlock(rows); err != nil {
			return b, false, err
		}
		found = true
	}
	return b, found, rows.Err()
}

// share gives job the parts, of those sorted, that go on in its block.
func (r *ranger) share(job *opening, parts []part) {
	end := job.block.Off + job.block.Len
	for i := range parts {
		p := &parts[i]
		if p.SessionNo != job.no || p.Off >= end {
			break
		}
		if p.at >= p.end() || p.at >= end {
			continue
		}
		if p.bytes == nil {
			p.bytes = make([]byte, p.Len)
		}
		p.at = min(p.end(), end)
		job.parts = append(job.parts, p)
	}
}
