package gemini

import (
	"bytes"
	"strconv"

	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Turns reads a line of a chat, or a record of a chat that is a document. A line that is
// neither is counted in s as damaged.
//
// A message is a turn under its id, and what each of its calls returned is one under the id of
// the call: the message that hands it to the model repeats it. A message in a `$set` is a turn
// only if no line before was it, for there the model's view of it may be shortened. Only
// the last turn.IDsKept ids are known: in a longer `$set` nothing is new above the last of them.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	c := chat{s: s}
	if _, ok := transcript.WrappedID(record); ok {
		id, row := rows.Read(record)
		if id == rows.Head {
			c.header(row)
			return c.turns
		}
		m := readMessage(row)
		if m.id == nil {
			m.id = []byte(id)
		}
		if m.kind == nil {
			s.Damaged++
			return nil
		}
		c.message(record, 0, m)
		return c.turns
	}
	for off, v := range turn.Objects(record, s, isRecord) {
		c.line(record, off, v)
	}
	return c.turns
}

// isRecord reports whether an object behind torn bytes is a record.
func isRecord(object transcript.Value) bool {
	for key := range object.Members() {
		switch string(key) {
		case "$set", "$rewindTo", "sessionId":
			return true
		}
	}
	m := readMessage(object)
	return m.id != nil && m.kind != nil
}

// A chat gathers the turns of one record.
type chat struct {
	s     *transcript.State
	turns []transcript.Turn
}

// line reads one record that stands in record at off.
func (c *chat) line(record []byte, off int, v transcript.Value) {
	m := readMessage(v)
	switch {
	case m.id != nil && m.kind != nil:
		turn.Remember(c.s, m.id)
		c.message(record[off:off+len(v)], off, m)
	case m.set.Kind() == '{':
		c.header(m.set)
		c.snapshot(v, off, m.set.Get("messages"))
	case m.session != nil:
		c.header(v)
		c.snapshot(v, off, v.Get("messages"))
	case m.rewound:
	default:
		c.s.Damaged++
	}
}

// header takes what the agent says of the session.
func (c *chat) header(v transcript.Value) {
	for key, m := range v.Members() {
		switch string(key) {
		case "sessionId":
			c.s.SeeSession(m.Text())
		case "summary":
			c.s.SeeTitle(m.Text(), transcript.TitleMade)
		case "directories":
			for e := range m.Elements() {
				c.s.SeeDirectory(e.Text())
				break
			}
		}
	}
}

// snapshot reads the messages that stand in v, which stands at off, as far as they are new.
func (c *chat) snapshot(v transcript.Value, off int, messages transcript.Value) {
	var known []bool // before any of them is noted, which may make others be forgotten
	last := -1
	for e := range messages.Elements() {
		m := readMessage(e)
		is := m.id != nil && turn.Remembered(c.s, m.id)
		if is {
			last = len(known)
		}
		known = append(known, is)
	}
	if len(known) <= turn.IDsKept {
		last = -1
	}
	i := -1
	for e := range messages.Elements() {
		i++
		m := readMessage(e)
		if i <= last || known[i] || m.id == nil || m.kind == nil || turn.Remember(c.s, m.id) {
			continue
		}
		// e is a part of v, so that its place is the distance between them.
		c.message(e, off+cap(v)-cap(e), m)
	}
}

// A message is what stands at the top of a record.
type message struct {
	id, kind, session       []byte
	ts                      string
	content, display, calls transcript.Value
	set                     transcript.Value
	rewound                 bool
}

func readMessage(v transcript.Value) (m message) {
	for key, value := range v.Members() {
		switch string(key) {
		case "id":
			m.id = value.Text()
		case "type":
			m.kind = value.Text()
		case "sessionId":
			m.session = value.Text()
		case "timestamp":
			m.ts = transcript.Time(value)
		case "content":
			m.content = value
		case "displayContent":
			m.display = value
		case "toolCalls":
			m.calls = value
		case "$set":
			m.set = value
		case "$rewindTo":
			m.rewound = true
		}
	}
	return m
}

// message makes the turns of a message whose bytes stand at off in the record.
func (c *chat) message(bytes []byte, off int, m message) {
	first := len(c.turns)
	switch string(m.kind) {
	case "user":
		c.user(bytes, m)
	case "gemini", "model":
		c.model(bytes, m)
	case "info", "warning", "error":
		b := turn.New(transcript.System, bytes)
		for _, p := range partsOf(m.content) {
			b.Say(p.text)
		}
		c.add(b, m, string(m.id))
	default:
		c.s.SeeStrange(m.kind)
	}
	for i := range c.turns[first:] {
		c.turns[first+i].Off = off
	}
}

// add ends a turn that says anything.
func (c *chat) add(b *turn.Builder, m message, native string) {
	if b.Empty() {
		return
	}
	id := ""
	if native == string(m.id) {
		id = native
	}
	c.turns = append(c.turns, b.IDs(native, id, "").Done(m.ts, c.s))
}

const (
	contextTag = "hook_context"
	contextIs  = "<session_context>"
	summaryIs  = "<state_snapshot>"
	// filesBegin is the text behind which the agent adds the files that a prompt names.
	filesBegin = "--- Content from referenced files ---"
)

// user reads a message with the user's role: a prompt, what calls returned, or what the agent
// tells its model.
func (c *chat) user(record []byte, m message) {
	parts := partsOf(m.content)
	var texts [][]byte
	for i, p := range parts {
		if p.response != nil {
			c.output(record, m, outputOf(p.response), i)
		} else if text := cutTagged(p.text, contextTag); len(text) > 0 {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return
	}
	kind := transcript.User
	if bytes.HasPrefix(texts[0], []byte(contextIs)) {
		kind = transcript.Attachment
	}
	b := turn.New(kind, record)
	switch {
	case kind == transcript.Attachment:
		b.Hidden()
		c.directory(texts[0])
		note(b, texts)
	case bytes.HasPrefix(texts[0], []byte(summaryIs)):
		b.Machine().Boundary(nil)
		note(b, texts)
	default:
		var shown [][]byte
		for _, p := range partsOf(m.display) {
			if text := cutTagged(p.text, contextTag); len(text) > 0 {
				shown = append(shown, text)
			}
		}
		prompt(b, shown, texts)
	}
	c.add(b, m, string(m.id))
}

func note(b *turn.Builder, texts [][]byte) {
	for _, text := range texts {
		b.Note(text)
	}
}

// prompt says what a person typed, and notes what the agent added to it. shown is what it shows
// of the message, nil where it shows all of it.
func prompt(b *turn.Builder, shown, texts [][]byte) {
	for _, text := range shown {
		b.Say(text)
	}
	added := false
	for _, text := range texts {
		added = added || bytes.HasPrefix(bytes.TrimSpace(text), []byte(filesBegin))
		switch {
		case added:
			b.Note(text)
		case shown == nil:
			b.Say(text)
		case !contains(shown, text):
			b.Note(text)
		}
	}
}

func contains(texts [][]byte, text []byte) bool {
	for _, t := range texts {
		if bytes.Equal(t, text) {
			return true
		}
	}
	return false
}

// directory takes the working directory out of what the agent tells its model at the start.
func (c *chat) directory(text []byte) {
	_, rest, ok := bytes.Cut(text, []byte("**Workspace Directories:**\n  - "))
	if !ok {
		return
	}
	path, _, _ := bytes.Cut(rest, []byte("\n"))
	c.s.SeeDirectory(bytes.TrimRight(path, "\r"))
}

// model reads what the model said and called, and what its calls returned.
func (c *chat) model(record []byte, m message) {
	b := turn.New(transcript.Assistant, record)
	called := m.calls.Kind() == '['
	for _, p := range partsOf(m.content) {
		switch {
		case p.call == nil:
			b.Say(p.text)
		case !called:
			addCall(b, p.call.Get("name").Text(), p.call.Get("args"))
		}
	}
	for call := range m.calls.Elements() {
		addCall(b, call.Get("name").Text(), call.Get("args"))
	}
	c.add(b, m, string(m.id))
	i := 0
	for call := range m.calls.Elements() {
		if i++; i > maxParts {
			break
		}
		c.result(record, m, call, i)
	}
}

// result reads what a call returned, as it stands with the call.
func (c *chat) result(record []byte, m message, call transcript.Value, i int) {
	id := call.Get("id").Text()
	status := call.Get("status").String()
	if ts := transcript.Time(call.Get("timestamp")); ts != "" {
		m.ts = ts
	}
	result := call.Get("result")
	for _, p := range partsOf(result) {
		o := output{id: id, texts: [][]byte{unwrapped(p.text)}}
		if p.response != nil {
			o = outputOf(p.response)
		}
		if o.id == nil {
			o.id = id
		}
		if !bytes.Equal(o.id, id) {
			continue // what another call returned, which was handed over with it
		}
		o.failed = o.failed || status == "error"
		c.output(record, m, o, i)
		return
	}
}

// output adds what a call returned.
func (c *chat) output(record []byte, m message, o output, i int) {
	native := "result:" + string(o.id)
	if len(o.id) == 0 {
		native = string(m.id) + "#" + strconv.Itoa(i)
	}
	b := turn.New(transcript.User, record)
	b.Output(o.failed, o.texts...)
	c.add(b, m, native)
}
