package claude

import (
	"slices"

	"github.com/terminus-archive/terminus/internal/document"
	"github.com/terminus-archive/terminus/internal/wire"
	"github.com/terminus-archive/terminus/internal/wire/jsonedit"
)

var (
	pathServers = jsonedit.Path{keyServers}
	pathServer  = jsonedit.Path{keyServers, keyServer}
)

// fields are what install writes of the MCP server.
func (w Wiring) fields() jsonedit.Members {
	return jsonedit.Members{
		{Key: keyType, Value: serverType},
		{Key: keyCommand, Value: w.Own.Binary},
		{Key: keyArgs, Value: jsonedit.Elements{serverArg}},
	}
}

// ServerText is what install writes under the name terminus where there is nothing, on
// one line.
func (w Wiring) ServerText() string {
	text, _ := document.Encode(struct { // strings do not fail
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{serverType, w.Own.Binary, []string{serverArg}})
	return string(text)
}

// server is the MCP server of our name in d, nil if there is none, and whether it
// is ours, whole or not.
func (w Wiring) server(d *jsonedit.Document) (e *Entry, ours bool) {
	n := d.At(pathServer)
	if n.Kind() == jsonedit.Absent {
		return nil, false
	}
	entry := w.entryAt(n, serverType, serverArg)
	return &entry, w.Own.Has(entry.Command) && slices.Equal(entry.Args, []string{serverArg})
}

// addServer sees to it that the server of our name is whole, unless it is another
// install's.
func (w Wiring) addServer(text []byte) (wire.Outcome, error) {
	d, err := jsonedit.Parse(text)
	if err != nil {
		return wire.Outcome{}, err
	}
	if err := checkServers(d); err != nil {
		return wire.Outcome{}, err
	}
	was := d
	e, ours := w.server(d)
	switch {
	case ours:
		for _, field := range w.fields() {
			if d, err = d.Set(jsonedit.Path{keyServers, keyServer, field.Key}, field.Value); err != nil {
				return wire.Outcome{}, err
			}
		}
	case e != nil:
		return wire.Outcome{Text: text, Remarks: []string{remarkOf(*e)}}, nil
	case d.At(pathServers).Kind() == jsonedit.Absent:
		d, err = d.Set(pathServers, jsonedit.Members{{Key: keyServer, Value: w.fields()}})
	default:
		d, err = d.Set(pathServer, w.fields())
	}
	if err != nil {
		return wire.Outcome{}, err
	}
	out := wire.Outcome{Text: d.Text(), Held: ours}
	if d != was {
		out.Changed = []string{keyServer}
	}
	return out, nil
}

// removeServer takes our server out, and the object that install made for it.
func (w Wiring) removeServer(text []byte, b wire.Before) (wire.Outcome, error) {
	d, err := jsonedit.Parse(text)
	if err != nil {
		return wire.Outcome{}, err
	}
	e, ours := w.server(d)
	var orphans []wire.Orphan
	for _, name := range d.At(pathServers).Keys() {
		if name != keyServer || !ours {
			orphans = append(orphans, w.orphan(w.entryAt(d.At(append(pathServers[:1:1], name)), serverType))...)
		}
	}
	if !ours {
		out := wire.Outcome{Text: text, Orphans: orphans}
		if e != nil && len(w.orphan(*e)) == 0 {
			out.Remarks = []string{remarkOf(*e)}
		}
		return out, nil
	}
	if d, err = d.Remove(pathServer); err != nil {
		return wire.Outcome{}, err
	}
	if d.At(pathServers).Empty() && wasAbsent(before(b), pathServers) {
		if d, err = d.Remove(pathServers); err != nil {
			return wire.Outcome{}, err
		}
	}
	out := settle(text, d, []string{keyServer}, b)
	out.Orphans = orphans
	return out, nil
}
