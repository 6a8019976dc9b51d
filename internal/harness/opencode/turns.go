package opencode

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Turns reads a record: a part gives one turn, a tool that returned two, the call and what
// came of it. Copies that a fork made are turns that search does not find: it finds those of the
// session that they come from.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	id, row := rows.Read(record)
	if row.Kind() != '{' || id == "" {
		if len(bytes.TrimSpace(record)) > 0 {
			s.Damaged++
		}
		return nil
	}
	r := reading{record: record, id: id, row: row, data: row.Get("data"), s: s}
	table := row.Get("table").String()
	switch table {
	case "session", "session_v2":
		r.head()
		return nil
	case "part", "message", "session_message":
	default:
		return nil
	}
	copied := row.Get("copied").Text()
	if len(copied) > 0 {
		s.SeeOrigin(copied)
	}
	if r.data.Kind() != '{' {
		s.Damaged++
		return nil
	}
	switch table {
	case "part":
		r.part()
	case "message":
		s.SeeDirectory(r.data.Get("path", "cwd").Text())
		r.failure(r.data.Get("error"), r.time(r.data.Get("time", "completed"), row.Get("time_updated"), row.Get("time_created")))
	default:
		r.entry()
	}
	if len(copied) > 0 {
		for i := range r.turns {
			r.turns[i].Unindexed = true
		}
	}
	return r.turns
}

// A reading is one record that is being read.
type reading struct {
	record    []byte
	id        string
	row, data transcript.Value
	s         *transcript.State
	turns     []transcript.Turn
}

// head tells what the row of a session says of it.
func (r *reading) head() {
	r.s.SeeSession(r.row.Get("id").Text())
	r.s.SeeDirectory(r.row.Get("directory").Text())
	if parent := r.row.Get("parent_id").String(); parent != "" && len(parent) < transcript.StateLimit/2 {
		if harness, _, ok := strings.Cut(r.s.Key, ":"); ok {
			r.s.ParentKey = harness + ":" + parent
		}
	}
	title := r.row.Get("title").Text()
	// What stands there until a model has found a title says when the session began.
	for _, vain := range []string{"New session - ", "Child session - "} {
		if bytes.HasPrefix(title, []byte(vain)) {
			return
		}
	}
	r.s.SeeTitle(title, transcript.TitleMade)
}

func (r *reading) time(first ...transcript.Value) string {
	for _, v := range first {
		if t := transcript.Time(v); t != "" {
			return t
		}
	}
	return ""
}

// turn begins a turn, which is named by the record's id and a suffix.
func (r *reading) turn(kind, suffix string) *turn.Builder {
	id := r.id + suffix
	return turn.New(kind, r.record).IDs(id, id, "")
}

func (r *reading) done(b *turn.Builder, at string) { r.turns = append(r.turns, b.Done(at, r.s)) }

// part reads a part of a message of 1.x.
func (r *reading) part() {
	at := r.time(r.data.Get("time", "start"), r.row.Get("time_created"))
	switch kind := r.data.Get("type").Text(); string(kind) {
	case "text":
		r.text(at)
	case "tool":
		r.tool(at)
	case "file", "agent":
		b := r.turn(transcript.Attachment, "")
		b.Note(transcript.FirstText(r.data.Get("filename"), r.data.Get("name")))
		b.Note(r.data.Get("source", "text", "value").Text())
		b.Names(r.data.Get("source", "path").Text())
		r.done(b, at)
	case "subtask":
		b := r.turn(transcript.User, "")
		b.Say(r.data.Get("prompt").Text())
		r.done(b, at)
	case "compaction":
		r.done(r.turn(transcript.System, "").Boundary(r.data), at)
	case "retry":
		r.failure(r.data.Get("error"), at)
	case "reasoning", "step-start", "step-finish", "snapshot", "patch":
		// What the model thinks is not said; the others say how far it is.
	default:
		r.s.SeeStrange(kind)
	}
}

// text reads a text of a message: what a person typed, what a model said, the digest in the
// place of what a compaction took out, or what the program put beside a prompt.
func (r *reading) text(at string) {
	text := r.data.Get("text").Text()
	host := r.data.Get("synthetic").Bool() || r.data.Get("ignored").Bool()
	switch role := r.row.Get("role").Text(); {
	case string(role) == transcript.Assistant && len(r.row.Get("digest")) > 0 && r.row.Get("digest").Kind() != 'n':
		b := r.turn(transcript.User, "").Machine()
		b.Say(text)
		r.done(b, at)
	case string(role) == transcript.Assistant:
		b := r.turn(transcript.Assistant, "")
		b.Say(text)
		r.done(b, at)
	case host:
		r.attach(text, at)
	case string(role) == transcript.User:
		b := r.turn(transcript.User, "")
		b.Say(text)
		r.done(b, at)
	default:
		r.s.SeeStrange(role)
	}
}

// attach reads what the program itself put into the conversation. A file that a person named
// is to be found there; what steers the model is not.
func (r *reading) attach(text []byte, at string) {
	b := r.turn(transcript.Attachment, "")
	b.Note(text)
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("<system-reminder>")) || transcript.Injected(text) {
		b.Hidden()
	}
	r.done(b, at)
}

// tool reads a tool of 1.x.
func (r *reading) tool(at string) {
	state := r.data.Get("state")
	start := r.time(state.Get("time", "start"))
	if start == "" {
		start = at
	}
	b := r.turn(transcript.Assistant, "")
	b.Call(r.data.Get("tool").Text(), state.Get("input").Nested(), tools)
	r.done(b, start)

	status := state.Get("status").Text()
	if string(status) != "completed" && string(status) != "error" {
		return
	}
	end := r.time(state.Get("time", "end"), r.row.Get("time_updated"))
	if end == "" {
		end = start
	}
	failed := string(status) == "error" || exited(state.Get("metadata", "exit"))
	b = r.turn(transcript.User, resultSuffix)
	b.Output(failed, state.Get("output").Text(), errorText(state.Get("error")))
	b.Names(state.Get("metadata", "filepath").Text())
	r.done(b, end)
}

// resultSuffix is behind the id of a record in that of the turn of what its tools returned.
const resultSuffix = "/result"

// exited reports whether a process ended with a failure.
func exited(code transcript.Value) bool {
	n, ok := code.Number()
	return ok && n != 0
}

// errorText is what an error says: a text, or an object with a message here or there.
func errorText(v transcript.Value) []byte {
	if v.Kind() == '"' {
		return v.Text()
	}
	return transcript.FirstText(v.Get("data", "message"), v.Get("message"), v.Get("name"))
}

// failure reads why a request failed.
func (r *reading) failure(v transcript.Value, at string) {
	text := errorText(v)
	if len(text) == 0 {
		return
	}
	b := r.turn(transcript.System, "/error")
	b.Note(text)
	r.done(b, at)
}

// entry reads a message of 2.0, which is one row with all that belongs to it.
func (r *reading) entry() {
	at := r.time(r.data.Get("time", "created"), r.row.Get("time_created"))
	kind := r.row.Get("type").Text()
	switch string(kind) {
	case "user":
		r.said(at)
	case "assistant":
		r.answer(at)
	case "compaction":
		b := r.turn(transcript.System, "").Boundary(r.data)
		b.Note(r.data.Get("summary").Text())
		r.done(b, at)
	case "synthetic", "skill":
		r.attach(r.data.Get("text").Text(), at)
	case "system":
		b := r.turn(transcript.System, "").Hidden()
		b.Note(r.data.Get("text").Text())
		r.done(b, at)
	case "shell":
		r.shell(at)
	case "agent-switched", "model-switched", "agent-selected", "model-selected", "idle", "moved":
	default:
		r.s.SeeStrange(kind)
	}
}

// said reads a prompt of 2.0 and the files that were given with it.
func (r *reading) said(at string) {
	b := r.turn(transcript.User, "")
	b.Say(r.data.Get("text").Text())
	for f := range r.data.Get("files").Elements() {
		b.Names(transcript.FirstText(f.Get("source", "path"), f.Get("name"), f.Get("filename")))
	}
	r.done(b, at)
}

// answer reads what a model said and called, and what came of its calls.
func (r *reading) answer(at string) {
	b := r.turn(transcript.Assistant, "")
	results := r.turn(transcript.User, resultSuffix)
	end := ""
	for part := range r.data.Get("content").Elements() {
		switch kind := part.Get("type").Text(); string(kind) {
		case "text":
			b.Say(part.Get("text").Text())
		case "tool":
			state := part.Get("state")
			b.Call(transcript.FirstText(part.Get("name"), part.Get("tool")), state.Get("input").Nested(), tools)
			if status := state.Get("status").String(); status == "completed" || status == "error" {
				results.Output(status == "error" || exited(state.Get("structured", "exit")) || exited(state.Get("metadata", "exit")),
					outputs(state)...)
				end = r.time(part.Get("time", "completed"), r.data.Get("time", "completed"))
			}
		case "reasoning":
		default:
			r.s.SeeStrange(kind)
		}
	}
	if !b.Empty() {
		r.done(b, at)
	}
	if !results.Empty() {
		if end == "" {
			end = at
		}
		r.done(results, end)
	}
	r.failure(r.data.Get("error"), at)
}

// outputs are the texts that a tool of 2.0 returned.
func outputs(state transcript.Value) [][]byte {
	var all [][]byte
	for c := range state.Get("content").Elements() {
		if text := c.Get("text").Text(); len(text) > 0 {
			all = append(all, text)
		}
	}
	return append(all, state.Get("output").Text(), errorText(state.Get("error")))
}

// shell reads a command that a person ran in the conversation.
func (r *reading) shell(at string) {
	b := r.turn(transcript.User, "")
	b.Say(r.data.Get("command").Text())
	r.done(b, at)
	output := r.data.Get("output")
	if output.Kind() == '{' {
		output = output.Get("output")
	}
	if output.Kind() != '"' {
		return
	}
	text := output.Text()
	code := r.data.Get("exit")
	b = r.turn(transcript.User, resultSuffix)
	b.Output(exited(code), text)
	if n, ok := code.Number(); ok && n != 0 && len(text) == 0 {
		b.Note([]byte("exit " + strconv.FormatFloat(n, 'f', -1, 64)))
	}
	r.done(b, at)
}
