package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	// restorePiece is how much of a stream is held while its blocks are made.
	restorePiece = 4 << 20
	// aside is added to the numbers of blocks that are to be cut anew, to make
	// room for the new ones: no stream has so many.
	aside = 1 << 40
)

// Restore puts the bytes of an evicted session back: src holds the first
// EvictedLen bytes of its stream, and the caller vouches for them. What was
// taken in since the eviction is cut anew behind them, and the mark is cleared.
// Turns stay as they are. It runs inside the caller's transaction and holds a
// few blocks.
func Restore(ctx context.Context, w Execer, key string, src io.Reader) error {
	s, ok, err := Load(ctx, w, key)
	if err != nil || !ok || !s.Evicted {
		return err
	}
	if _, err := w.ExecContext(ctx, `UPDATE blocks SET n = n + ? WHERE session_no = ?`, aside, s.No); err != nil {
		return err
	}
	whole := io.MultiReader(io.LimitReader(src, s.EvictedLen),
		streamFrom(ctx, w, s.No, s.evictedBlocks+aside, s.EvictedLen, s.Tail.StreamLen))
	a := NewAppender(Tail{No: s.No}, nil)
	defer a.Release()
	lines := NewLineReader(whole, 0)
	defer lines.Release()
	for {
		l, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if l.Start && a.Fresh() >= restorePiece && a.AtCut(len(l.Bytes)) {
			if err := SaveBlocks(ctx, w, s.No, a.Cut()); err != nil {
				return err
			}
		}
		a.Add(l.Bytes, l.Start)
	}
	up := a.Finish(true)
	if up.Tail.StreamLen != s.Tail.StreamLen {
		return fmt.Errorf("restore %s: %d bytes read, %d expected", key, up.Tail.StreamLen, s.Tail.StreamLen)
	}
	if err := SaveBlocks(ctx, w, s.No, up); err != nil {
		return err
	}
	if _, err := w.ExecContext(ctx, `DELETE FROM blocks WHERE session_no = ? AND n >= ?`, s.No, aside); err != nil {
		return err
	}
	_, err = w.ExecContext(ctx, `UPDATE session_meta SET is_evicted = NULL, evicted_len = 0, evicted_blocks = 0, evicted_hash = x'',
		settled_blocks = ?, settled_hash = ?, checksum = ?, unsettled = 0 WHERE session_key = ?`,
		up.Tail.Settled, orEmpty(up.Tail.SettledHash), orEmpty(up.Tail.Sum), key)
	return err
}
