package search

import (
	"context"

	"github.com/terminus-archive/terminus/internal/derive"
)

const (
	// DefaultLimit is how many hits a query gives that names no limit.
	DefaultLimit = 10
	// MaxLimit is the most hits that one query gives; a higher limit is lowered.
	MaxLimit = 50
	// candidates is how many turns of the best relevance are weighed further:
	// four times MaxLimit, so that what is added to a turn's relevance later can
	// lift it into the answer.
	candidates = 4 * MaxLimit
)

// A Query asks for turns. All conditions must hold.
type Query struct {
	// Words must all stand in the turn.
	Words string
	// Scope is the part of the archive that is searched.
	Scope Scope
	// Kind is the record type and Tool the name of the turn's first tool call,
	// matched exactly; "" is any.
	Kind, Tool string
	// Paths are paths of which the turn names at least one in a structured
	// field, compared byte by byte; none is any turn.
	Paths []string
	// Session is the key of a session, or what a key or a harness's own id
	// begins with: only turns of the sessions that it may mean. "" is any.
	Session string
	// Since and Until bound the turn's time, both inclusive, in the form that
	// the functions of these names give. A turn without a time lies outside
	// every bound.
	Since, Until string
	// Limit is the number of hits wanted; 0 is DefaultLimit.
	Limit int
	// Offset is how many hits are left out before the first. The order goes on
	// over pages, and ends with the candidates.
	Offset int
	// ForPeople asks for what only people are told: Result.Counts and Hit.Resume.
	ForPeople bool
	// Raw lifts the egress filter for this query.
	Raw bool

	sessions []int64 // that Session names
}

// maxSessions bounds the sessions that one Session may mean.
const maxSessions = 256

// A Match is an entity of a turn that the query names.
type Match struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// A Hit is a turn that a query found.
type Hit struct {
	TurnID      int64   `json:"turn_id"`
	SessionKey  string  `json:"session_key"`
	Project     *string `json:"project"`
	RecordType  string  `json:"record_type"`
	TS          *string `json:"ts"`
	Sidechain   bool    `json:"sidechain"`
	Relevance   float64 `json:"relevance"` // higher is better
	EntityScore float64 `json:"entity_score"`
	MatchedOn   []Match `json:"matched_on"`
	// Excerpt is the text around the match, "" where the archive does not give
	// the turn's bytes. It is cut from the filtered text: where the filter took
	// out the match, it surrounds the next one, else a marker.
	Excerpt string `json:"excerpt"`
	// Resume says how to go on with the hit's session.
	Resume Resume `json:"-"`
}

// A Result answers a Query.
type Result struct {
	Query string `json:"query"` // as typed
	// Truncated says that only the first words of the query were searched.
	Truncated bool  `json:"truncated"`
	Hits      []Hit `json:"hits"`
	// Reason says why there are no hits, where that is not simply that nothing
	// matched.
	Reason string `json:"-"`
	// Counts says where each word stands alone, where no turn holds them all.
	Counts []WordCount `json:"-"`
	// Terms are the words that were searched.
	Terms []string `json:"-"`
	// Elsewhere is that of the View that Reason comes from.
	Elsewhere bool `json:"-"`
}

// Empty is the answer to words without any hits: what is shown where the store
// cannot be used.
func Empty(words string) Result {
	_, cut := derive.Terms(words)
	return Result{Query: words, Truncated: cut, Hits: []Hit{}}
}

// Find answers q. Hits stand in the order of their relevance, highest first;
// then turns of top-level sessions before those of subagents, newer before
// older with a turn without a time last, and lower ids before higher. Every
// turn in scope takes part in the ranking.
func (r *Reader) Find(ctx context.Context, q Query) (Result, error) {
	terms, cut := derive.Terms(q.Words)
	res := Result{Query: q.Words, Truncated: cut, Hits: []Hit{}}
	match := derive.Match(terms)
	if match == "" && r.db != nil { // whatever the scope
		res.Reason = NoWords
		return res, nil
	}
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return res, err
	}
	defer snap.Close()
	snap.Raw(q.Raw)
	view, err := snap.View(ctx, q.Scope)
	if err != nil {
		return res, err
	}
	if view.Reason != "" {
		res.Reason, res.Elsewhere = view.Reason, view.Elsewhere()
		return res, nil
	}
	res.Terms = terms
	if q.Session != "" {
		named, err := snap.Named(ctx, view, q.Session, maxSessions)
		if err != nil {
			return res, err
		}
		if len(named) == 0 {
			res.Reason = NoSession(q.Session)
			return res, nil
		}
		for _, o := range named {
			q.sessions = append(q.sessions, o.No)
		}
	}
	found, err := snap.rank(ctx, view, q, match)
	if err != nil {
		return res, err
	}
	if len(found) == 0 && q.ForPeople {
		res.Counts, err = snap.wordCounts(ctx, view, q, terms)
		return res, err
	}
	turns, err := snap.weigh(ctx, found, terms)
	if err != nil {
		return res, err
	}
	turns = turns[min(len(turns), q.Offset):]
	turns = turns[:min(len(turns), q.limit())]
	shown := make([]Turn, len(turns))
	for i := range turns {
		shown[i] = turns[i].Turn
	}
	if err := snap.Prefetch(ctx, shown); err != nil {
		return res, err
	}
	for _, c := range turns {
		hit, err := snap.hit(ctx, c, terms)
		if err == nil && q.ForPeople {
			hit.Resume, err = snap.Resume(ctx, &c.Session)
		}
		if err != nil {
			return res, err
		}
		res.Hits = append(res.Hits, hit)
	}
	return res, nil
}

func (q Query) limit() int {
	if q.Limit <= 0 {
		return DefaultLimit
	}
	return min(q.Limit, MaxLimit)
}

func (s *Snapshot) hit(ctx context.Context, c weighed, terms []string) (Hit, error) {
	excerpt, err := s.Quote(ctx, &c.Turn, terms)
	if err != nil {
		return Hit{}, err
	}
	matched := c.matched
	if matched == nil {
		matched = []Match{}
	}
	return Hit{
		TurnID: c.ID, SessionKey: c.Session.Key, Project: c.Session.Project, RecordType: c.Type, TS: c.TS,
		Sidechain: c.Session.Sidechain, Relevance: c.relevance, EntityScore: c.entityScore, MatchedOn: matched,
		Excerpt: excerpt,
	}, nil
}
