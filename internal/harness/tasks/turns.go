package tasks

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Turns reads a record: of a message, or of what is told of the task.
func Turns(record []byte, s *transcript.State) []transcript.Turn {
	id, row := rows.Read(record)
	switch {
	case row.Kind() != '{':
		s.Damaged++
		return nil
	case row.Get("role") == nil:
		Tell(row, s)
		return nil
	}
	return Message(record, id, row, s)
}

// delegated begins State.Own where the session is one that an agent started; behind it stands when
// the session began.
const delegated = "delegated "

// Tell takes what a list of tasks, or a document beside the messages, says of the session.
func Tell(row transcript.Value, s *transcript.State) {
	first := func(names ...string) []byte {
		for _, name := range names {
			if text := row.Get(name).Text(); len(text) > 0 {
				return text
			}
		}
		return nil
	}
	s.SeeSession(first("session_id", "sessionId", "id"))
	s.SeeDirectory(first("cwd", "workspace_root", "workspace", "cwdOnTaskInitialization"))
	s.SeeTitle(row.Get("metadata", "title").Text(), transcript.TitleMade)
	taken := first("task", "prompt")
	if _, typed, _, ok := person(taken); ok {
		taken = typed
	}
	s.SeeTitle(taken, transcript.TitleTaken)
	s.SeeBranch(row.Get("metadata", "git", "branch").Text())
	if parent := string(first("parentTaskId", "parent_session_id")); parent != "" && s.ParentKey == "" {
		harness, _, _ := strings.Cut(s.Key, ":")
		s.ParentKey = harness + ":" + string(transcript.CutBytes([]byte(parent), transcript.StateLimit/2))
	}
	for _, name := range []string{"started_at", "created_at", "ts"} {
		if at := transcript.Time(row.Get(name)); at != "" && s.Own == "" {
			s.Own = at
		}
	}
	if agent := row.Get("agent").String(); agent != "" && agent != "lead" && !strings.HasPrefix(s.Own, delegated) {
		s.Own = delegated + s.Own
	}
}

// Message reads a message of the task's conversation as a turn, or none where it says nothing.
func Message(record []byte, id string, row transcript.Value, s *transcript.State) []transcript.Turn {
	kind := row.Get("role").String()
	b := turn.New(kind, record).IDs(id, row.Get("id").String(), "")
	content := row.Get("content")
	switch kind {
	case transcript.User:
		hear(b, content, s)
	case transcript.Assistant:
		answer(b, content)
	case transcript.System:
		each(content, func(text []byte) { b.Note(text) }, nil)
		b.Hidden()
	default:
		s.SeeStrange([]byte(kind))
		return nil
	}
	if kind == transcript.User && strings.HasPrefix(s.Own, delegated) {
		b.Machine() // what it is told is another agent's
	}
	if row.Get("isSummary").Bool() {
		b.Boundary(nil)
		if kind == transcript.User {
			b.Machine()
		}
	}
	if b.Empty() {
		return nil
	}
	t := b.Done(when(row, s), s)
	_, own, _ := strings.Cut(s.Key, ":")
	s.SeeSession([]byte(own))
	if t.Nature == transcript.Typed && s.Title == "" {
		s.SeeTitle(spokenIn(&t), transcript.TitleTaken)
	}
	return []transcript.Turn{t}
}

// spokenIn is what a person typed in a turn.
func spokenIn(t *transcript.Turn) []byte {
	if t.Prompt != nil {
		return t.Prompt
	}
	return t.Pieces[0].Text
}

// each calls text for every text of a content, which may be one text, and other for every block
// that is not one.
func each(content transcript.Value, text func([]byte), other func(kind string, block transcript.Value)) {
	if content.Kind() == '"' {
		text(content.Text())
		return
	}
	for block := range content.Elements() {
		switch kind := block.Get("type").String(); {
		case kind == "text":
			text(block.Get("text").Text())
		case other != nil:
			other(kind, block)
		}
	}
}

// hear reads what goes to the model: what a person typed, and what tools returned.
func hear(b *turn.Builder, content transcript.Value, s *transcript.State) {
	r := &reply{b: b, s: s}
	each(content, r.text, func(kind string, block transcript.Value) {
		if kind == "tool_result" {
			r.outcome(block.Get("is_error").Bool(), block.Get("content"))
		}
	})
	r.done()
}

// answer reads what the model said and called.
func answer(b *turn.Builder, content transcript.Value) {
	each(content, func(text []byte) { speak(b, text) }, func(kind string, block transcript.Value) {
		if kind == "tool_use" {
			b.Call(block.Get("name").Text(), block.Get("input").Nested(), Tools)
		}
	})
}

// when is the time of a message: its own, else one behind that of the message before
// it, of which the first has that of the task's beginning.
func when(row transcript.Value, s *transcript.State) string {
	if at := transcript.Time(row.Get("ts")); at != "" {
		return at
	}
	start := began(s.Key)
	if start == "" {
		start = strings.TrimPrefix(s.Own, delegated)
	}
	return turn.Next(s, start)
}

// began is the time that a task's id tells: it is the time in milliseconds, or a UUID that
// begins with it.
func began(key string) string {
	_, id, _ := strings.Cut(key, ":")
	const digits = 13 // from 2001 to 2286
	if n, err := strconv.ParseInt(id, 10, 64); err == nil && len(id) == digits {
		return transcript.NumberTime(float64(n))
	}
	const uuid, version, milliseconds = 36, 14, 6
	if len(id) != uuid || id[version] != '7' {
		return ""
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(id, "-", "")[:2*milliseconds])
	if err != nil {
		return ""
	}
	var n int64
	for _, c := range raw {
		n = n<<8 | int64(c)
	}
	return transcript.NumberTime(float64(n))
}
