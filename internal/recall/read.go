package recall

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/terminus-archive/terminus/internal/search"
)

const (
	// batchTurns is how many turns of a session are read at a time: enough to
	// share the opening of a block, few enough that their texts, 256 KiB each at
	// most, stay small.
	batchTurns = 64
	// maxCandidates is how many sessions an ambiguous name lists.
	maxCandidates = 10
)

// A ReadRequest asks for one session as text.
type ReadRequest struct {
	// Name is a session key, or the beginning of one or of the harness's own
	// session id.
	Name string
	// Raw lifts the egress filter for this request.
	Raw bool
	// From is the id of the turn to begin with, nil for the first.
	From *int64
	// First and Last bound the turn_seq of the turns that are read, both
	// included; nil is no bound.
	First, Last *int64
}

// An AmbiguousError is a name that more than one session has.
type AmbiguousError struct {
	Name string
	Keys []string // the sessions, some of them if More
	More bool
}

func (e *AmbiguousError) Error() string {
	list := strings.Join(e.Keys, ", ")
	if e.More {
		list += ", ..."
	}
	return fmt.Sprintf("%q may be any of %s", e.Name, list)
}

// A Reading is a session being read.
type Reading struct {
	SessionKey string
	Project    *string
	Branch     *string
	Sidechain  bool // a subagent's session
	Evicted    bool // retention dropped bytes of it; their turns have no text
	// Reason says why there is nothing to read; nothing else is set then.
	Reason string

	reader      *search.Reader
	raw         bool // the egress filter is lifted
	no          int64
	order       []int64 // turn_seq in reading order, nil where they simply count up
	first, last int64
}

// A Turn is one turn of a Reading.
type Turn struct {
	TurnID     int64   `json:"turn_id"`
	TurnSeq    int64   `json:"turn_seq"`
	RecordType string  `json:"record_type"`
	ToolName   *string `json:"tool_name"`
	TS         *string `json:"ts"`
	Typed      bool    `json:"typed"` // a person typed it
	// Rewound says that the turn is no longer part of its transcript.
	Rewound bool `json:"rewound"`
	// Machinery says that the turn is about the client itself, not the work.
	Machinery bool `json:"-"`
	// Text is what the turn says, up to 256 KiB, "" where the archive does not
	// give its bytes.
	Text string `json:"text"`
}

// Read finds the session that q names. The error is an *AmbiguousError, or the
// store's. A session of an excluded project is as if it were not there.
func Read(ctx context.Context, r *search.Reader, q ReadRequest) (*Reading, error) {
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	view, err := snap.View(ctx, search.Scope{Project: search.AllProjects})
	if err != nil || view.Reason != "" {
		return &Reading{Reason: view.Reason}, err
	}
	found, err := snap.Named(ctx, view, q.Name, maxCandidates+1)
	if err != nil {
		return nil, err
	}
	switch len(found) {
	case 0:
		return &Reading{Reason: search.NoSession(q.Name)}, nil
	case 1:
	default:
		return nil, ambiguous(q.Name, found)
	}
	x := &Reading{
		SessionKey: found[0].Key, Project: found[0].Project, Branch: found[0].Branch,
		Sidechain: found[0].Sidechain, Evicted: found[0].Evicted, reader: r, raw: q.Raw, no: found[0].No,
	}
	err = x.bound(ctx, snap, view, q)
	return x, err
}

func ambiguous(name string, found []search.Owner) error {
	e := &AmbiguousError{Name: name, More: len(found) > maxCandidates}
	for _, o := range found[:min(len(found), maxCandidates)] {
		e.Keys = append(e.Keys, o.Key)
	}
	return e
}

// bound finds the order and the bounds of what is to be read.
func (x *Reading) bound(ctx context.Context, snap *search.Snapshot, view search.View, q ReadRequest) error {
	first, last, ok, err := snap.Ends(ctx, x.no)
	if err != nil {
		return err
	}
	if !ok {
		first, last = 0, -1
	}
	if q.First != nil {
		first = max(first, *q.First)
	}
	if q.Last != nil {
		last = min(last, *q.Last)
	}
	x.first, x.last = first, last
	if x.order, err = snap.Order(ctx, x.no); err != nil {
		return err
	}
	if q.From == nil {
		return nil
	}
	t, ok, err := snap.Turn(ctx, view, *q.From)
	if err != nil {
		return err
	}
	if !ok || t.Session.No != x.no {
		*x = Reading{Reason: search.NoTurn(*q.From)}
		return nil
	}
	x.begin(t.Seq())
	return nil
}

// begin leaves out what stands before the turn seq.
func (x *Reading) begin(seq int64) {
	if x.order == nil {
		x.first = max(x.first, seq)
		return
	}
	for len(x.order) > 0 && x.order[0] != seq {
		x.order = x.order[1:]
	}
}

// Turns yields the turns of the reading in order, in bounded memory. Between
// turns nothing of the store is held open, so that a slow reader is in nobody's
// way. It ends after an error. It may be used more than once.
func (x *Reading) Turns(ctx context.Context) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		if x.reader == nil {
			return
		}
		next := *x
		for {
			turns, err := next.batch(ctx)
			if err != nil {
				yield(Turn{}, err)
				return
			}
			if len(turns) == 0 {
				return
			}
			for _, t := range turns {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// batch reads the next turns and moves x past them. None means the end.
func (x *Reading) batch(ctx context.Context) ([]Turn, error) {
	snap, err := x.reader.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	snap.Raw(x.raw)
	rows, err := x.rows(ctx, snap)
	if err != nil {
		return nil, err
	}
	if err := snap.Prefetch(ctx, rows); err != nil {
		return nil, err
	}
	out := make([]Turn, 0, len(rows))
	for i := range rows {
		t := &rows[i]
		text, machinery, err := snap.Text(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, Turn{
			TurnID: t.ID, TurnSeq: t.Seq(), RecordType: t.Type, ToolName: t.Tool, TS: t.TS,
			Typed: t.Typed, Rewound: !t.Current, Machinery: machinery, Text: string(text),
		})
	}
	return out, nil
}

func (x *Reading) rows(ctx context.Context, snap *search.Snapshot) ([]search.Turn, error) {
	if x.order == nil {
		rows, err := snap.Turns(ctx, x.no, x.first, x.last, batchTurns)
		if n := len(rows); n > 0 {
			x.first = rows[n-1].Seq() + 1
		}
		return rows, err
	}
	var rows []search.Turn
	for len(x.order) > 0 && len(rows) < batchTurns {
		seq := x.order[0]
		x.order = x.order[1:]
		if seq < x.first || seq > x.last {
			continue
		}
		one, err := snap.Turns(ctx, x.no, seq, seq, 1)
		if err != nil {
			return nil, err
		}
		rows = append(rows, one...)
	}
	return rows, nil
}
