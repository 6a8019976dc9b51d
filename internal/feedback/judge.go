package feedback

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/search"
)

// The labels.
const (
	// Hit is a turn that was handed over, and of which the session then named
	// something itself.
	Hit = "hit"
	// FalsePositive is one of which it named nothing.
	FalsePositive = "false positive"
	// Miss is a decision after which the model asked recall for what the prompt had
	// named, and that was not handed over.
	Miss = "miss"
	// WastedBudget is a decision that handed over text without any hit.
	WastedBudget = "wasted budget"
)

// Labels are all labels, in the order in which they are told.
func Labels() []string { return []string{Hit, FalsePositive, Miss, WastedBudget} }

// A label is what is said of a decision, or of one turn that it handed over.
type label struct {
	turn   *int64
	name   string
	detail *string
}

// A judged is a decision as far as it is judged.
type judged struct {
	at        time.Time
	spellings []string // what was looked up
	injected  []int64  // the turns that were handed over
	chars     int64    // the length of the text
}

// A judge knows what a session named after its prompts.
type judge struct {
	snap *search.Snapshot
	// named and recalled say of an entity when a turn named it last: any turn, or
	// one that asked recall for it.
	named, recalled map[int64]last
}

// last is the time of the newest of some turns. Times that are no instants are
// compared as texts, among themselves.
type last struct {
	at  time.Time
	odd string
}

func (l last) with(x last) last {
	if x.at.After(l.at) {
		l.at = x.at
	}
	l.odd = max(l.odd, x.odd)
	return l
}

// follows is search.Later of any of the turns.
func (l last) follows(at time.Time) bool { return l.at.After(at) || l.odd > archive.Stamp(at) }

// newJudge reads what the session with a harness's own id named.
func newJudge(ctx context.Context, snap *search.Snapshot, sessionID string) (*judge, error) {
	j := &judge{snap: snap, named: map[int64]last{}, recalled: map[int64]last{}}
	var text string // of the turn before: most name several things
	var when last
	err := snap.Namings(ctx, sessionID, func(n search.Naming) {
		if string(n.TS) != text {
			text, when = string(n.TS), last{}
			if at, ok := archive.ParseTime(text); ok {
				when.at = at
			} else {
				when.odd = text
			}
		}
		j.named[n.Entity] = j.named[n.Entity].with(when)
		if asksRecall(n.Tool) {
			j.recalled[n.Entity] = j.recalled[n.Entity].with(when)
		}
	})
	return j, err
}

// asksRecall reports whether a tool is one by which a model asks for past turns,
// under whatever name its server goes.
func asksRecall(tool []byte) bool {
	const longest = len("recall_search")
	if len(tool) < len("recall_get") {
		return false
	}
	name := strings.ToLower(string(tool[max(len(tool)-longest, 0):]))
	return strings.HasSuffix(name, "recall_search") || strings.HasSuffix(name, "recall_get")
}

// judge labels a decision.
func (j *judge) judge(ctx context.Context, d *judged) ([]label, error) {
	var out []label
	handed := map[int64]bool{} // entities of the turns that were handed over
	hit := false
	for i, turn := range d.injected {
		if slices.Contains(d.injected[:i], turn) {
			continue
		}
		entities, err := j.snap.EntitiesOf(ctx, turn)
		if err != nil {
			return nil, err
		}
		name := FalsePositive
		for id, kind := range entities {
			handed[id] = true
			// Every second turn names a tool that others named before.
			if kind != derive.KindTool && j.named[id].follows(d.at) {
				name, hit = Hit, true
			}
		}
		out = append(out, label{turn: &turn, name: name})
	}
	missed, ok, err := j.missed(ctx, d, handed)
	if err != nil {
		return nil, err
	}
	if ok {
		out = append(out, label{name: Miss, detail: &missed})
	}
	if d.chars > 0 && len(d.injected) > 0 && !hit {
		chars := strconv.FormatInt(d.chars, 10)
		out = append(out, label{name: WastedBudget, detail: &chars})
	}
	return out, nil
}

// missed is the first, by its bytes, of what was looked up that the model asked
// recall for afterwards, and that no turn named which was handed over.
func (j *judge) missed(ctx context.Context, d *judged, handed map[int64]bool) (value string, ok bool, err error) {
	if len(j.recalled) == 0 {
		return "", false, nil
	}
	for _, spelling := range slices.Sorted(slices.Values(d.spellings)) {
		ids, err := j.snap.EntitiesSpelled(ctx, spelling)
		if err != nil {
			return "", false, err
		}
		if slices.ContainsFunc(ids, func(id int64) bool { return j.recalled[id].follows(d.at) }) &&
			!slices.ContainsFunc(ids, func(id int64) bool { return handed[id] }) {
			return spelling, true, nil
		}
	}
	return "", false, nil
}
