package search

import (
	"context"
	"errors"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

const (
	// maxPrefetch bounds what Prefetch holds: a few blocks.
	maxPrefetch = 4 << 20
	// maxGap is how many bytes of the stream Prefetch reads for nothing, for each
	// byte that a turn needs.
	maxGap = 2
)

// Bytes reads a turn's archived record, newline excluded. It is nil where the
// archive does not give it: evicted, or damaged, which verify reports. The
// bytes are valid until the next call on s.
func (s *Snapshot) Bytes(ctx context.Context, t *Turn) ([]byte, error) {
	if t.Len <= 0 {
		return nil, nil
	}
	p := &s.part
	if at := t.Off - p.off; t.Session.No == p.session && at >= 0 && at+t.Len <= int64(len(p.bytes)) {
		return p.bytes[at : at+t.Len], nil
	}
	return s.readRange(ctx, t.Session.No, t.Off, t.Len)
}

func (s *Snapshot) readRange(ctx context.Context, session, off, n int64) ([]byte, error) {
	b, err := archive.ReadRange(ctx, s.tx, session, off, n)
	if err == nil {
		return b, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var damage *archive.DamageError
	switch {
	case errors.Is(err, archive.ErrEvicted), errors.As(err, &damage):
		return nil, nil
	}
	if err = s.r.wrap(err); store.IsKind(err, store.Damaged) {
		return nil, nil
	}
	return nil, err
}

// Prefetch reads the stretch of the stream that turns of one session lie in, so
// that their blocks are opened once. It reads nothing where they lie too far
// apart, and a stretch that cannot be read is left to Bytes.
func (s *Snapshot) Prefetch(ctx context.Context, turns []Turn) error {
	s.part.bytes = nil
	if len(turns) < 2 {
		return nil
	}
	low, high, needed := turns[0].Off, turns[0].Off, int64(0)
	for _, t := range turns {
		if t.Off < 0 || t.Len < 0 || t.Len > maxPrefetch {
			return nil
		}
		low, high, needed = min(low, t.Off), max(high, t.Off+t.Len), needed+t.Len
	}
	if n := high - low; n <= 0 || n > maxPrefetch || n/maxGap > needed {
		return nil
	}
	b, err := s.readRange(ctx, turns[0].Session.No, low, high-low)
	if err != nil {
		return err
	}
	s.part.session, s.part.off, s.part.bytes = turns[0].Session.No, low, b
	return nil
}

// Text is what a turn says: the projection that is indexed, without the parts
// of identifiers. It is empty where Bytes is, and valid until the next call
// on s. machinery says that the turn is about the client itself and is not
// searched.
func (s *Snapshot) Text(ctx context.Context, t *Turn) (text []byte, machinery bool, err error) {
	record, err := s.Bytes(ctx, t)
	if record == nil || err != nil {
		return nil, false, err
	}
	h, ok := registry.ByID(t.Session.Harness)
	if !ok {
		return nil, false, nil // archived by a build that knows more harnesses
	}
	turns := h.Turns(record, &transcript.State{Key: t.Session.Key})
	if len(turns) == 0 {
		return nil, false, nil
	}
	turn := &turns[pick(turns, t)]
	return s.proj.Text(turn.Pieces), turn.Unindexed, nil
}

// Quote is what a turn is quoted with: the part of what it says that surrounds
// the first of terms, on one line; see derive.Excerpt. It is the text as it may
// leave, "" where Text is empty.
func (s *Snapshot) Quote(ctx context.Context, t *Turn, terms []string) (string, error) {
	text, _, err := s.Text(ctx, t)
	if err != nil {
		return "", err
	}
	return derive.Excerpt(text, terms), nil
}

// pick finds t among the turns of its record. A turn's span is read alone, so
// there is more than one only where a harness makes several of one row.
func pick(turns []transcript.Turn, t *Turn) int {
	for i := range turns {
		if turns[i].NativeID == t.NativeID && turns[i].Type == t.Type {
			return i
		}
	}
	return 0
}
