package search

import (
	"bytes"
	"context"
	"errors"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/redact"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// maxPrefetch bounds what Prefetch holds, in bytes of records: more than fifty
// usual hits need. A record that does not fit is read when it is asked for.
const maxPrefetch = 8 << 20

// Bytes reads a turn's archived record as the egress filter leaves it, newline
// excluded. It is nil where the archive does not give it: evicted, or damaged,
// which verify reports.
func (s *Snapshot) Bytes(ctx context.Context, t *Turn) ([]byte, error) {
	record, err := s.archived(ctx, t)
	return s.filter.Record(record), err
}

// archived reads a turn's record as it was archived.
func (s *Snapshot) archived(ctx context.Context, t *Turn) ([]byte, error) {
	if t.Len <= 0 {
		return nil, nil
	}
	b, err := archive.ReadRange(ctx, s.tx, t.Session.No, t.Off, t.Len)
	return s.given(ctx, b, err)
}

// given is what archived returns for what the archive said.
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
// of identifiers, of the record that Bytes gives. The record is filtered and not
// its text, for only the record says which values have the name of a secret. It
// is empty where Bytes is nil, and valid until the next call on s. machinery
// says that the turn is about the client itself and is not searched.
func (s *Snapshot) Text(ctx context.Context, t *Turn) (text []byte, machinery bool, err error) {
	turn, err := s.derived(ctx, t)
	if turn == nil || err != nil {
		return nil, false, err
	}
	return s.proj.Text(turn.Pieces), turn.Unindexed, nil
}

// derived is what a turn's harness reads in its record, nil where Bytes is, or
// where a build that knows more harnesses archived it.
func (s *Snapshot) derived(ctx context.Context, t *Turn) (_ *transcript.Turn, err error) {
	record, ok := s.read[t.ID]
	if !ok {
		record, err = s.archived(ctx, t)
	}
	if record == nil || err != nil {
		return nil, err
	}
	h, known := registry.ByID(t.Session.Harness)
	if !known {
		return nil, nil
	}
	turns := h.Turns(record, &transcript.State{Key: t.Session.Key})
	if len(turns) == 0 {
		return nil, nil
	}
	turn := &turns[pick(turns, t)]
	if filtered := s.filter.Record(record); !bytes.Equal(filtered, record) {
		s.refine(turn, h.Turns(filtered, &transcript.State{Key: t.Session.Key}), len(turns), pick(turns, t))
	}
	return turn, nil
}

// refine puts what the filtered record says in place of what a turn says. Which
// turn it is, and of what nature, is told by the record as it is: a marker may
// stand in place of what tells it. read are the turns of the filtered record;
// the record itself has so many, of which this is the one at that place.
func (s *Snapshot) refine(turn *transcript.Turn, read []transcript.Turn, turns, at int) {
	prompt := turn.Prompt
	if len(read) == turns {
		turn.Pieces, turn.Prompt = read[at].Pieces, read[at].Prompt
	} else {
		text := s.filter.Text(string(s.proj.Text(turn.Pieces)))
		turn.Pieces, turn.Prompt = []transcript.Piece{{Text: []byte(text)}}, nil
	}
	if prompt != nil && turn.Prompt == nil {
		turn.Prompt = []byte(s.filter.Text(string(prompt)))
	}
}

// Quote is what a turn is quoted with: the part of what it says that surrounds
// the first of terms, on one line; see derive.Excerpt. It is text as it may
// leave, "" where Text is empty.
func (s *Snapshot) Quote(ctx context.Context, t *Turn, terms []string) (string, error) {
	text, _, err := s.Text(ctx, t)
	if err != nil {
		return "", err
	}
	return s.quoted(text, terms), nil
}

// QuoteTyped is Quote, from the start, of what a person typed in a turn: without
// what else the record says about it.
func (s *Snapshot) QuoteTyped(ctx context.Context, t *Turn) (string, error) {
	turn, err := s.derived(ctx, t)
	if turn == nil || err != nil {
		return "", err
	}
	pieces := turn.Pieces
	if turn.Prompt != nil {
		pieces = []transcript.Piece{{Text: turn.Prompt}}
	}
	return s.quoted(s.proj.Text(pieces), nil), nil
}

// quoted is the one way by which text of a turn, which is filtered as a whole,
// becomes a quotation.
func (s *Snapshot) quoted(text []byte, terms []string) string {
	return derive.Excerpt(text, s.shown(text, terms))
}

// shown are the words that an excerpt of a filtered text is to surround: terms,
// or, where the filter took out every match, what it put in place. Without terms
// it is the beginning.
func (s *Snapshot) shown(text []byte, terms []string) []string {
	if len(terms) > 0 && !s.filter.Off() && redact.Marked(text) && len(derive.Mark(string(text), terms)) == 0 {
		return []string{redact.MarkerWord}
	}
	return terms
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
