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

// maxPrefetch bounds what Prefetch holds, in bytes of records: more than fifty
// usual hits need. A record that does not fit is read when it is asked for.
const maxPrefetch = 8 << 20

// Bytes reads a turn's archived record, newline excluded. It is nil where the
// archive does not give it: evicted, or damaged, which verify reports.
func (s *Snapshot) Bytes(ctx context.Context, t *Turn) ([]byte, error) {
	if t.Len <= 0 {
		return nil, nil
	}
	b, err := archive.ReadRange(ctx, s.tx, t.Session.No, t.Off, t.Len)
	return s.given(ctx, b, err)
}

// given is what Bytes returns for what the archive said.
func (s *Snapshot) given(ctx context.Context, b []byte, err error) ([]byte, error) {
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

// Prefetch reads the records of turns for Text, all at once, so that each block
// that they lie in is opened once and no core waits for another. What it cannot
// read is left to Text.
func (s *Snapshot) Prefetch(ctx context.Context, turns []Turn) error {
	s.read = make(map[int64][]byte, len(turns))
	ranges, ids := make([]archive.Range, 0, len(turns)), make([]int64, 0, len(turns))
	room := int64(maxPrefetch)
	for i := range turns {
		if t := &turns[i]; t.Len > 0 && t.Len <= room {
			room -= t.Len
			ranges = append(ranges, archive.Range{SessionNo: t.Session.No, Off: t.Off, Len: t.Len})
			ids = append(ids, t.ID)
		}
	}
	_ = archive.ReadRanges(ctx, s.tx, ranges, func(i int, b []byte, err error) {
		if b, err = s.given(ctx, b, err); err == nil {
			s.read[ids[i]] = b
		}
	})
	return ctx.Err()
}

// Text is what a turn says: the projection that is indexed, without the parts
// of identifiers. It is empty where Bytes is, and valid until the next call
// on s. machinery says that the turn is about the client itself and is not
// searched.
func (s *Snapshot) Text(ctx context.Context, t *Turn) (text []byte, machinery bool, err error) {
	turn, err := s.turn(ctx, t)
	if turn == nil || err != nil {
		return nil, false, err
	}
	return s.proj.Text(turn.Pieces), turn.Unindexed, nil
}

// turn reads a turn's record as its harness does, nil where Bytes is, or where a
// build that knows more harnesses archived it.
func (s *Snapshot) turn(ctx context.Context, t *Turn) (*transcript.Turn, error) {
	record, ok := s.read[t.ID]
	var err error
	if !ok {
		record, err = s.Bytes(ctx, t)
	}
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
	turn, err := s.turn(ctx, t)
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
