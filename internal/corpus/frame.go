package corpus

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// sinkBuffer is large enough that a write call costs nothing beside the bytes.
const sinkBuffer = 256 << 10

// A sink is a transcript being written. The first error stays; after it nothing
// more is written.
type sink struct {
	f     *os.File
	buf   *bufio.Writer
	stats *Stats
	path  string
	size  int64
	err   error
	line  []byte
}

func newSink(path string, stats *Stats) (*sink, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &sink{f: f, buf: bufio.NewWriterSize(f, sinkBuffer), stats: stats, path: path}, nil
}

// end writes the line that was built in k.line.
func (k *sink) end() {
	k.line = append(k.line, '\n')
	n := int64(len(k.line))
	k.size += n
	k.stats.Records++
	k.stats.LongestLine = max(k.stats.LongestLine, n-1)
	if k.err == nil {
		_, k.err = k.buf.Write(k.line)
	}
}

// close ends the file and dates it.
func (k *sink) close(ms int64) error {
	k.stats.Bytes += k.size
	if k.err == nil {
		k.err = k.buf.Flush()
	}
	if err := k.f.Close(); k.err == nil {
		k.err = err
	}
	if k.err == nil {
		k.err = os.Chtimes(k.path, time.Time{}, time.UnixMilli(ms))
	}
	return k.err
}

// companion writes a file beside the transcript, except while repeating another
// session: a fork has no companions of its own.
func (s *session) companion(name string, content []byte) {
	if s.copying || s.out.err != nil {
		return
	}
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err == nil {
		err = os.Chtimes(path, time.Time{}, time.UnixMilli(s.now))
	}
	s.out.err = err
	s.w.stats.Companions++
	s.w.stats.CompanionBytes += int64(len(content))
}

// open begins a record of the conversation.
func (s *session) open() []byte {
	b := append(s.out.line[:0], `{"parentUuid":`...)
	if s.parent == "" {
		b = append(b, `null`...)
	} else {
		b = append(b, '"')
		b = append(append(b, s.parent...), '"')
	}
	if s.agent == "" {
		return append(b, `,"isSidechain":false`...)
	}
	b = append(b, `,"isSidechain":true,"agentId":"`...)
	return append(append(b, s.agent...), '"')
}

// identify appends the record's uuid and time, and makes it the parent of the next.
func (s *session) identify(b []byte) []byte {
	u := s.r.uuid()
	s.parent = string(u[:])
	b = append(b, `,"uuid":"`...)
	b = append(b, u[:]...)
	b = append(b, `","timestamp":`...)
	return appendStamp(b, s.now)
}

// shut ends a record of the conversation with the fields that all of them have.
func (s *session) shut(b []byte) {
	b = append(b, `,"userType":"external","entrypoint":"cli","cwd":"`...)
	b = append(b, s.p.root...)
	b = append(b, `","sessionId":"`...)
	b = append(b, s.id...)
	b = append(b, `","version":"`...)
	b = append(b, s.version...)
	b = append(b, `","gitBranch":"`...)
	b = append(b, s.branch...)
	s.out.line = append(b, `"}`...)
	s.out.end()
}

// note writes a state line, which is no part of the conversation.
func (s *session) note(kind, fields string) {
	b := append(s.out.line[:0], `{"type":"`...)
	b = append(append(b, kind...), '"')
	b = append(b, fields...)
	b = append(b, `,"sessionId":"`...)
	s.out.line = append(append(b, s.id...), `"}`...)
	s.out.end()
}

// userMessage writes a user record. fields is appended as it stands.
func (s *session) userMessage(message []byte, fields string) {
	b := s.open()
	b = append(b, `,"promptId":"`...)
	b = append(append(b, s.promptID...), `","type":"user","message":`...)
	b = append(b, message...)
	b = append(s.identify(b), fields...)
	s.shut(b)
	s.now += int64(s.r.between(1, 40))
}

func (s *session) userText(text, fields string) {
	b := append(s.text[:0], `{"role":"user","content":`...)
	s.text = append(appendString(b, text), '}')
	s.userMessage(s.text, fields)
}

// A reply is what the lines of one API message share.
type reply struct {
	id, request string
	block       int
	usage       []byte
}

// message begins an API message.
func (s *session) message() *reply {
	m := &reply{id: string(s.r.appendID([]byte("msg_01"), 22)), request: string(s.r.appendID([]byte("req_011C"), 20))}
	u := append([]byte(nil), `{"input_tokens":`...)
	u = strconv.AppendInt(u, int64(s.r.n(40)), 10)
	u = appendIntField(u, "cache_creation_input_tokens", int64(s.r.logUniform(200, 9000)))
	u = appendIntField(u, "cache_read_input_tokens", int64(s.r.between(12_000, 160_000)))
	u = appendIntField(u, "output_tokens", int64(s.r.logUniform(20, 3000)))
	m.usage = append(u, `,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard",`+
		`"cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0},"inference_geo":"","speed":"standard"}`...)
	return m
}

// assistant writes one block of an API message. fields are the block's own, each
// with its comma.
func (s *session) assistant(m *reply, block string, fields []byte, stop string) {
	s.text = fields // the buffer may have moved
	b := append(s.open(), `,"message":{"id":"`...)
	b = append(append(b, m.id...), `","type":"message","role":"assistant","model":"claude-opus-4-8","content":[{"type":"`...)
	b = append(append(b, block...), '"')
	b = append(b, fields...)
	b = append(b, `}],"stop_reason":"`...)
	b = append(append(b, stop...), `","stop_sequence":null,"usage":`...)
	b = append(append(b, m.usage...), `,"stop_details":null}`...)
	if s.plan.style == Claude332 {
		b = appendIntField(b, "apiBlockIndex", int64(m.block))
	}
	b = appendStringField(b, "requestId", m.request)
	b = s.identify(append(b, `,"type":"assistant"`...))
	if s.plan.style == Claude332 {
		b = append(b, `,"effort":"medium","perTurnEffort":"medium","madeBy":"model"`...)
	}
	m.block++
	s.shut(b)
	s.now += int64(s.r.between(5, 4000))
}
