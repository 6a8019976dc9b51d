// Package retention decides which old sessions are evicted or deleted, and does
// it: an evicted session loses its bytes and keeps all rows, a deleted one loses
// both. It acts on nothing that the configuration does not name, on no session
// that is still open, and deletes none whose transcript may still be there.
//
// One evaluation stands behind the step of a pass and behind the preview, so
// that they cannot disagree.
package retention

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness"
)

const (
	// PerAction is how many sessions one pass evicts, and how many it deletes: a
	// pass that a prompt started is over in seconds.
	PerAction = 100
	// zoneSlack is how far the text of a time may lie from that of the same
	// instant in UTC: no zone is a day away.
	zoneSlack = 24 * time.Hour
)

// A Plan is what the next pass does.
type Plan struct {
	// Off says that no rule can act: nothing was looked at.
	Off bool
	// Evict and Delete are the sessions due, oldest first, PerAction at most each.
	Evict, Delete []archive.Aged
	// Over counts the sessions due that are left for a later pass: they come after
	// these, or their facts are to be noted first.
	Over int
	// Excluded counts the closed sessions of excluded projects, which were passed over.
	Excluded int
	// Missing are the directories that are not there, or hold nothing, so that it
	// cannot be told whether the transcripts below them were deleted; sorted. The
	// sessions due that they keep are Kept.
	Missing []string
	Kept    int
}

// Evaluate decides what a pass at the instant now does once it has closed sessions
// and noted their facts. It changes nothing.
func Evaluate(ctx context.Context, q archive.Querier, c *config.Config, now time.Time, lookup Lookup) (Plan, error) {
	return evaluate(ctx, q, c, now, lookup, nil, nil)
}

// evaluate takes the facts of the sessions with the keys noted for noted, and the sessions
// closing for closed.
func evaluate(ctx context.Context, q archive.Querier, c *config.Config, now time.Time, lookup Lookup,
	noted map[string]bool, closing []archive.Closing,
) (Plan, error) {
	if !c.Retention.Acts() {
		return Plan{Off: true}, nil
	}
	e := evaluation{q: q, c: c, now: now, places: newPlaces(lookup), noted: noted}
	if err := e.excluded(ctx, closing); err != nil {
		return Plan{}, err
	}
	due, err := e.due(ctx)
	if err != nil {
		return Plan{}, err
	}
	for _, d := range due {
		if err := e.judge(ctx, d); err != nil {
			return Plan{}, err
		}
	}
	e.plan.Missing, e.plan.Kept = e.places.missing(), e.places.kept
	return e.plan, nil
}

// A Lookup finds a harness by its id.
type Lookup func(id string) (harness.Harness, bool)

type evaluation struct {
	q      archive.Querier
	c      *config.Config
	now    time.Time
	places *places
	noted  map[string]bool
	// sources are the files of each session, by its number; nil until they are asked for.
	sources map[int64][]archive.Source
	plan    Plan
}

// excluded counts what is passed over.
func (e *evaluation) excluded(ctx context.Context, closing []archive.Closing) error {
	if len(e.c.Exclude.List()) == 0 {
		return nil
	}
	all, err := archive.ClosedByProject(ctx, e.q)
	for _, p := range all {
		if e.c.Exclude.Hidden(p.Project, p.PreWorktree) {
			e.plan.Excluded += p.Sessions
		}
	}
	for _, s := range closing {
		if e.c.Exclude.Hidden(s.Project, s.PreWorktree) {
			e.plan.Excluded++
		}
	}
	return err
}

// A candidate is a session whose rule acts and whose age has come. That is a day
// at least, so that the session is closed, or will be before the next pass comes
// to retention.
type candidate struct {
	archive.Aged
	at     time.Time
	action config.Action
}

// due lists the candidates, oldest first.
func (e *evaluation) due(ctx context.Context) ([]candidate, error) {
	before, deletes := e.reach()
	all, err := archive.AgedBefore(ctx, e.q, archive.Stamp(before.Add(zoneSlack)), !deletes)
	if err != nil {
		return nil, err
	}
	var out []candidate
	for _, s := range all {
		rule := e.c.Retention.For(s.Project)
		at, ok := archive.ParseTime(s.LastTurnAt)
		if !ok || !rule.Acts() || !at.Before(cutoff(e.now, rule)) || e.c.Exclude.Hidden(s.Project, s.PreWorktree) {
			continue // a time that is none has no age
		}
		out = append(out, candidate{s, at, rule.Action})
	}
	slices.SortFunc(out, func(a, b candidate) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.Key, b.Key)) })
	return out, nil
}

// reach is the latest instant before which any rule acts, and whether one deletes.
func (e *evaluation) reach() (before time.Time, deletes bool) {
	rules := []config.Rule{e.c.Retention.Rule}
	for _, r := range e.c.Retention.Projects {
		rules = append(rules, r)
	}
	for _, r := range rules {
		if !r.Acts() {
			continue
		}
		deletes = deletes || r.Action == config.Delete
		if at := cutoff(e.now, r); at.After(before) {
			before = at
		}
	}
	return before, deletes
}

// cutoff is the instant before which the last turn of a session must lie.
func cutoff(now time.Time, r config.Rule) time.Time { return now.UTC().AddDate(0, 0, -int(r.AgeDays)) }

// judge puts a candidate where it belongs.
func (e *evaluation) judge(ctx context.Context, d candidate) error {
	if d.action == config.Delete {
		gone, err := e.gone(ctx, d.Aged)
		if err == nil && gone {
			e.plan.Delete = e.take(e.plan.Delete, d.Aged)
		}
		return err
	}
	switch {
	case !d.Held: // evicted already
	case d.Unobserved && !e.noted[d.Key]:
		e.plan.Over++
	default:
		e.plan.Evict = e.take(e.plan.Evict, d.Aged)
	}
	return nil
}

func (e *evaluation) take(list []archive.Aged, s archive.Aged) []archive.Aged {
	if len(list) >= PerAction {
		e.plan.Over++
		return list
	}
	return append(list, s)
}

// gone reports whether every file that a session was read from was deleted.
func (e *evaluation) gone(ctx context.Context, s archive.Aged) (bool, error) {
	if e.sources == nil {
		// All at once: a rule that deletes looks at every old session in each pass.
		var err error
		if e.sources, err = archive.Sources(ctx, e.q); err != nil {
			return false, err
		}
	}
	return e.places.gone(s.Harness, e.sources[s.No]), nil
}
