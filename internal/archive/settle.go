package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Settle cuts the end of a quiet session anew: the raw rows and the frames that
// were sealed early become full blocks, as if the session had been archived in
// one go. It runs inside the caller's transaction and holds two blocks.
func Settle(ctx context.Context, w Execer, key string) error {
	s, ok, err := Load(ctx, w, key)
	if err != nil || !ok {
		return err
	}
	if _, err := s.Tail.OpenRaw(ctx, w); err != nil {
		return err
	}
	off := s.Tail.StreamLen
	if len(s.Tail.Rows) > 0 {
		off = s.Tail.Rows[0].Off
	}
	t := s.Tail
	t.Rows, t.StreamLen, t.Sum = nil, off, nil
	a := NewAppender(t, nil)
	r := NewLineReader(streamFrom(ctx, w, s.No, s.Tail.Settled, off, s.Tail.StreamLen), off)
	for {
		l, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		a.Add(l.Bytes, l.Start)
	}
	up := a.Finish(true)
	if up.Tail.StreamLen != s.Tail.StreamLen {
		return fmt.Errorf("settle %s: %d bytes read, %d expected", key, up.Tail.StreamLen, s.Tail.StreamLen)
	}
	up.Replaces = true
	if err := SaveBlocks(ctx, w, s.No, up); err != nil {
		return err
	}
	_, err = w.ExecContext(ctx, `UPDATE session_meta SET settled_blocks = ?, settled_hash = ?, checksum = ?, unsettled = 0
		WHERE session_key = ?`, up.Tail.Settled, orEmpty(up.Tail.SettledHash), orEmpty(up.Tail.Sum), key)
	return err
}

func orEmpty(p []byte) []byte {
	if p == nil {
		return []byte{}
	}
	return p
}
