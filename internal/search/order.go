package search

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"sort"

	"github.com/terminus-archive/terminus/internal/archive"
)

// Order gives the turn_seq of every turn of a session in the order in which the
// agent shows them, where that is not the order of turn_seq: where records are
// rows, which may be changed and put between others. It is nil for a
// transcript that is a file. A turn that has gone from the agent's store
// follows the turn that it followed when it was archived.
func (s *Snapshot) Order(ctx context.Context, session int64) ([]int64, error) {
	low, high := session<<turnBits, session<<turnBits|seqMask
	var rowLike bool
	err := s.tx.QueryRowContext(ctx, `SELECT native_id IS NOT NULL FROM turns WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1`,
		low, high).Scan(&rowLike)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !rowLike {
		return nil, nil
	}
	if err != nil {
		return nil, s.r.wrap(err)
	}
	shown, err := s.newestState(ctx, session)
	if err != nil || shown == nil {
		return nil, err
	}
	var turns []placed
	err = s.each(ctx, func(rows *sql.Rows) error {
		var id, off int64
		if err := rows.Scan(&id, &off); err != nil {
			return err
		}
		turns = append(turns, placed{id & seqMask, shown.place(off)})
		return nil
	}, `SELECT id, stream_offset FROM turns WHERE id BETWEEN ? AND ? ORDER BY id`, low, high)
	return inOrder(turns), err
}

// A placed turn has its place in the newest state of its transcript, in bytes
// from its start, -1 where it is no longer part of it.
type placed struct{ seq, at int64 }

// inOrder sorts turns, given by seq, by their place.
func inOrder(turns []placed) []int64 {
	current := make([]int, 0, len(turns))
	for i, t := range turns {
		if t.at >= 0 {
			current = append(current, i)
		}
	}
	slices.SortStableFunc(current, func(a, b int) int { return cmp.Compare(turns[a].at, turns[b].at) })
	out := make([]int64, 0, len(turns))
	gone := func(i int) {
		for ; i < len(turns) && turns[i].at < 0; i++ {
			out = append(out, turns[i].seq)
		}
	}
	gone(0)
	for _, i := range current {
		out = append(out, turns[i].seq)
		gone(i + 1)
	}
	return out
}

// A state is one state of a transcript: where in it the ranges of the stream
// stand that it is made of.
type state []stretch // sorted by off

type stretch struct{ off, length, at int64 }

// place is where a stream offset stands in the state, -1 if it does not.
func (s state) place(off int64) int64 {
	i := sort.Search(len(s), func(i int) bool { return s[i].off > off }) - 1
	if i < 0 || off >= s[i].off+s[i].length {
		return -1
	}
	return s[i].at + off - s[i].off
}

// newestState reads the newest revision of a session's transcript, nil where
// there is none.
func (s *Snapshot) newestState(ctx context.Context, session int64) (state, error) {
	var id int64
	err := s.tx.QueryRowContext(ctx, `SELECT w.revision`+sessionFrom+`
		JOIN watermarks w ON w.session_no = s.session_no WHERE s.session_no = ?
		ORDER BY w.source IS m.transcript_path DESC, w.updated_at DESC LIMIT 1`, session).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.r.wrap(err)
	}
	rev, err := archive.LoadRevision(ctx, s.tx, id)
	if err != nil {
		return nil, s.r.wrap(err)
	}
	out := make(state, 0, len(rev.Extents))
	var at int64
	for _, e := range rev.Extents {
		out = append(out, stretch{e.Off, e.Len, at})
		at += e.Len
	}
	slices.SortFunc(out, func(a, b stretch) int { return cmp.Compare(a.off, b.off) })
	return out, nil
}
