package pi

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Turns reads one line of a session, or one event of it that OpenClaw keeps in its database.
// Of an entry that is a part of the conversation it makes one turn; every record tells s what
// it says of the session.
func (h Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	native, ok := "", false
	if h.database != "" {
		native, ok = transcript.WrappedID(record)
	}
	if ok {
		_, row := rows.Read(record)
		if row.Kind() != '{' {
			s.Damaged++
			return nil
		}
		e := read(row)
		if e.kind == nil {
			s.Damaged++
		}
		line := place{transcript.Span{Len: len(trimmed(record))}, record}
		return h.take(nil, line, e, native, s)
	}
	var turns []transcript.Turn
	for off, v := range turn.Objects(record, s, isEntry) {
		line := place{transcript.Span{Off: off, Len: len(v)}, v}
		e := read(v)
		if e.kind == nil {
			s.Damaged++
		}
		turns = h.take(turns, line, e, "", s)
	}
	return turns
}

func trimmed(record []byte) []byte {
	line, _ := transcript.Trim(record)
	return line
}

// isEntry reports whether an object that stands in a torn line is a record.
func isEntry(v transcript.Value) bool {
	e := read(v)
	return e.kind != nil && (e.id != nil || e.ts != nil)
}

// An entry is what a record says at its top. What it does not have is nil.
type entry struct {
	kind, id                transcript.Value
	ts                      transcript.Value
	version, cwd, parent    transcript.Value // of a header: parentSession
	level                   transcript.Value // rlmDepth
	title, name, source     transcript.Value // titleSource or source
	message, content        transcript.Value
	summary, custom, detail transcript.Value
	kept, before            transcript.Value // firstKeptEntryId, tokensBefore
	display                 transcript.Value
}

func read(v transcript.Value) (e entry) {
	for key, m := range v.Members() {
		switch string(key) {
		case "type":
			e.kind = text(m)
		case "id":
			e.id = text(m)
		case "timestamp":
			e.ts = m
		case "version":
			e.version = m
		case "cwd":
			e.cwd = m
		case "parentSession":
			e.parent = m
		case "rlmDepth":
			e.level = m
		case "title":
			e.title = m
		case "titleSource", "source":
			e.source = m
		case "name":
			e.name = m
		case "message":
			e.message = m
		case "content":
			e.content = m
		case "summary":
			e.summary = m
		case "customType":
			e.custom = m
		case "details":
			e.detail = m
		case "firstKeptEntryId":
			e.kept = m
		case "tokensBefore":
			e.before = m
		case "display":
			e.display = m
		}
	}
	return e
}

// text is a value that is a text, nil for any other.
func text(v transcript.Value) transcript.Value {
	if v.Kind() != '"' {
		return nil
	}
	return v
}

// time is the entry's time, or that of its message, or that of the entry before it.
func (e entry) time(s *transcript.State) string {
	if ts := transcript.Time(e.ts); ts != "" {
		return ts
	}
	if ts := transcript.Time(e.message.Get("timestamp")); ts != "" {
		return ts
	}
	return s.LastTS
}

// A place is where an entry stands in its record.
type place struct {
	transcript.Span
	value transcript.Value
}

// take appends the turn that an entry is, if it is one.
func (h Harness) take(turns []transcript.Turn, line place, e entry, native string, s *transcript.State) []transcript.Turn {
	carried := carry(s.Own)
	var b *turn.Builder
	switch kind := e.kind.String(); kind {
	case "session":
		h.header(e, s, &carried)
		s.Own = carried.String()
	case "session_info":
		s.SeeTitle(e.name.Text(), transcript.TitleGiven)
	case "title", "title_change":
		s.SeeTitle(e.title.Text(), titleRank(e.source))
	case "message":
		b = message(line.value, e.message, s)
	case "custom_message":
		b = custom(line.value, e.content, e.display)
	case "compaction":
		b = turn.New(transcript.System, line.value).Boundary(e.boundary())
		b.Say(e.summary.Text())
	case "branch_summary":
		b = turn.New(transcript.System, line.value)
		b.Say(e.summary.Text())
	case "", "custom", "label", "model_change", "thinking_level_change", "service_tier_change":
	default:
		if e.message != nil || e.content != nil || e.summary != nil {
			s.SeeStrange([]byte(kind))
		}
	}
	if b == nil {
		return turns
	}
	ts := e.time(s)
	if carried.copied(ts) {
		b.Hidden()
	}
	switch {
	case native != "":
	case h.database != "" && e.id != nil: // by which the database knows it, too
		native = e.id.String()
	case carried.old:
		native = contentID(ts, e)
	}
	b.IDs(native, e.uuid(ts), "")
	t := b.Done(ts, s)
	t.Off, t.Len = line.Off, line.Len
	return append(turns, t)
}

// header reads what a session says of itself. A file may have several: it was written anew, or
// another file has the session as well.
func (h Harness) header(e entry, s *transcript.State, c *carried) {
	s.SeeSession(e.id.Text())
	s.SeeDirectory(e.cwd.Text())
	s.SeeTitle(e.title.Text(), titleRank(e.source))
	const versioned = 3
	if v, ok := e.version.Number(); !ok || v < versioned {
		c.old = true
	}
	parent := e.parent.String()
	if parent == "" {
		c.begun = ""
		return
	}
	c.begun = transcript.Time(e.ts)
	file := parent[strings.LastIndexAny(parent, `/\`)+1:]
	stem, _ := h.session(file)
	if stem == "" {
		stem = file
	}
	id, _ := stemKey(stem)
	switch level, _ := e.level.Number(); {
	case level > 0:
		s.ParentKey = h.id + ":" + string(transcript.CutBytes([]byte(id), transcript.StateLimit/2))
	case !strings.Contains(s.Key, "/"): // which is a subagent's
		s.SeeOrigin([]byte(id))
	}
}

// titleRank tells a title that a person gave from one that the agent made up.
func titleRank(source transcript.Value) int {
	switch source.String() {
	case "user", "manual":
		return transcript.TitleGiven
	}
	return transcript.TitleMade
}

// boundary is what a compaction says of itself beside its summary, nil where it says nothing.
func (e entry) boundary() []byte {
	out := []byte{'{'}
	for _, m := range []struct {
		name  string
		value transcript.Value
	}{{"firstKeptEntryId", e.kept}, {"tokensBefore", e.before}} {
		if m.value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, m.name), ':')
		out = append(out, m.value...)
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, '}')
}

// uuid is the same for an entry and its copies in other sessions, and no other entry's. An id
// of pi has eight digits alone, and so not enough of them for an archive.
func (e entry) uuid(ts string) string {
	id := e.id.String()
	const enough = 16
	if id == "" || len(id) >= enough {
		return id
	}
	return id + "@" + ts
}

// contentID names an entry by what it says. A session that was begun by pi before its third
// form is written anew in that form, in which its entries have ids that they had not before.
func contentID(ts string, e entry) string {
	hash := sha256.New()
	for _, v := range []transcript.Value{e.kind, e.message.Get("toolCallId"), e.message.Get("content"), e.message.Get("command"), e.content, e.summary} {
		hash.Write(v)
		hash.Write([]byte{0})
	}
	return ts + " " + hex.EncodeToString(hash.Sum(nil)[:8])
}

// carried is what one record leaves to the next ones.
type carried struct {
	// old says that the session had an older form.
	old bool
	// begun is when a session began that has a parent: an entry that is older is a copy.
	begun string
}

const oldMark = "old "

func carry(own string) (c carried) {
	c.begun, c.old = strings.CutPrefix(own, oldMark)
	return c
}

func (c carried) String() string {
	if c.old {
		return oldMark + c.begun
	}
	return c.begun
}

// copied reports whether an entry of that time stood in the parent before.
func (c carried) copied(ts string) bool {
	if c.begun == "" || ts == "" {
		return false
	}
	begun, err := time.Parse(time.RFC3339Nano, c.begun)
	if err != nil {
		return false
	}
	at, err := time.Parse(time.RFC3339Nano, ts)
	return err == nil && at.Before(begun)
}
