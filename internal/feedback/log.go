package feedback

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/redact"
	"github.com/terminus-archive/terminus/internal/search"
)

// A LogQuery asks for the newest decisions.
type LogQuery struct {
	// Session keeps those of the sessions whose id begins so; "" is all.
	Session string
	// Limit is the most decisions given, above 0.
	Limit int
}

// An Entry is one decision as it is shown.
type Entry struct {
	TS         string              `json:"ts"`
	SessionID  string              `json:"session_id"`
	CWD        string              `json:"cwd"`
	Prompt     string              `json:"prompt"`
	Spellings  []string            `json:"spellings"`
	Candidates []recall.Candidate  `json:"candidates"`
	Injected   []recall.Injected   `json:"injected"`
	Suppressed []recall.Suppressed `json:"suppressed"`
	// Compacted is nil where it is not known.
	Compacted     *bool `json:"compacted"`
	CharsInjected int64 `json:"chars_injected"`
	// Text is what was handed over, to the byte where the egress filter is off or
	// has nothing to take out; else Reason says why nothing was.
	Text   *string `json:"text"`
	Reason *string `json:"reason"`

	file string // the file that it came from
}

// An EntryList answers a LogQuery.
type EntryList struct {
	Decisions []Entry `json:"decisions"` // newest first
	// Reason says why there is none.
	Reason string `json:"-"`
	// Warning says what is missing: "" for nothing.
	Warning string `json:"-"`
}

// leave puts the texts of an entry through the egress filter. What was handed over
// went through it then, if the configuration asked for it by then. What a turn
// matched on is not filtered here, as nowhere.
func (e *Entry) leave(f redact.Filter) {
	if f.Off() {
		return
	}
	if e.Text != nil {
		text := f.Text(*e.Text)
		e.Text = &text
	}
	prompt := f.Text(e.Prompt)
	if prompt == e.Prompt {
		return
	}
	e.Prompt = prompt
	// A name may be a secret that only its place in the prompt tells.
	e.Spellings = slices.Clone(e.Spellings)
	for i, s := range e.Spellings {
		typed := strings.TrimLeft(strings.TrimPrefix(s, e.CWD), `/\`)
		if !strings.Contains(prompt, s) && !strings.Contains(prompt, typed) {
			e.Spellings[i] = redact.Marker
		}
	}
}

// The reasons of an empty log.
const (
	nothingLogged  = "no prompt is logged yet"
	patternNothing = "no prompt of session %s is logged"
)

// Log gives the newest decisions: those in the store, and those in dataDir that
// no pass has moved there yet. What was done in an excluded directory is left
// out, and texts go through the egress filter.
func Log(ctx context.Context, r *search.Reader, dataDir string, q LogQuery) (EntryList, error) {
	list := EntryList{Decisions: []Entry{}}
	// The files first: one that is moved meanwhile is found twice, and not never.
	names, err := waiting(dataDir)
	if err != nil {
		list.Warning = fmt.Sprintf("prompts that no pass has stored yet are missing: %v", err)
	}
	snap, err := r.Snapshot(ctx)
	if err != nil {
		return list, err
	}
	defer snap.Close()
	l := logger{shower: newShower(snap), q: q}
	if err := l.files(ctx, dataDir, names); err != nil {
		return list, err
	}
	if err := l.rows(ctx); err != nil {
		return list, err
	}
	list.Decisions = l.newest()
	for i := range list.Decisions {
		list.Decisions[i].leave(r.Filter())
	}
	switch {
	case len(list.Decisions) > 0:
	case snap.NoStore() != "":
		list.Reason = snap.NoStore()
	case q.Session != "":
		list.Reason = fmt.Sprintf(patternNothing, q.Session)
	default:
		list.Reason = nothingLogged
	}
	return list, nil
}

// A logger collects what a log shows.
type logger struct {
	shower
	q     LogQuery
	found []Entry
}

// files collects the newest decisions that wait. A file that cannot be read is
// left for the pass, which names it.
func (l *logger) files(ctx context.Context, dataDir string, names []string) error {
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, l.q.Session) })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(atOf(b), atOf(a)), cmp.Compare(b, a)) })
	for _, name := range names {
		if len(l.found) == l.q.Limit {
			return nil
		}
		d, _, err := read(filepath.Join(dataDir, dirName, name))
		if err != nil {
			continue
		}
		shown, err := l.shows(ctx, d.CWD)
		if err != nil {
			return err
		}
		if shown {
			l.found = append(l.found, entryOf(name, &d))
		}
	}
	return nil
}

func entryOf(file string, d *Decision) Entry {
	return Entry{
		TS: d.stamp(), SessionID: d.SessionID, CWD: d.CWD, Prompt: d.Prompt, Spellings: d.Spellings, Candidates: d.Candidates,
		Injected: d.Injected, Suppressed: d.Suppressed, Compacted: d.Compacted, CharsInjected: int64(d.CharsInjected),
		Text: d.Text, Reason: d.Reason, file: file,
	}
}

// rowsAtOnce bounds how many rows are held before it is asked which of them may
// be shown: rows are read to their end before anything else is asked.
const rowsAtOnce = 256

// rows collects the newest decisions of the store.
func (l *logger) rows(ctx context.Context) error {
	if there, err := l.snap.HasTable(ctx, "decisions"); err != nil || !there {
		return err // none: an older build's store
	}
	shown, step := 0, min(l.q.Limit, rowsAtOnce)
	for offset := 0; ; offset += step {
		var batch []Entry
		err := l.snap.Each(ctx, func(rows *sql.Rows) error {
			e, err := scan(rows)
			batch = append(batch, e)
			return err
		}, `SELECT file, coalesce(ts, ''), coalesce(session_id, ''), coalesce(cwd, ''), coalesce(prompt, ''), spellings, candidates,
			injected, suppressed, compacted, coalesce(chars_injected, 0), text, reason FROM decisions
			WHERE substr(session_id, 1, length(?1)) = ?1 OR ?1 = '' ORDER BY ts DESC, id DESC LIMIT ?2 OFFSET ?3`,
			l.q.Session, step, offset)
		if err != nil {
			return err
		}
		for _, e := range batch {
			ok, err := l.shows(ctx, e.CWD)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			l.found = append(l.found, e)
			if shown++; shown == l.q.Limit {
				return nil
			}
		}
		if len(batch) == 0 {
			return nil
		}
	}
}

func scan(rows *sql.Rows) (Entry, error) {
	var e Entry
	var spellings, candidates, injected, suppressed sql.NullString
	err := rows.Scan(&e.file, &e.TS, &e.SessionID, &e.CWD, &e.Prompt, &spellings, &candidates, &injected, &suppressed,
		&e.Compacted, &e.CharsInjected, &e.Text, &e.Reason)
	e.Spellings, e.Candidates = list[string](spellings), list[recall.Candidate](candidates)
	e.Injected, e.Suppressed = list[recall.Injected](injected), list[recall.Suppressed](suppressed)
	return e, err
}

// list reads a list as the table holds it. One that cannot be read is empty.
func list[T any](text sql.NullString) []T {
	var all []T
	if json.Unmarshal([]byte(text.String), &all) != nil {
		return nil
	}
	return all
}

// newest puts what was found in order, each decision once.
func (l *logger) newest() []Entry {
	seen := map[string]bool{}
	all := slices.DeleteFunc(l.found, func(e Entry) bool {
		twice := seen[e.file]
		seen[e.file] = true
		return twice
	})
	slices.SortStableFunc(all, func(a, b Entry) int { return cmp.Compare(b.TS, a.TS) })
	all = all[:min(len(all), l.q.Limit)]
	return append([]Entry{}, all...)
}
