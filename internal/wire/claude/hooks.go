package claude

import (
	"slices"

	"github.com/terminus-archive/terminus/internal/wire"
	"github.com/terminus-archive/terminus/internal/wire/jsonedit"
)

// group is what install writes for an event. There is no timeout: Claude Code's own
// is longer than a hook ever takes.
func (w Wiring) group(event string) jsonedit.Members {
	return jsonedit.Members{
		{Key: keyMatcher, Value: ""},
		{Key: keyHooks, Value: jsonedit.Elements{jsonedit.Members{
			{Key: keyType, Value: hookType},
			{Key: keyCommand, Value: w.Own.Binary},
			{Key: keyArgs, Value: jsonedit.Elements{hookArg, event}},
		}}},
	}
}

// addHooks sees to it that each event has an entry of ours that is whole. One that
// is there keeps its place and its other fields.
func (w Wiring) addHooks(text []byte) (wire.Outcome, error) {
	d, err := jsonedit.Parse(text)
	if err != nil {
		return wire.Outcome{}, err
	}
	if err := checkHooks(d); err != nil {
		return wire.Outcome{}, err
	}
	out := wire.Outcome{}
	for _, event := range Events() {
		was := d
		held := false
		if d, held, err = w.wire(d, event); err != nil {
			return wire.Outcome{}, err
		}
		out.Held = out.Held || held
		if d != was {
			out.Changed = append(out.Changed, event)
		}
		for _, e := range w.handlers(d.At(jsonedit.Path{keyHooks, event}), event) {
			if !w.ours(e) && e.foreign(event) {
				out.Remarks = append(out.Remarks, remarkOf(e))
			}
		}
	}
	out.Text = d.Text()
	return out, nil
}

// wire makes one event whole, and reports whether an entry of ours was there.
func (w Wiring) wire(d *jsonedit.Document, event string) (wired *jsonedit.Document, held bool, err error) {
	hooks, groups := jsonedit.Path{keyHooks}, jsonedit.Path{keyHooks, event}
	ours := slices.DeleteFunc(w.handlers(d.At(groups), event), func(e Entry) bool { return !w.ours(e) })
	switch {
	case len(ours) > 0:
		d, err = w.mend(d, ours, event)
	case d.At(hooks).Kind() == jsonedit.Absent:
		d, err = d.Set(hooks, jsonedit.Members{{Key: event, Value: jsonedit.Elements{w.group(event)}}})
	case d.At(groups).Kind() == jsonedit.Absent:
		d, err = d.Set(groups, jsonedit.Elements{w.group(event)})
	default:
		d, err = d.Append(groups, w.group(event))
	}
	return d, len(ours) > 0, err
}

// mend puts the entries of an event right that are ours. Of those with a recorded
// path only one is kept, and only where none has the stable path.
func (w Wiring) mend(d *jsonedit.Document, ours []Entry, event string) (*jsonedit.Document, error) {
	stable := slices.ContainsFunc(ours, func(e Entry) bool { return e.Command == w.Own.Binary })
	var surplus []Entry
	for _, e := range ours {
		if e.Command != w.Own.Binary {
			if stable {
				surplus = append(surplus, e)
				continue
			}
			stable = true
		}
		for _, field := range (jsonedit.Members{
			{Key: keyType, Value: hookType},
			{Key: keyCommand, Value: w.Own.Binary},
			{Key: keyArgs, Value: jsonedit.Elements{hookArg, event}},
		}) {
			var err error
			if d, err = d.Set(append(e.path[:len(e.path):len(e.path)], field.Key), field.Value); err != nil {
				return nil, err
			}
		}
	}
	return removeEntries(d, surplus)
}

// removeEntries takes handlers out, and with each the group that it leaves empty.
func removeEntries(d *jsonedit.Document, entries []Entry) (*jsonedit.Document, error) {
	for _, e := range slices.Backward(entries) { // so that the paths of the others stay
		list, group := e.path[:len(e.path)-1], e.path[:len(e.path)-2]
		gone := e.path
		if len(d.At(list).Items()) == 1 {
			gone = group
		}
		var err error
		if d, err = d.Remove(gone); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// removeHooks takes our entries out of every event, and the arrays and the object
// that install made for them.
func (w Wiring) removeHooks(text []byte, b wire.Before) (wire.Outcome, error) {
	d, err := jsonedit.Parse(text)
	if err != nil {
		return wire.Outcome{}, err
	}
	was, hooks := before(b), jsonedit.Path{keyHooks}
	var changed []string
	var orphans []wire.Orphan
	for _, event := range d.At(hooks).Keys() {
		groups := jsonedit.Path{keyHooks, event}
		var ours []Entry
		for _, e := range w.handlers(d.At(groups), event) {
			switch {
			case w.ours(e):
				ours = append(ours, e)
			default:
				orphans = append(orphans, w.orphan(e)...)
			}
		}
		if len(ours) == 0 {
			continue
		}
		changed = append(changed, event)
		if d, err = removeEntries(d, ours); err != nil {
			return wire.Outcome{}, err
		}
		if d.At(groups).Empty() && wasAbsent(was, groups) {
			if d, err = d.Remove(groups); err != nil {
				return wire.Outcome{}, err
			}
		}
	}
	if len(changed) > 0 && d.At(hooks).Empty() && wasAbsent(was, hooks) {
		if d, err = d.Remove(hooks); err != nil {
			return wire.Outcome{}, err
		}
	}
	out := settle(text, d, changed, b)
	out.Orphans = orphans
	return out, nil
}
