// Package recall reads the archive back: single turns with the turns around
// them, whole sessions as text, the brief of a session's start and the past turns
// that a prompt is given. It owns what is handed out, in which shape and within
// which bounds, and the file that says what a session was given; what may be seen
// at all is decided by package search, through which it does all of its reading.
package recall

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/search"
)

// MaxWindow is the most turns that a window shows on either side of its anchor;
// more is lowered to it. It keeps a window below a screen or two, and a model's
// request for one inside its means.
const MaxWindow = 25

// A Request asks for turns by id.
type Request struct {
	Scope search.Scope
	// Raw lifts the egress filter for this request.
	Raw bool
	// IDs are the turns wanted. Repeated ids are dropped.
	IDs []int64
	// Before and After are the turns wanted around each; both 0 is no window,
	// unless Window asks for one that holds the turn alone.
	Before, After int
	Window        bool
}

// A Record is an archived turn.
type Record struct {
	TurnID     int64   `json:"turn_id"`
	SessionKey string  `json:"session_key"`
	TurnSeq    int64   `json:"turn_seq"`
	RecordType string  `json:"record_type"`
	ToolName   *string `json:"tool_name"`
	TS         *string `json:"ts"`
	Project    *string `json:"project"`
	// Body is the archived record as the egress filter leaves it, newline
	// excluded, each byte that is not UTF-8 replaced by U+FFFD. It is nil where
	// the archive does not give it.
	Body *string `json:"body"`
	// BodyEvicted says that retention dropped bytes of the session.
	BodyEvicted bool `json:"body_evicted"`
	// Context are the turns around it, nil unless asked for.
	Context *Window `json:"context"`
	// Raw is the body's bytes, nil where Body is.
	Raw []byte `json:"-"`
}

// A Window shows the turns around one turn, of the same session.
type Window struct {
	Turns []WindowTurn `json:"turns"` // in the order of turn_seq
	// AtSessionStart and AtSessionEnd say that the window reaches the session's
	// first or last turn.
	AtSessionStart bool `json:"at_session_start"`
	AtSessionEnd   bool `json:"at_session_end"`
	// ContinuesFrom is the harness's id of the session that this one goes on
	// from. It is not followed.
	ContinuesFrom *string `json:"continues_from"`
	// Reason says why a window is empty.
	Reason *string `json:"reason"`
}

// A WindowTurn is one turn of a Window.
type WindowTurn struct {
	TurnID     int64   `json:"turn_id"`
	TurnSeq    int64   `json:"turn_seq"`
	RecordType string  `json:"record_type"`
	ToolName   *string `json:"tool_name"`
	TS         *string `json:"ts"`
	Text       string  `json:"text"` // an excerpt from the start of what it says
	IsAnchor   bool    `json:"is_anchor"`
}

// An Absent is a requested turn that there is none of, or that the request may
// not see: the two are not told apart.
type Absent struct {
	TurnID int64  `json:"turn_id"`
	Reason string `json:"reason"`
}

// Records answers a Request.
type Records struct {
	Records []Record `json:"records"` // in the order asked for
	Absent  []Absent `json:"absent"`
	// Reason says why there is no record.
	Reason string `json:"-"`
	// Unseen says that Reason is the request's: it may see nothing at all.
	Unseen bool `json:"-"`
	// Elsewhere says that the scope may be why something is absent: every project
	// may hold it.
	Elsewhere bool `json:"-"`
}

// Get answers q. A request that may see nothing finds every id absent, with the
// request's reason.
func Get(ctx context.Context, r *search.Reader, q Request) (Records, error) {
	out := Records{Records: []Record{}, Absent: []Absent{}}
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return out, err
	}
	defer snap.Close()
	snap.Raw(q.Raw)
	view, err := snap.View(ctx, q.Scope)
	if err != nil {
		return out, err
	}
	g := getter{snap: snap, before: window(q.Before), after: window(q.After)}
	g.window = q.Window || g.before > 0 || g.after > 0
	out.Unseen = view.Reason != ""
	seen := map[int64]bool{}
	for _, id := range q.IDs {
		if seen[id] {
			continue
		}
		seen[id] = true
		if view.Reason != "" {
			out.Absent = append(out.Absent, Absent{id, view.Reason})
			continue
		}
		t, ok, err := snap.Turn(ctx, view, id)
		if err != nil {
			return out, err
		}
		if !ok {
			out.Absent = append(out.Absent, Absent{id, search.NoTurn(id)})
			continue
		}
		rec, err := g.record(ctx, &t)
		if err != nil {
			return out, err
		}
		out.Records = append(out.Records, rec)
	}
	if out.Reason = view.Reason; out.Reason == "" && len(out.Records) == 0 && len(out.Absent) > 0 {
		out.Reason = out.Absent[0].Reason
	}
	out.Elsewhere = len(out.Absent) > 0 && view.Elsewhere()
	return out, nil
}

func window(n int) int64 { return int64(min(max(n, 0), MaxWindow)) }

type getter struct {
	snap          *search.Snapshot
	before, after int64
	window        bool // a record comes with the turns around it
}

func (g *getter) record(ctx context.Context, t *search.Turn) (Record, error) {
	rec := Record{
		TurnID: t.ID, SessionKey: t.Session.Key, TurnSeq: t.Seq(), RecordType: t.Type, ToolName: t.Tool, TS: t.TS,
		Project: t.Session.Project, BodyEvicted: t.Session.Evicted,
	}
	b, err := g.snap.Bytes(ctx, t)
	if err != nil {
		return rec, err
	}
	if b != nil {
		body := lossy(b)
		rec.Body, rec.Raw = &body, append([]byte{}, b...)
	}
	if g.window {
		rec.Context, err = g.around(ctx, t)
	}
	return rec, err
}

func (g *getter) around(ctx context.Context, anchor *search.Turn) (*Window, error) {
	first, last, _, err := g.snap.Ends(ctx, anchor.Session.No)
	if err != nil {
		return nil, err
	}
	from, to := max(anchor.Seq()-g.before, first), min(anchor.Seq()+g.after, last)
	turns, err := g.snap.Turns(ctx, anchor.Session.No, from, to, 1+2*MaxWindow)
	if err != nil {
		return nil, err
	}
	w := &Window{
		Turns: make([]WindowTurn, 0, len(turns)), AtSessionStart: from == first, AtSessionEnd: to == last,
		ContinuesFrom: anchor.Session.ContinuesFrom,
	}
	if err := g.snap.Prefetch(ctx, turns); err != nil {
		return nil, err
	}
	for i := range turns {
		t := &turns[i]
		text, err := g.snap.Quote(ctx, t, nil)
		if err != nil {
			return nil, err
		}
		w.Turns = append(w.Turns, WindowTurn{
			TurnID: t.ID, TurnSeq: t.Seq(), RecordType: t.Type, ToolName: t.Tool, TS: t.TS,
			Text: text, IsAnchor: t.ID == anchor.ID,
		})
	}
	return w, nil
}

// lossy is b as text: each byte that is not UTF-8 becomes one U+FFFD.
func lossy(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var s strings.Builder
	s.Grow(len(b) + utf8.UTFMax)
	for _, r := range string(b) {
		s.WriteRune(r)
	}
	return s.String()
}
