package claude

import (
	"bytes"
	"strings"
	"sync"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// Turns reads one line of a transcript. Each record in it (usually one) that
// is an object with a type of the four, a string `uuid` and a string
// `timestamp` is a turn; every record, turn or not, tells s what it says of
// the session. A line that holds no record gives nothing; one that is not exactly
// one well-formed record is counted in s as damaged.
//
// The turns' pieces and BoundaryMeta alias record where they can. What had to
// be decoded is the turns' own and stays valid as long as it is held.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	r := readers.Get().(*reader)
	defer r.release()

	line, off := transcript.Trim(record)
	whole := len(line) > 0 && r.read(line)
	if len(line) > 0 && (!whole || r.malformed()) || padded(record[:off]) || padded(record[off+len(line):]) {
		s.Damaged++
	}
	if whole {
		return r.take(nil, off, len(line), s)
	}
	var turns []transcript.Turn
	for _, span := range transcript.Records(line, r.isTurn) {
		if r.read(line[span.Off : span.Off+span.Len]) {
			turns = r.take(turns, off+span.Off, span.Len, s)
		}
	}
	return turns
}

// padded reports whether NULs stand around a record, as a file system that lost
// power leaves them.
func padded(around []byte) bool { return bytes.IndexByte(around, 0) >= 0 }

var readers = sync.Pool{New: newReader}

// A reader holds what one pass over a record found, and the scratch that it
// is found in.
type reader struct {
	scan transcript.Scanner
	fields

	message, result, attachment []transcript.Piece
	input, output               []transcript.Piece // of one block
	mentions                    []transcript.Mention
	call                        call
	outcome                     outcome
	room                        int // bytes of transcript.TextRoom that message leaves
	joined                      []byte
	// seeInput and seeOutcome are the methods of call and outcome, as values
	// that are made once.
	seeInput, seeOutcome func(parent, key, text []byte)
}

func newReader() any {
	r := new(reader)
	r.seeInput, r.seeOutcome = r.call.see, r.outcome.see
	return r
}

// fields are what a record says. A nil string is one that the record does not
// have as a string.
type fields struct {
	kind, subtype      []byte
	uuid, parent, ts   []byte
	sessionID, otherID []byte // sessionId, session_id
	cwd, branch        []byte
	custom, generated  []byte // customTitle, aiTitle
	content            []byte // the top-level one
	toolName           []byte
	compactMetadata    []byte
	user               speech
	attached           []byte // the attachment's type
	queued             speech
	hasQueued          bool
	// results counts the tool results of the message, answers those of them
	// that Terminus' own tools gave.
	results, answers int
}

func (r *reader) release() {
	r.scan.Release()
	r.fields = fields{}
	r.message, r.result = transcript.Recycle(r.message), transcript.Recycle(r.result)
	r.attachment, r.mentions = transcript.Recycle(r.attachment), transcript.Recycle(r.mentions)
	r.call, r.outcome = call{}, outcome{}
	readers.Put(r)
}

// read reads one record whole and reports whether it is a JSON object.
func (r *reader) read(object []byte) bool {
	r.fields = fields{}
	r.message, r.result, r.attachment = r.message[:0], r.result[:0], r.attachment[:0]
	r.mentions, r.outcome = r.mentions[:0], outcome{}
	r.scan.Reset(object)
	if !r.scan.EnterObject() {
		return false
	}
	for {
		key, ok := r.scan.NextMember()
		if !ok {
			return r.scan.Done()
		}
		r.member(key)
	}
}

// member reads one top-level member. Of equal keys the last one wins: each
// case overwrites all that an earlier one may have set.
func (r *reader) member(key []byte) {
	s := &r.scan
	switch string(key) {
	case "type":
		r.kind, _ = s.TryText()
	case "subtype":
		r.subtype, _ = s.TryText()
	case "uuid":
		r.uuid, _ = s.TryText()
	case "parentUuid":
		r.parent, _ = s.TryText()
	case "timestamp":
		r.ts, _ = s.TryText()
	case "sessionId":
		r.sessionID, _ = s.TryText()
	case "session_id":
		r.otherID, _ = s.TryText()
	case "cwd":
		r.cwd, _ = s.TryText()
	case "gitBranch":
		r.branch, _ = s.TryText()
	case "customTitle":
		r.custom, _ = s.TryText()
	case "aiTitle":
		r.generated, _ = s.TryText()
	case "content":
		r.content, _ = s.TryText()
	case "isMeta":
		r.user.meta = s.Bool()
	case "isCompactSummary":
		r.user.summary = s.Bool()
	case "promptSource":
		r.user.source, _ = s.TryText()
	case "origin":
		r.user.origin = originKind(s)
	case "compactMetadata":
		r.compactMetadata = s.Skip()
	case "message":
		r.readMessage()
	case "toolUseResult":
		r.outcome = outcome{}
		r.result = s.LeavesSeen(r.result[:0], true, r.seeOutcome)
	case "attachment":
		r.readAttachment()
	default:
		s.Skip()
	}
}

// originKind reads the `kind` of an origin.
func originKind(s *transcript.Scanner) (kind []byte) {
	if !s.EnterObject() {
		s.Skip()
		return nil
	}
	for {
		key, ok := s.NextMember()
		if !ok {
			return kind
		}
		if string(key) == "kind" {
			kind, _ = s.TryText()
		} else {
			s.Skip()
		}
	}
}

// isTurn reports whether the object is a turn by itself.
func (r *reader) isTurn(object []byte) bool {
	return r.read(object) && r.turnType() != ""
}

// turnType returns the type of the turn that the record is, "" if it is none.
func (r *reader) turnType() string {
	if r.uuid == nil || r.ts == nil {
		return ""
	}
	return r.recordType()
}

// malformed reports whether the record lacks what every record of its type has.
func (r *reader) malformed() bool {
	return r.kind == nil || (r.uuid == nil || r.ts == nil) && r.recordType() != ""
}

// recordType returns which of the four types that may be turns the record has,
// "" if it has another.
func (r *reader) recordType() string {
	switch string(r.kind) {
	case transcript.User:
		return transcript.User
	case transcript.Assistant:
		return transcript.Assistant
	case transcript.System:
		return transcript.System
	case transcript.Attachment:
		return transcript.Attachment
	}
	return ""
}

// progress is the one type of record that has what a turn has and is known to be none:
// what a running tool or hook said meanwhile.
const progress = "progress"

// A result is a turn, its pieces and its mentions in one allocation, as most turns are.
type result struct {
	turn   [1]transcript.Turn
	pieces [4]transcript.Piece
	// a call's name, a path or command of it
	mentions [2]transcript.Mention
}

// take appends the record as a turn, if it is one, and tells s of it.
func (r *reader) take(turns []transcript.Turn, off, length int, s *transcript.State) []transcript.Turn {
	r.note(s)
	kind := r.turnType()
	if kind == "" {
		if r.uuid != nil && r.ts != nil && r.kind != nil && string(r.kind) != progress {
			s.SeeStrange(r.kind)
		}
		return turns
	}
	made := new(result)
	t := &made.turn[0]
	r.dropAnswers()
	*t = transcript.Turn{
		Off: off, Len: length, Type: kind,
		Pieces: r.pieces(made.pieces[:0]), Mentions: r.allMentions(made.mentions[:0]),
	}

	r.joined = append(append(append(append(r.joined[:0], r.ts...), r.uuid...), r.parent...), r.toolName...)
	all := string(r.joined)
	if cap(r.joined) > transcript.StateLimit {
		r.joined = nil
	}
	t.TS, all = all[:len(r.ts)], all[len(r.ts):]
	t.UUID, all = all[:len(r.uuid)], all[len(r.uuid):]
	t.ParentUUID, t.ToolName = all[:len(r.parent)], all[len(r.parent):]

	switch kind {
	case transcript.User:
		t.ToolResult = r.user.toolResult
		t.Nature = r.user.nature()
	case transcript.Attachment:
		t.Unindexed = machinery[string(r.attached)] || r.injected()
		if r.hasQueued {
			r.queued.meta = r.queued.meta || r.user.meta
			if t.Nature = r.queued.nature(); t.Nature == transcript.Typed {
				t.Prompt = r.queued.first
			}
		}
	}
	if string(r.subtype) == "compact_boundary" {
		t.Boundary, t.BoundaryMeta = true, r.compactMetadata
	}
	s.SeeTurn(t.TS, t.ParentUUID)
	if turns == nil {
		return made.turn[:]
	}
	return append(turns, *t)
}

// pieces appends the record's texts to dst, in the order of the projection.
func (r *reader) pieces(dst []transcript.Piece) []transcript.Piece {
	n := len(r.message) + len(r.result) + len(r.attachment) + 1
	if n > cap(dst) {
		dst = make([]transcript.Piece, 0, n)
	}
	dst = append(dst, r.message...)
	if len(r.content) > 0 {
		dst = append(dst, transcript.Piece{Text: r.content})
	}
	dst = append(dst, r.result...)
	return append(dst, r.attachment...)
}

// allMentions appends the record's mentions to dst.
func (r *reader) allMentions(dst []transcript.Mention) []transcript.Mention {
	dst = append(dst, r.mentions...)
	return r.outcome.appendMentions(dst)
}

// dropAnswers takes the structured form of an answer of Terminus' own tools
// out of the record, once the message has shown that it is one.
func (r *reader) dropAnswers() {
	if r.results > 0 && r.answers == r.results {
		r.result, r.outcome = r.result[:0], outcome{}
		return
	}
	if r.results > 0 {
		r.result, _ = dropAnswers(r.result)
	}
}

// note tells s what any record may say of the session.
func (r *reader) note(s *transcript.State) {
	if s.SessionID == "" && len(r.sessionID) > 0 {
		s.SeeSession(r.sessionID)
		if topLevelAgent(s.Key) {
			s.ParentKey = s.SessionID + lineSuffix
		}
	}
	s.SeeDirectory(r.cwd)
	s.SeeBranch(r.branch)
	if string(r.otherID) != string(r.sessionID) {
		s.SeeOrigin(r.otherID)
	}
	switch string(r.kind) {
	case "custom-title":
		s.SeeTitle(r.custom, transcript.TitleGiven)
	case "ai-title":
		s.SeeTitle(r.generated, transcript.TitleMade)
	}
}

// topLevelAgent reports whether key is the absolute path of an agent's
// transcript that stands where only its records can tell whose agent it is.
func topLevelAgent(key string) bool {
	base := key[strings.LastIndexAny(key, `/\`)+1:]
	absolute := strings.HasPrefix(key, "/") || strings.HasPrefix(key, `\`) || len(key) > 1 && key[1] == ':'
	return absolute && strings.HasPrefix(base, agentStart) && strings.HasSuffix(base, lineSuffix)
}
