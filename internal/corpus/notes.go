package corpus

import (
	"path/filepath"
	"strconv"
)

// queueOperations notes the prompt's way through the client's queue.
func (s *session) queueOperations() {
	b := append([]byte(nil), `,"operation":"enqueue","timestamp":`...)
	b = appendStamp(b, s.now-12)
	b = append(append(b, `,"content":`...), s.prompt...)
	s.note("queue-operation", string(b))
	b = append(b[:0], `,"operation":"dequeue","timestamp":`...)
	s.note("queue-operation", string(appendStamp(b, s.now-3)))
}

// afterAnswer notes what a client notes when it has answered.
func (s *session) afterAnswer() {
	if s.agent != "" {
		return
	}
	if s.r.permille(600) {
		b := append(s.open(), `,"type":"system","subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"check","durationMs":`...)
		b = strconv.AppendInt(b, int64(s.r.between(3, 90)), 10)
		b = append(b, `}],"hookErrors":[],"preventedContinuation":false,"stopReason":"","hasOutput":false,"level":"suggestion"`...)
		s.shut(s.identify(b))
	}
	if s.r.permille(400) {
		b := append(s.open(), `,"type":"system","subtype":"turn_duration"`...)
		b = appendIntField(b, "durationMs", int64(s.r.logUniform(2000, 600_000)))
		s.shut(s.identify(append(b, `,"isMeta":false`...)))
	}
	if s.r.permille(500) {
		s.fileHistory()
	}
	s.note("last-prompt", `,"lastPrompt":`+s.prompt+`,"leafUuid":"`+s.parent+`"`)
	if s.plan.style == Claude332 {
		s.note("mode", `,"mode":"normal"`)
		s.note("cost-state", `,"totalCostUSD":`+strconv.FormatFloat(float64(s.r.n(900))/100, 'g', -1, 64)+
			`,"totalDuration":`+strconv.FormatInt(s.now-s.plan.start, 10)+`,"hasUnknownModelCost":false`)
	}
}

// fileHistory notes which files the client could restore.
func (s *session) fileHistory() {
	b := append(s.text[:0], `,"messageId":"`...)
	b = append(append(b, s.parent...), `","snapshot":{"messageId":"`...)
	b = append(append(b, s.parent...), `","trackedFileBackups":{`...)
	for i := range s.r.n(6) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, strconv.Itoa(i)+"-"+s.path())
		b = append(b, `:{"backupFileName":"`...)
		b = appendHex(b, s.r.u64(), 16)
		b = append(b, `@v2","version":2,"backupTime":`...)
		b = append(appendStamp(b, s.now), '}')
	}
	b = append(b, `},"timestamp":`...)
	b = append(appendStamp(b, s.now), `},"isSnapshotUpdate":false`...)
	s.text = b
	s.note("file-history-snapshot", string(b))
}

// queuedCommand writes a prompt that was typed while the client worked.
func (s *session) queuedCommand() {
	s.raw = s.scribe.prompt(s.raw[:0])
	b := append(s.open(), `,"attachment":{"type":"queued_command","prompt":`...)
	b = append(appendString(b, s.raw), `,"commandMode":"prompt"},"type":"attachment"`...)
	s.shut(s.identify(b))
}

func (s *session) apiError() {
	b := append(s.open(), `,"message":{"id":"`...)
	u := s.r.uuid()
	b = append(b, u[:]...)
	b = append(b, `","type":"message","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":`...)
	b = appendString(b, "API error: "+string(s.pick(nil, s.v.errors)))
	b = append(b, `}],"stop_reason":"stop_sequence","usage":{"input_tokens":0,"output_tokens":0}}`...)
	b = s.identify(append(b, `,"isApiErrorMessage":true,"apiErrorStatus":529,"type":"assistant"`...))
	s.shut(b)
}

// title gives the session a name of its own, as a line and as a companion.
func (s *session) title() {
	t := string(appendString(nil, s.pick(nil, s.v.prompts)))
	s.note("custom-title", `,"customTitle":`+t)
	s.companion("custom-title.json", []byte(`{"customTitle":`+t+`}`+"\n"))
}

// compact writes a compaction boundary and the summary that replaces the context.
func (s *session) compact() {
	s.sinceCompact = s.out.size
	if s.agent != "" {
		return
	}
	before := s.parent
	s.parent = ""
	b := append(s.open(), `,"logicalParentUuid":"`...)
	b = append(append(b, before...), `","type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false`...)
	b = append(s.identify(b), `,"level":"info","compactMetadata":{"trigger":"auto"`...)
	b = appendIntField(b, "preTokens", int64(s.r.between(150_000, 168_000)))
	b = appendIntField(b, "postTokens", int64(s.r.between(3_000, 12_000)))
	s.shut(append(appendIntField(b, "durationMs", int64(s.r.between(20_000, 90_000))), '}'))
	s.now += int64(s.r.between(20_000, 90_000))

	s.raw = append(s.raw[:0], "What was done before the context was full:\n\n"...)
	s.raw = s.prose(s.raw, s.r.between(2_500, 9_000))
	s.userText(string(s.raw), `,"isCompactSummary":true,"isVisibleInTranscriptOnly":true`)
	if s.plan.style == Claude332 {
		s.w.machine.snapshot(s, false)
		s.replay()
	}
}

// imageContent appends a message's content that holds the prompt and a picture.
func (s *session) imageContent(b []byte) []byte {
	b = append(b, `{"role":"user","content":[{"type":"text","text":`...)
	b = append(append(b, s.prompt...), `},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`...)
	b = s.r.appendID(b, s.r.between(20, 90)<<10)
	return append(b, `"}}]`...)
}

// absolute is a file of the project as tools name it.
func (s *session) absolute(file string) string { return s.p.root + "/" + file }

// sidePath is the transcript of a subagent.
func (s *session) sidePath(agent string, workflow string) string {
	if workflow != "" {
		return filepath.Join(s.dir, "subagents", "workflows", workflow, "agent-"+agent+".jsonl")
	}
	return filepath.Join(s.dir, "subagents", "agent-"+agent+".jsonl")
}
