package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/clock"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/retention"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/store"
)

// A retentionDocument is the data of retention.
type retentionDocument struct {
	Cutoff   *string  `json:"cutoff"`
	Evict    []string `json:"evict"`
	Delete   []string `json:"delete"`
	Over     int      `json:"over"`
	Excluded int      `json:"excluded"`
}

const (
	retentionOff = "retention is off: terminus.toml has no [retention] rule that acts"
	nothingDue   = "nothing is due: retention selects no session"
	notYet       = "nothing is due in the next pass: the sessions that retention selects are to be observed first"
)

func newRetention(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "retention",
		Short:   "Show which old sessions the next ingest would evict or delete",
		GroupID: groupCare,
		Long: `Show what the next ingest would do to old sessions by the rules of [retention] in
terminus.toml, and change nothing: retention acts at the end of a pass, and nowhere
else. A session that is evicted loses its bytes and is still listed and found; one
that is deleted is gone, and only a session whose transcript is gone is deleted.`,
		Example: `  terminus retention
  terminus retention --dry-run --json | jq .data.evict`,
		Args: noArgs,
	}
	cmd.Flags().Bool("dry-run", false, "change nothing; nor is anything changed without it")
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return retentionDocument{} },
		run:   e.retention,
	})
}

func (e *env) retention(ctx context.Context) (answer, error) {
	cfg, err := e.config()
	if err != nil {
		return answer{}, err
	}
	now := clock.Now()
	p, older, err := retention.Preview(ctx, cfg, now, registry.ByID)
	if errors.Is(err, store.ErrNoStore) {
		return e.noStoreAnswer(cfg.DataDir), nil
	}
	if err != nil {
		return answer{}, err
	}
	at := archive.Stamp(now)
	doc := retentionDocument{Cutoff: &at, Evict: sessionKeys(p.Evict), Delete: sessionKeys(p.Delete), Over: p.Over, Excluded: p.Excluded}
	a := answer{data: doc, text: func() error {
		e.printRetention(doc, p)
		return nil
	}}
	switch {
	case p.Off:
		a.reason = retentionOff
	case len(doc.Evict)+len(doc.Delete) == 0:
		a.reason = emptyReason(doc)
	}
	if older {
		a.warnings = append(a.warnings, search.OlderStore)
	}
	return a, nil
}

// emptyReason says why an answer names no session.
func emptyReason(doc retentionDocument) string {
	if doc.Over > 0 {
		return notYet
	}
	return nothingDue
}

func sessionKeys(list []archive.Aged) []string {
	keys := make([]string, len(list))
	for i, s := range list {
		keys[i] = s.Key
	}
	return keys
}

func (e *env) printRetention(doc retentionDocument, p retention.Plan) {
	switch {
	case p.Off:
		e.notef("%s", retentionOff)
		return
	case len(doc.Evict)+len(doc.Delete) == 0:
		e.notef("%s", emptyReason(doc))
	default:
		e.printf("cutoff  %s\n", *doc.Cutoff)
		for _, key := range doc.Evict {
			e.printf("evict   %s\n", visible(key))
		}
		for _, key := range doc.Delete {
			e.printf("delete  %s\n", visible(key))
		}
		e.notef("%s to evict, %d to delete", count(len(doc.Evict), "session"), len(doc.Delete))
	}
	if p.Over > 0 {
		e.notef("left for a later pass: %s (one evicts %d and deletes %d)", count(p.Over, "session"), retention.PerAction, retention.PerAction)
	}
	if p.Kept > 0 {
		e.notef("not deleted, because %s is missing or empty: %s", visible(strings.Join(p.Missing, ", ")), count(p.Kept, "session"))
	}
	if p.Excluded > 0 {
		e.notef("passed over, because the project is excluded: %s", count(p.Excluded, "session"))
	}
}
