package search

import (
	"context"
	"database/sql"
	"strings"

	"github.com/terminus-archive/terminus/internal/document"
)

// An Observation is what is noted of one closed session.
type Observation struct {
	SessionKey  string  `json:"session_key"`
	SessionID   *string `json:"session_id"`
	GeneratedAt *string `json:"generated_at"`
	// Mechanical are its facts: a JSON value, or the text of the column where that is
	// no JSON; nil where there is none.
	Mechanical any `json:"mechanical"`
}

// An ObservationList answers for a scope.
type ObservationList struct {
	Observations []Observation `json:"observations"`
	// Reason says why there is nothing to list, "" where nothing is noted.
	Reason string `json:"-"`
	// Elsewhere is that of the View that Reason comes from.
	Elsewhere bool `json:"-"`
}

// nothingObserved is the reason where an older build made the store.
const nothingObserved = "this store holds no observations yet: run terminus ingest"

// Observations lists what is noted of the closed sessions in scope, in the order of
// their numbers. A session that grew is open again, and is left out until it is
// closed. The values of the facts go through the egress filter, one by one; their
// keys do not.
func (r *Reader) Observations(ctx context.Context, scope Scope) (ObservationList, error) {
	list := ObservationList{Observations: []Observation{}}
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return list, err
	}
	defer snap.Close()
	view, err := snap.View(ctx, scope)
	if err != nil || view.Reason != "" {
		list.Reason, list.Elsewhere = view.Reason, view.Elsewhere()
		return list, err
	}
	if there, err := snap.HasTable(ctx, "observations"); err != nil || !there {
		list.Reason = nothingObserved
		return list, err
	}
	cond, args := view.where()
	err = snap.each(ctx, func(rows *sql.Rows) error {
		var o Observation
		var text sql.NullString
		if err := rows.Scan(&o.SessionKey, &o.SessionID, &o.GeneratedAt, &text); err != nil {
			return err
		}
		if text.Valid {
			o.Mechanical = snap.facts(text.String)
		}
		list.Observations = append(list.Observations, o)
		return nil
	}, `SELECT s.session_key, o.session_id, o.generated_at, o.mechanical`+sessionFrom+`
		JOIN observations o ON o.session_key = s.session_key
		WHERE (m.session_key IS NULL OR m.is_final = 1) AND `+cond+` ORDER BY s.session_no`, args...)
	return list, err
}

// facts are the facts of a column as they may be shown.
func (s *Snapshot) facts(text string) any {
	v, ok := document.Parse(text)
	if !ok {
		v = text
	}
	if s.filter.Off() {
		return v
	}
	return document.EachText(v, s.fact)
}

// fact puts one value through the egress filter. Of one that was cut when it was
// noted the last word goes too: the filter cannot know half of it.
func (s *Snapshot) fact(value string) string {
	const cut = " [...]"
	head, wasCut := strings.CutSuffix(value, cut)
	if !wasCut {
		return s.filter.Text(value)
	}
	head = head[:1+strings.LastIndexAny(head, " \t\r\n")]
	return strings.TrimSpace(s.filter.Text(head)) + cut
}
