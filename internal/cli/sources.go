package cli

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/search"
)

// A sourcesDocument is the data of sources:
//
//	{"last_pass": "2026-08-01T09:00:00.000Z", "sources": [
//	  {"harness": "codex", "name": "Codex CLI", "seen": "0.171.0", "enabled": true, "found": true,
//	   "roots": [{"path": "/home/me/.codex", "found": true}], "transcripts": 12,
//	   "sessions": 12, "turns": 840, "bytes": 1048576, "last_archived_at": "2026-08-01T09:00:00.000Z",
//	   "skipped": [{"path": "/home/me/.codex/sessions/2026", "reason": "permission denied"}]}]}
//
// There is one element for every agent that this build knows, in the order in which a pass asks
// them. seen names the versions whose real stores were read, null where the agent is known from
// documents alone. found is true where one of its directories is there; transcripts is how many
// transcripts are there now. sessions, turns and bytes are what is archived of it, excluded
// projects left out. skipped are the places that cannot be read now, and those of which the last
// pass said so. last_pass is null before the first one.
type sourcesDocument struct {
	LastPass *string      `json:"last_pass"`
	Sources  []sourceItem `json:"sources"`
}

type sourceItem struct {
	Harness        string        `json:"harness"`
	Name           string        `json:"name"`
	Seen           *string       `json:"seen"`
	Enabled        bool          `json:"enabled"`
	Found          bool          `json:"found"`
	Roots          []sourceRoot  `json:"roots"`
	Transcripts    int           `json:"transcripts"`
	Sessions       int64         `json:"sessions"`
	Turns          int64         `json:"turns"`
	Bytes          int64         `json:"bytes"`
	LastArchivedAt *string       `json:"last_archived_at"`
	Skipped        []skippedItem `json:"skipped"`
}

type sourceRoot struct {
	Path  string `json:"path"`
	Found bool   `json:"found"`
}

type skippedItem struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func newSources(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sources",
		Short:   "Show which coding agents are read, and from where",
		GroupID: groupCare,
		Long: `Show every coding agent whose sessions are read: where it keeps them, what is
archived of it, and what could not be read and why. [harness.<id>] in
terminus.toml switches one off (enabled = false) or names its directories
(roots = [...]).`,
		Example: `  terminus sources
  terminus sources --json | jq '.data.sources[] | select(.found)'`,
		Args: noArgs,
	}
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return sourcesDocument{Sources: []sourceItem{}} },
		run: func(ctx context.Context) (answer, error) {
			doc, warnings, err := e.sources(ctx)
			return answer{data: doc, warnings: warnings, text: func() error {
				e.printSources(doc)
				return nil
			}}, err
		},
	})
}

func (e *env) sources(ctx context.Context) (sourcesDocument, []string, error) {
	doc := sourcesDocument{Sources: []sourceItem{}}
	cfg, err := e.config()
	if err != nil {
		return doc, nil, err
	}
	archived := map[string]search.Source{}
	var run *search.Run
	// That the store was made by another build does not bear on what is counted here.
	_, _, err = ask(ctx, e, func(r *search.Reader) (bool, error) {
		snap, err := r.Snapshot(ctx)
		if err != nil {
			return false, err
		}
		defer snap.Close()
		if archived, err = snap.Sources(ctx); err == nil {
			run, err = snap.LastRun(ctx)
		}
		return true, err
	})
	if err != nil {
		return doc, nil, err
	}
	looks, err := ingest.LookAround(ctx, cfg, registry.All(), 0)
	if err != nil {
		return doc, nil, err
	}
	var failed []string
	if run != nil {
		doc.LastPass = &run.StartedAt
		if run.Error != nil {
			failed = strings.Split(strings.TrimRight(*run.Error, "\n"), "\n")
		}
	}
	owned := failuresOf(looks, failed)
	for i, l := range looks {
		doc.Sources = append(doc.Sources, sourceOf(l, archived[l.Harness.ID()], owned[i]))
	}
	warnings := slices.Clone(cfg.Warnings)
	for _, id := range slices.Sorted(maps.Keys(cfg.Harness)) {
		if !slices.ContainsFunc(doc.Sources, func(s sourceItem) bool { return s.Harness == id }) {
			warnings = append(warnings, fmt.Sprintf("[harness.%s] in %s: no agent has that id; those listed here have one", id, config.FileName))
		}
	}
	return doc, warnings, nil
}

// failuresOf gives every line of the last pass's failures, which begins with a path, to the agent
// of whose directories the longest holds it.
func failuresOf(looks []ingest.Look, lines []string) [][]skippedItem {
	all := make([][]skippedItem, len(looks))
	for _, line := range lines {
		best, owner := "", -1
		for i, l := range looks {
			for _, r := range l.Roots {
				if rest, ok := strings.CutPrefix(line, r.Path); ok && len(r.Path) > len(best) && (rest == "" || rest[0] == filepath.Separator || rest[0] == ':') {
					best, owner = r.Path, i
				}
			}
		}
		if owner < 0 {
			continue
		}
		below, reason, _ := strings.Cut(line[len(best):], ": ")
		all[owner] = append(all[owner], skippedItem{best + below, reason})
	}
	return all
}

// sourceOf puts together what is there, what is archived, and what the last pass could not read.
func sourceOf(l ingest.Look, a search.Source, failed []skippedItem) sourceItem {
	s := sourceItem{
		Harness: l.Harness.ID(), Name: l.Harness.Name(), Enabled: l.Enabled, Roots: []sourceRoot{}, Transcripts: l.Transcripts,
		Sessions: a.Sessions, Turns: a.Turns, Bytes: a.Bytes, LastArchivedAt: a.LastArchivedAt, Skipped: []skippedItem{},
	}
	if seen := l.Harness.Seen(); seen != "" {
		s.Seen = &seen
	}
	for _, f := range l.Skipped {
		s.Skipped = append(s.Skipped, skippedItem{f.Path, f.Reason})
	}
	for _, r := range l.Roots {
		s.Roots = append(s.Roots, sourceRoot(r))
		s.Found = s.Found || r.Found
	}
	now := s.Skipped // what is said of a place now goes before what the last pass said
	for _, f := range failed {
		told := slices.ContainsFunc(now, func(k skippedItem) bool { return k.Path == f.Path })
		if !told && !slices.Contains(s.Skipped, f) { // of one database many sessions may have failed
			s.Skipped = append(s.Skipped, f)
		}
	}
	return s
}

// printSources prints those agents of which there is anything, and names the others.
func (e *env) printSources(doc sourcesDocument) {
	var absent []string
	there := 0
	for _, s := range doc.Sources {
		if !s.Found && s.Sessions == 0 && len(s.Skipped) == 0 {
			absent = append(absent, s.Harness)
			continue
		}
		there++
		head := gap + e.screen.row(len(s.Harness+gap),
			cell{s.Name, gladly}, cell{count(s.Sessions, "session"), never}, cell{count(s.Turns, "turn"), never},
			cell{byteCount(s.Bytes), never}, mark(!s.Enabled, "(switched off)"), mark(s.Seen == nil, "(from documents)"))
		e.printf("%s%s\n", e.screen.style(bold, s.Harness), head)
		for _, r := range s.Roots {
			if r.Found || !s.Found {
				e.printf("%s%s\n", excerptIndent, e.screen.row(len(excerptIndent), cell{visible(r.Path), gladly}, mark(!r.Found, "(not there)")))
			}
		}
		for _, k := range s.Skipped {
			e.printf("%snot read: %s: %s\n", excerptIndent, visible(k.Path), visible(k.Reason))
		}
	}
	if len(absent) > 0 {
		e.notef("%s", fmt.Sprintf("%s here; looked for, and not there: %s", count(there, "agent"), strings.Join(absent, ", ")))
	}
	if doc.LastPass == nil {
		e.notef("nothing is archived yet: terminus ingest")
	}
}
