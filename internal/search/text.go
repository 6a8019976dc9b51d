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
	turn, err := s.read(ctx, t)
	if turn == nil || err != nil {
		return nil, false, err
	}
	return s.proj.Text(turn.Pieces), turn.Unindexed, nil
}

// read reads a turn's record as its harness does, nil where Bytes is, or where a
// build that knows more harnesses archived it.
func (s *Snapshot) read(ctx context.Context, t *Turn) (*transcript.Turn, error) {
	record, err := s.Bytes(ctx, t)
	if record == nil || err != nil {
		return nil, err
	}
	h, ok := registry.ByID(t.Session.Harness)
	if !ok {
		return nil, nil
	}
	turns := h.Turns(record, &transcript.State{Key: t.Session.Key})
	if len(turns) == 0 {
		return nil, nil
	}
	return &turns[pick(turns, t)], nil
}

// Quote is what a turn is quoted with: the part of what it says that surrounds
// the first of terms, on one line; see derive.Excerpt. It is text as it may
// leave, "" where Text is empty.
func (s *Snapshot) Quote(ctx context.Context, t *Turn, terms []string) (string, error) {
	text, _, err := s.Text(ctx, t)
	if err != nil {
		return "", err
	}
	return quoted(text, terms), nil
}

// QuoteTyped is Quote, from the start, of what a person typed in a turn: without
// what else the record says about it.
func (s *Snapshot) QuoteTyped(ctx context.Context, t *Turn) (string, error) {
	turn, err := s.read(ctx, t)
	if turn == nil || err != nil {
		return "", err
	}
	pieces := turn.Pieces
	if turn.Prompt != nil {
		pieces = []transcript.Piece{{Text: turn.Prompt}}
	}
	return quoted(s.proj.Text(pieces), nil), nil
}

// quoted is the one way by which text of a turn becomes a quotation: whatever is
// to be kept back goes before the cut.
func quoted(text []byte, terms []string) string { return derive.Excerpt(text, terms) }

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
