package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// A Piece is a part of a session that is derived again, in the order of its
// stream.
type Piece struct {
	Rows  []Row
	Held  []HeldLine
	Bytes int64 // of stream
	// First and Last mark the ends of the session; State is complete in the last.
	First, Last bool
	State       transcript.State
}

// A HeldLine is the newest line of a native id.
type HeldLine struct {
	ID string
	Held
}

// Size is about how many bytes the piece takes in memory.
func (p *Piece) Size() int64 {
	n := int64(4 << 10)
	for i := range p.Rows {
		n += p.Rows[i].Size()
	}
	return n + int64(len(p.Held))*128
}

// Derive reads a session's stream from its start and gives the rows that its
// harness makes of it, in pieces of at most limit bytes of stream (a line is
// never cut). The error is a *archive.DamageError, that of give, or names what
// the harness could not stand.
func Derive(ctx context.Context, q archive.Querier, s archive.Session, h harness.Harness, limit int64, give func(Piece) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("deriving it failed: %v", r)
		}
	}()
	ids, err := archive.HasRecordIDs(ctx, q, s.No)
	if err != nil {
		return err
	}
	d := Deriver{Harness: h, State: transcript.State{Key: s.Key, CWD: s.Meta.ToldCWD}}
	lines := archive.NewLineReader(archive.Stream(ctx, q, s.No, s.Tail.StreamLen), 0)
	defer lines.Release()
	var long longLine
	p := Piece{First: true}
	for {
		l, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if l.Start && p.Bytes > 0 && p.Bytes+int64(len(l.Bytes)) > limit {
			if err := give(p); err != nil {
				return err
			}
			p = Piece{}
		}
		p.Bytes += int64(len(l.Bytes))
		if l.Whole() {
			p.Rows = append(p.Rows, d.Line(l.Bytes, l.Off)...)
		}
		if held, ok := long.add(l); ids && ok {
			p.Held = append(p.Held, held)
		}
	}
	p.Last, p.State = true, d.State
	return give(p)
}

// A longLine puts together what line_index says of a line, which may come in
// pieces.
type longLine struct {
	hash  archive.LineHasher
	id    string
	known bool
}

func (x *longLine) add(l archive.Line) (HeldLine, bool) {
	if l.Start {
		x.id, x.known = transcript.WrappedID(l.Bytes)
	}
	if !x.known {
		return HeldLine{}, false
	}
	off, n, hash, ok := x.hash.Add(l)
	return HeldLine{x.id, Held{Hash: hash[:], Off: off, Len: n}}, ok
}

// A Rebuild replaces the rows of one session by those of its pieces. All its
// calls but those of a session in several transactions are made in one.
type Rebuild struct {
	Turns int64 // written so far
	// Skipped are records past MaxTurns.
	Skipped int64

	s     archive.Session
	t     Target
	stale staleRows
}

// BeginRebuild removes a session's rows. With inOne its search rows are left
// standing until the new ones take their place: taken away in the order in
// which the new ones come, they cost the index no flush. Otherwise the session
// is marked as underived until End.
func BeginRebuild(ctx context.Context, w archive.Execer, v *Values, s archive.Session, inOne bool) (*Rebuild, error) {
	r := &Rebuild{s: s, t: Target{No: s.No, Slot: s.Slot, Values: v}}
	first, end := s.No<<archive.TurnBits, (s.No+1)<<archive.TurnBits
	for _, stmt := range []string{
		`DELETE FROM turns WHERE id >= ? AND id < ?`,
		`DELETE FROM compaction_boundaries WHERE turn_id >= ? AND turn_id < ?`,
		`DELETE FROM entities WHERE turn >= ? AND turn < ?`,
	} {
		if _, err := w.ExecContext(ctx, stmt, first, end); err != nil {
			return nil, err
		}
	}
	if _, err := w.ExecContext(ctx, `DELETE FROM line_index WHERE session_no = ?`, s.No); err != nil {
		return nil, err
	}
	if err := archive.SetTurns(ctx, w, s.No, 0); err != nil {
		return nil, err
	}
	if s.Slot >= 0 {
		if _, err := w.ExecContext(ctx, `DELETE FROM lengths WHERE slot = ?`, s.Slot); err != nil {
			return nil, err
		}
		if err := r.stale.load(ctx, w, s.Slot); err != nil {
			return nil, err
		}
		r.t.stale = &r.stale
	}
	if inOne {
		return r, nil
	}
	if err := r.stale.dropAll(ctx, w); err != nil {
		return nil, err
	}
	return r, archive.MarkUnderived(ctx, w, s.Key)
}

// Add writes a piece.
func (r *Rebuild) Add(ctx context.Context, w archive.Execer, p Piece) error {
	if len(p.Rows) > 0 && r.t.Slot < 0 {
		slot, err := archive.AssignSlot(ctx, w, r.s.Key, r.s.Meta.Project)
		if err != nil {
			return err
		}
		r.t.Slot = slot
	}
	added, skipped, err := Write(ctx, w, r.t, p.Rows)
	if err != nil {
		return err
	}
	r.t.Next += added
	r.Turns, r.Skipped = r.t.Next, r.Skipped+skipped
	for _, h := range p.Held {
		if err := HoldLine(ctx, w, r.s.No, h.ID, h.Held); err != nil {
			return err
		}
	}
	return nil
}

// End writes what the whole session told, and its version.
func (r *Rebuild) End(ctx context.Context, w archive.Execer, st transcript.State) error {
	if err := r.stale.dropAll(ctx, w); err != nil {
		return err
	}
	newest, err := archive.Newest(ctx, w, r.s.No)
	if err != nil {
		return err
	}
	if err := MarkCurrent(ctx, w, r.s.No, newest); err != nil {
		return err
	}
	state, err := json.Marshal(st)
	if err != nil {
		return err
	}
	m := archive.DerivedMeta{
		SessionID: st.SessionID, CWD: st.CWD, Branch: st.Branch, FirstTurnAt: st.FirstTS, LastTurnAt: st.LastTS,
		ContinuesFrom: st.ContinuesFrom, State: string(state), Version: store.DerivedSchema,
	}
	if m.ContinuesFrom == "" {
		m.PendingParent = UUIDValue(st.FirstParent)
	}
	return archive.SaveDerived(ctx, w, r.s.Key, m)
}

// staleRows are the search rows of a session that its rebuild has not replaced
// yet, ascending.
type staleRows struct{ ids []int64 }

func (s *staleRows) load(ctx context.Context, q archive.Querier, slot int64) error {
	rows, err := q.QueryContext(ctx, `SELECT id FROM turns_fts_docsize WHERE id >= ? AND id < ? ORDER BY id`,
		slot<<archive.TurnBits, (slot+1)<<archive.TurnBits)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		s.ids = append(s.ids, id)
	}
	return rows.Err()
}

// dropTo removes those up to rowid. The index is flushed where a rowid goes
// back, and not where the row that was just removed is written again.
func (s *staleRows) dropTo(ctx context.Context, w archive.Execer, rowid int64) error {
	if s == nil {
		return nil
	}
	for len(s.ids) > 0 && s.ids[0] <= rowid {
		if _, err := w.ExecContext(ctx, `DELETE FROM turns_fts WHERE rowid = ?`, s.ids[0]); err != nil {
			return err
		}
		s.ids = s.ids[1:]
	}
	return nil
}

func (s *staleRows) dropAll(ctx context.Context, w archive.Execer) error {
	if len(s.ids) == 0 {
		return nil
	}
	return s.dropTo(ctx, w, s.ids[len(s.ids)-1])
}
