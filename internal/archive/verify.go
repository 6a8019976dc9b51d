package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
)

// A Failure is one finding of verify.
type Failure struct {
	SessionKey string
	Block      *int64 // nil for a finding about the session as a whole
	Detail     string
}

// A Checker is told every line of a session while its stream is read, and may
// have findings of its own (about the turns that point into the stream).
type Checker interface {
	// Begin is called before the first line of a session.
	Begin(ctx context.Context, q Querier, key string, no int64) error
	// Line is called for each line or piece of one, in order.
	Line(l Line)
	// End returns what is wrong. whole is false when the stream could not be
	// read to its end, so that missing lines are no finding.
	End(whole bool) []string
}

// Verify checks every session: each block against its hash, the blocks against
// the session's checksum, the extents of each revision against the recorded
// hash, each companion, what check finds, and the database itself. Findings do
// not stop it. report is called for each; progress, if not nil, with the bytes
// of stream read so far. It returns how many sessions there are. An error means
// that the sessions could not be listed, or that ctx ended.
//
// Each session is read in a transaction of its own: a pass that goes on
// meanwhile changes nothing under the reading, and is not kept from
// checkpointing for long.
func Verify(ctx context.Context, db *sql.DB, check Checker, report func(Failure), progress func(int64)) (int, error) {
	keys, err := sessionKeys(ctx, db)
	if err != nil {
		return 0, err
	}
	v := verifier{check: check, report: report, progress: progress}
	for _, key := range keys {
		err := v.inTx(ctx, db, key)
		if ctx.Err() != nil {
			return len(keys), ctx.Err()
		}
		if err != nil {
			v.fail(nil, "it cannot be read: %v", err)
		}
	}
	return len(keys), nil
}

// QuickCheck asks SQLite whether the database's pages fit together, and whether
// every row has the row that it belongs to. It returns what SQLite found,
// nothing when all is well.
func QuickCheck(ctx context.Context, q Querier) ([]string, error) {
	out, err := pageCheck(ctx, q)
	if err != nil {
		return nil, err
	}
	orphans, err := orphanCheck(ctx, q)
	return append(out, orphans...), err
}

// orphanCheck finds rows whose parent is missing: what a lost row of sessions,
// revisions or companions leaves behind.
func orphanCheck(ctx context.Context, q Querier) ([]string, error) {
	rows, err := q.QueryContext(ctx, `SELECT "table", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var table, parent string
		var n int64
		if err := rows.Scan(&table, &parent, &n); err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("rows of %s that are missing in %s: %d", table, parent, n))
	}
	return out, rows.Err()
}

func pageCheck(ctx context.Context, q Querier) ([]string, error) {
	found, err := texts(ctx, q, `PRAGMA quick_check(20)`)
	return slices.DeleteFunc(found, func(line string) bool { return line == "ok" }), err
}

func sessionKeys(ctx context.Context, q Querier) ([]string, error) {
	return texts(ctx, q, `SELECT session_key FROM sessions ORDER BY session_key`)
}

type verifier struct {
	q        Querier
	check    Checker
	report   func(Failure)
	progress func(int64)
	read     int64

	key string
}

func (v *verifier) fail(block *int64, format string, args ...any) {
	v.report(Failure{SessionKey: v.key, Block: block, Detail: fmt.Sprintf(format, args...)})
}

func (v *verifier) inTx(ctx context.Context, db *sql.DB, key string) error {
	v.key = key
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	v.q = tx
	return v.session(ctx, key)
}

// note turns damage into a finding; anything else is handed back.
func (v *verifier) note(err error) error {
	var d *DamageError
	if errors.As(err, &d) {
		v.fail(d.Block, "%s", d.Detail)
		return nil
	}
	return err
}

func (v *verifier) session(ctx context.Context, key string) error {
	s, ok, err := Load(ctx, v.q, key)
	if err != nil || !ok { // a session may be gone since it was listed
		return v.note(err)
	}
	if s.Diverged {
		v.fail(nil, "its transcript became something that could not be archived; what was archived before is intact")
	}
	whole, err := v.blocks(ctx, s)
	switch {
	case err != nil:
		return err
	case !whole:
	case s.Evicted:
		err = v.remains(ctx, s)
	default:
		err = v.stream(ctx, s)
	}
	if err != nil {
		return err
	}
	return v.companions(ctx, s.No)
}

// blocks checks each block by itself, so that every damaged one is named, then
// the checksum that ties them together. Those that were evicted are gone.
func (v *verifier) blocks(ctx context.Context, s Session) (whole bool, err error) {
	rows, err := v.q.QueryContext(ctx, `SELECT n, stream_offset, byte_len, hash, codec, bytes FROM blocks
		WHERE session_no = ? ORDER BY n`, s.No)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	whole = true
	sum, settled := s.evictedHash, s.evictedHash
	next, at := s.evictedBlocks, s.EvictedLen
	bad := func(b *int64, format string, args ...any) {
		whole = false
		v.fail(b, format, args...)
	}
	for rows.Next() {
		b, err := scanBlock(rows)
		if err != nil {
			return false, err
		}
		n := b.N
		if b.N != next {
			bad(nil, "block %d is missing", next)
		}
		if b.Off != at {
			bad(&n, "it begins at %d instead of %d", b.Off, at)
		}
		if _, err := b.open(s.No); err != nil {
			whole = false
			if err := v.note(err); err != nil {
				return false, err
			}
		}
		if b.N == s.Tail.Settled {
			settled = sum
		}
		sum = chain(sum, b.BlockInfo)
		next, at = b.N+1, b.Off+b.Len
	}
	if err := rows.Err(); err != nil {
		return false, err
	}
	if s.Tail.Settled == next {
		settled = sum
	}
	if at != s.Tail.StreamLen {
		bad(nil, "its blocks end at %d, its stream at %d", at, s.Tail.StreamLen)
	}
	if !bytes.Equal(sum, s.Tail.Sum) {
		bad(nil, "its checksum is %x, its blocks give %x", s.Tail.Sum, sum)
	}
	if !bytes.Equal(settled, s.Tail.SettledHash) {
		bad(nil, "the checksum of its first %d blocks is %x, they give %x", s.Tail.Settled, s.Tail.SettledHash, settled)
	}
	return whole, nil
}

// prefixSum is the hash of the stream's first n bytes, for revisions that are
// one extent from 0: nearly all.
type prefixSum struct {
	n   int64
	rev Revision
}

// stream reads the whole stream once, for the checker and for the revisions
// that are a prefix of it.
func (v *verifier) stream(ctx context.Context, s Session) error {
	revisions, err := Revisions(ctx, v.q, s.No)
	if err != nil {
		return err
	}
	var prefixes []prefixSum
	for _, r := range revisions {
		if len(r.Extents) == 1 && r.Extents[0].Off == 0 && r.Len == r.Extents[0].Len && r.Len <= s.Tail.StreamLen {
			prefixes = append(prefixes, prefixSum{r.Len, r})
			continue
		}
		if err := v.revision(ctx, s, r); err != nil {
			return err
		}
	}
	if err := v.check.Begin(ctx, v.q, s.Key, s.No); err != nil {
		return err
	}
	sum := sha256.New()
	lines := NewLineReader(io.TeeReader(Stream(ctx, v.q, s.No, s.Tail.StreamLen), &prefixHasher{v: v, sum: sum, want: prefixes}), 0)
	last := byte('\n')
	for {
		l, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			v.check.End(false)
			return v.note(err)
		}
		v.check.Line(l)
		last = l.Bytes[len(l.Bytes)-1]
	}
	for _, finding := range v.check.End(true) {
		v.fail(nil, "%s", finding)
	}
	if last != '\n' {
		v.fail(nil, "its stream does not end with a newline")
	}
	if v.progress != nil {
		v.read += s.Tail.StreamLen
		v.progress(v.read)
	}
	return nil
}

// remains checks the states of an evicted session of which all bytes are there:
// those that were taken in since. The turns cannot be derived again from there.
func (v *verifier) remains(ctx context.Context, s Session) error {
	if s.EvictedLen == s.Tail.StreamLen {
		return nil
	}
	revisions, err := Revisions(ctx, v.q, s.No)
	if err != nil {
		return err
	}
	held := Cover{{Off: s.EvictedLen, Len: s.Tail.StreamLen - s.EvictedLen}}
	for _, r := range revisions {
		if slices.ContainsFunc(r.Extents, func(e Extent) bool { return !held.Has(e.Off, e.Len) }) {
			continue
		}
		if err := v.revision(ctx, s, r); err != nil {
			return err
		}
	}
	return nil
}

// A prefixHasher compares the running hash of a stream wherever a revision
// ends.
type prefixHasher struct {
	v    *verifier
	sum  hash.Hash
	at   int64
	want []prefixSum
}

func (p *prefixHasher) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		k := int64(len(b))
		for _, w := range p.want {
			if w.n > p.at && w.n-p.at < k {
				k = w.n - p.at
			}
		}
		p.sum.Write(b[:k])
		p.at += k
		b = b[k:]
		for _, w := range p.want {
			if w.n == p.at {
				p.v.compare(w.rev, p.sum.Sum(nil))
			}
		}
	}
	return n, nil
}

func (v *verifier) compare(r Revision, got []byte) {
	if !bytes.Equal(got, r.Hash) {
		v.fail(nil, "revision %d of %s: its hash is %x, its extents give %x", r.N, r.Source, r.Hash, got)
	}
}

func (v *verifier) revision(ctx context.Context, s Session, r Revision) error {
	sum := sha256.New()
	for _, e := range r.Extents {
		if e.Off < 0 || e.Len <= 0 || e.Off+e.Len > s.Tail.StreamLen || e.Off+e.Len < e.Off {
			v.fail(nil, "revision %d of %s: an extent of %d bytes at %d does not lie in the stream of %d bytes",
				r.N, r.Source, e.Len, e.Off, s.Tail.StreamLen)
			return nil
		}
	}
	if total := r.Extents.Total(); total != r.Len {
		v.fail(nil, "revision %d of %s: its extents hold %d bytes instead of %d", r.N, r.Source, total, r.Len)
		return nil
	}
	if err := writeExtents(ctx, v.q, s.No, r.Extents, sum); err != nil {
		return v.note(err)
	}
	v.compare(r, sum.Sum(nil))
	return nil
}

// WriteRevision writes one state of a transcript to dst, as it was.
func WriteRevision(ctx context.Context, q Querier, r Revision, dst io.Writer) error {
	sum := sha256.New()
	if err := writeExtents(ctx, q, r.No, r.Extents, io.MultiWriter(dst, sum)); err != nil {
		return err
	}
	if got := sum.Sum(nil); !bytes.Equal(got, r.Hash) {
		return damaged(r.No, nil, "revision %d of %s: its hash is %x, its extents give %x", r.N, r.Source, r.Hash, got)
	}
	return nil
}

func writeExtents(ctx context.Context, q Querier, no int64, extents Extents, dst io.Writer) error {
	for _, e := range extents {
		r := &rangeReader{ctx: ctx, q: q, no: no, at: e.Off, end: e.Off + e.Len}
		if _, err := io.Copy(dst, r); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) companions(ctx context.Context, no int64) error {
	list, err := Companions(ctx, v.q, no)
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.Evicted {
			continue
		}
		if err := v.note(WriteCompanion(ctx, v.q, c, io.Discard)); err != nil {
			return err
		}
	}
	return nil
}

// StreamBytes is the length of all streams together.
func StreamBytes(ctx context.Context, q Querier) (int64, error) {
	var n int64
	err := q.QueryRowContext(ctx, `SELECT coalesce(sum(stream_len), 0) FROM session_meta`).Scan(&n)
	return n, err
}
