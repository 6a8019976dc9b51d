package codex

import (
	"bytes"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Turns reads one line of a rollout, or one record of a document or of history.jsonl. A record
// gives at most one turn; a damaged line is searched for whole records.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	if _, wrapped := transcript.WrappedID(record); wrapped {
		return document(record, s)
	}
	text, off := transcript.Trim(record)
	r, whole := parse(text)
	if len(text) > 0 && (!whole || !r.known()) || padded(record[:off]) || padded(record[off+len(text):]) {
		s.Damaged++
	}
	if whole {
		return r.turns(nil, off, s)
	}
	var turns []transcript.Turn
	for _, span := range transcript.Records(text, isRecord) {
		if r, ok := parse(text[span.Off : span.Off+span.Len]); ok {
			turns = r.turns(turns, off+span.Off, s)
		}
	}
	return turns
}

// padded reports whether NULs stand around a record, as a file system that lost power leaves
// them.
func padded(around []byte) bool { return bytes.IndexByte(around, 0) >= 0 }

// A record is one line of a rollout, or what stands for it. Of equal names the last counts.
type record struct {
	whole []byte
	// native is the id by which its turn is taken over.
	native string
	kind   []byte
	ts     transcript.Value
	// ordinal, payload and metadata are nil in the first versions.
	ordinal, payload, metadata transcript.Value
	// what only the first versions have
	header, state bool
}

// parse reads a record. ok is false for what is not exactly one JSON object.
func parse(object []byte) (r record, ok bool) {
	r.whole = object
	var s transcript.Scanner
	if s.Reset(object); !s.EnterObject() {
		return r, false
	}
	hasID := false
	for {
		key, more := s.NextMember()
		if !more {
			r.header = hasID && r.kind == nil && r.ts != nil
			return r, s.Done()
		}
		switch string(key) {
		case "type":
			r.kind, _ = s.TryText()
		case "timestamp":
			r.ts = s.Skip()
		case "ordinal":
			r.ordinal = s.Skip()
		case "payload":
			r.payload = s.Skip()
		case "metadata":
			r.metadata = s.Skip()
		case "id":
			hasID = true
			s.Skip()
		case "record_type":
			r.state = true
			s.Skip()
		default:
			s.Skip()
		}
	}
}

// known reports whether a record has what every record of some version has.
func (r *record) known() bool { return r.kind != nil || r.header || r.state }

// isRecord reports whether an object that stands behind torn bytes is a record.
func isRecord(object []byte) bool {
	r, ok := parse(object)
	return ok && r.kind != nil && r.payload.Kind() == '{'
}

// A reader is the reading of one record.
type reader struct {
	record
	s      *transcript.State
	o      own
	ts     string
	hidden bool // a copy that may be none
	made   *turn.Builder
}

// turns appends the turn of a record that stands off bytes into its line, if it is one.
func (r record) turns(dst []transcript.Turn, off int, s *transcript.State) []transcript.Turn {
	if r.idle() && !strings.HasPrefix(s.Own, copyMark) {
		return dst
	}
	d := reader{record: r, s: s, o: parseOwn(s.Own), ts: transcript.Time(r.ts)}
	d.copied()
	if d.ts == "" {
		d.ts = d.o.at
	}
	d.read()
	if own := d.o.String(); own != s.Own {
		s.Own = own
	}
	if d.made == nil {
		return dst
	}
	if d.hidden {
		d.made.Hidden()
	}
	t := d.made.Done(d.ts, s)
	t.Off = off
	return append(dst, t)
}

// idle reports whether a record is of a type that never tells anything: it is most of the bytes
// of some rollouts.
func (r *record) idle() bool {
	switch string(r.kind) {
	case "turn_context", "world_state", "token_usage_record", "inter_agent_communication_metadata":
		return true
	}
	return false
}

// burst is the longest pause between two records that are written in one go. A model takes
// longer to answer, and a person to type.
const burst = 50 * time.Millisecond

// copied follows a run of copies. Where a session was forked, or a subagent started, versions
// before ordinals wrote all records of the other session anew, one right after the other, its
// session_meta among them. They end at the first pause.
func (r *reader) copied() {
	if r.o.copying == "" {
		return
	}
	if !adjoins(r.o.copying, r.ts) {
		r.o.copying = ""
		return
	}
	r.o.copying, r.hidden = r.ts, true
}

// adjoins reports whether a time is at most a burst after another.
func adjoins(before, after string) bool {
	a, err1 := time.Parse(time.RFC3339, before)
	b, err2 := time.Parse(time.RFC3339, after)
	return err1 == nil && err2 == nil && b.Sub(a) <= burst
}

func (r *reader) read() {
	if n, ok := r.ordinal.Number(); ok && string(r.kind) != "session_meta" && int64(n) < r.o.start {
		return // a copy of the parent's
	}
	switch {
	case r.payload == nil && r.header:
		r.meta(r.whole)
	case r.payload == nil && r.kind != nil:
		r.item(r.whole)
	case string(r.kind) == "session_meta":
		r.meta(r.payload)
	case string(r.kind) == "response_item":
		r.item(r.payload)
	case string(r.kind) == "event_msg":
		r.event(r.payload)
	case string(r.kind) == "compacted":
		r.made = turn.New(transcript.System, r.whole).Boundary(nil)
		r.made.Note(r.payload.Get("message").Text())
	case r.idle(), r.state:
	case r.kind != nil && r.payload.Get("type") != nil:
		r.s.SeeStrange(r.kind)
	}
}

// meta reads a session_meta, or the header that the first versions wrote.
func (r *reader) meta(v transcript.Value) {
	var id, session, cwd, parent, forked, origin []byte
	var git, source, start transcript.Value
	for key, m := range v.Members() {
		switch string(key) {
		case "id":
			id = m.Text()
		case "session_id":
			session = m.Text()
		case "cwd":
			cwd = m.Text()
		case "git":
			git = m
		case "source":
			source = m
		case "thread_source":
			origin = m.Text()
		case "parent_thread_id":
			parent = m.Text()
		case "forked_from_id":
			forked = m.Text()
		case "subagent_history_start_ordinal":
			start = m
		}
	}
	if len(id) == 0 {
		id = session
	}
	if r.s.SessionID != "" && string(id) != r.s.SessionID {
		r.foreign()
		return
	}
	r.s.SeeSession(id)
	r.s.SeeDirectory(cwd)
	r.s.SeeBranch(git.Get("branch").Text())
	if !r.o.rollout {
		r.o.rollout, r.o.at = true, r.ts
	}
	if n, ok := start.Number(); ok && n > 0 && n < 1<<53 {
		r.o.start = int64(n)
	}
	if spawned := source.Get("subagent"); spawned != nil || string(origin) == "subagent" {
		for _, p := range [][]byte{parent, spawned.Get("thread_spawn", "parent_thread_id").Text(), forked, session} {
			if len(p) > 0 && string(p) != r.s.SessionID {
				r.s.ParentKey = keyStart + string(transcript.CutBytes(p, transcript.StateLimit-len(keyStart)))
				return
			}
		}
		return
	}
	r.s.SeeOrigin(forked)
}

// foreign is the session_meta of another session: what follows are copies of its records.
func (r *reader) foreign() {
	if r.o.start == 0 && r.o.copying == "" && adjoins(r.o.at, r.ts) {
		r.o.copying = r.ts
	}
}

// document reads a record of a document of the first versions, or of history.jsonl.
func document(line []byte, s *transcript.State) []transcript.Turn {
	id, row := rows.Read(line)
	r := record{whole: line, native: id, payload: row, ts: row.Get("timestamp")}
	switch {
	case strings.HasPrefix(id, promptStart):
		return promptTurn(line, id, row, s)
	case id == rows.Head:
		r.payload, r.kind, r.ts = row.Get("session"), []byte("session_meta"), row.Get("session", "timestamp")
	default:
		r.kind = []byte("response_item")
	}
	return r.turns(nil, 0, s)
}

// promptTurn reads a prompt of history.jsonl. It is a turn unless the rollout, which was there
// before, told it already; what the prompts lack, the rollout may bring later (see takesOver).
func promptTurn(line []byte, id string, row transcript.Value, s *transcript.State) []transcript.Turn {
	o := parseOwn(s.Own)
	second, _ := row.Get("ts").Number()
	text := row.Get("text").Text()
	s.SeeSession(row.Get("session_id").Text())
	if before := transcript.NumberTime(second - clockSlack); o.rollout && seconds(before) <= seconds(s.LastTS) {
		return nil
	}
	b := turn.New(transcript.User, line).IDs(id, "", "")
	b.Say(text)
	if s.TitleRank == 0 {
		s.SeeTitle(titleOf(text), transcript.TitleTaken)
	}
	if short := strings.TrimPrefix(id, promptStart); !strings.ContainsAny(short, " :") && len(short) <= maxWord {
		o.typed = last(append(o.typed, typed{sumOf('u', text), short}), maxTyped)
		s.Own = o.String()
	}
	return []transcript.Turn{b.Done(transcript.NumberTime(second), s)}
}

// clockSlack is by how many seconds a prompt's time may lie after the rollout's for it.
const clockSlack = 2

// seconds is a time of RFC 3339 in UTC as far as its seconds, comparable as text.
func seconds(ts string) string { return ts[:min(len(ts), len("2006-01-02T15:04:05"))] }
