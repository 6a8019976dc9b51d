package corpus

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"
)

// A call is one tool call: what goes in, what comes out twice (for the model and
// structured), each as JSON.
type call struct {
	name       string
	id         string
	use        string // the uuid of the record with the call
	input      []byte
	content    []byte
	structured []byte
	failed     bool
}

// The mix of tools, in 100 calls.
const (
	bashShare  = 42
	writeShare = 12
	editShare  = 14
	readShare  = 14
	grepShare  = 10
	todoShare  = 4 // the rest are tools of an MCP server
)

// useTool draws a call and writes its record.
func (s *session) useTool(m *reply, c *call) {
	*c = call{input: c.input[:0], content: c.content[:0], structured: c.structured[:0]}
	c.id = string(s.r.appendID([]byte("toolu_01"), 22))
	k := s.r.n(100)
	switch {
	case s.agent == "" && s.r.permille(subagentP) && s.plan.bytes > subagentMin*4:
		s.delegate(c)
	case k < bashShare:
		s.bash(c)
	case k < bashShare+writeShare:
		s.writeFile(c)
	case k < bashShare+writeShare+editShare:
		s.edit(c)
	case k < bashShare+writeShare+editShare+readShare:
		s.read(c)
	case k < bashShare+writeShare+editShare+readShare+grepShare:
		s.grep(c)
	case k < bashShare+writeShare+editShare+readShare+grepShare+todoShare:
		s.todo(c)
	default:
		s.mcp(c)
	}
	b := append(s.text[:0], `,"id":"`...)
	b = append(append(b, c.id...), `","name":"`...)
	b = append(append(b, c.name...), `","input":`...)
	s.assistant(m, "tool_use", append(b, c.input...), "tool_use")
	c.use = s.parent
	if !s.toolsSeen && s.plan.style == Claude332 {
		s.toolsSeen = true
		s.w.machine.snapshot(s, true)
	}
}

func (s *session) toolResult(c *call) {
	s.now += int64(s.r.logUniform(20, 30_000))
	b := append(s.text[:0], `{"role":"user","content":[{"tool_use_id":"`...)
	b = append(append(b, c.id...), `","type":"tool_result","content":`...)
	b = append(b, c.content...)
	if c.failed {
		b = append(b, `,"is_error":true`...)
	}
	s.text = append(b, `}]}`...)
	b = append(s.open(), `,"promptId":"`...)
	b = append(append(b, s.promptID...), `","type":"user","message":`...)
	b = s.identify(append(b, s.text...))
	b = append(b, `,"toolUseResult":`...)
	b = append(b, c.structured...)
	b = append(b, `,"sourceToolAssistantUUID":"`...)
	s.shut(append(append(b, c.use...), '"'))
}

// pathInput begins the input of a tool that takes a file, and returns the file.
func (s *session) pathInput(c *call, name string) (int, string) {
	n := s.p.file.rank(s.r)
	file := s.absolute(s.p.files[n])
	c.name = name
	c.input = appendString(append(c.input, `{"file_path":`...), file)
	return n, file
}

const (
	// spillFrom is the size from which a client keeps output in a file of its
	// own and writes a preview of previewSize into the transcript.
	spillFrom, previewSize = 30_000, 2_000
	// Some outputs are long and stay in the transcript all the same.
	longP, longMax = 4, 160_000
)

func (s *session) bash(c *call) {
	c.name = "Bash"
	s.raw = s.pick(s.raw[:0], s.v.commands)
	c.input = appendString(append(c.input, `{"command":`...), s.raw)
	if s.r.permille(600) {
		c.input = appendStringField(c.input, "description", s.salad(s.raw[:0]))
	}
	c.input = append(c.input, '}')

	size := int(min(s.r.lognormal(700, 1.5), 60_000))
	long := s.r.permille(longP)
	if long {
		size = s.r.between(longMax/3, longMax)
	}
	if c.failed = s.r.permille(90); c.failed {
		s.raw = append(s.raw[:0], "Exit code "...)
		s.raw = append(strconv.AppendInt(s.raw, int64(s.r.between(1, 2)), 10), '\n')
		s.raw = s.pick(s.output(s.raw, min(size, 3000)), s.v.errors)
		c.content = appendString(c.content, s.raw)
		c.structured = append(c.structured, `"Error: `...)
		c.structured = append(append(c.structured, c.content[1:len(c.content)-1]...), '"')
		return
	}
	s.raw = bytes.TrimRight(s.output(s.raw[:0], size), "\n")
	if len(s.raw) > spillFrom && !long {
		s.spill(c)
	}
	c.content = appendString(c.content, s.raw)
	c.structured = append(append(c.structured, `{"stdout":`...), c.content...)
	c.structured = append(c.structured, `,"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}`...)
}

// spill moves the output in s.raw to a file beside the transcript.
func (s *session) spill(c *call) {
	name := "tool-results/" + c.id + ".txt"
	s.companion(name, s.raw)
	cut := bytes.LastIndexByte(s.raw[:previewSize], '\n') + 1
	for cut == 0 || !utf8.RuneStart(s.raw[cut]) {
		cut++
	}
	preview := "<persisted-output>\nLong output (" + strconv.Itoa(len(s.raw)) + " bytes) is kept in " +
		filepath.ToSlash(s.id+"/"+name) + "\n\n" + string(s.raw[:cut]) + "...\n</persisted-output>"
	s.raw = append(s.raw[:0], preview...)
}

func (s *session) writeFile(c *call) {
	_, file := s.pathInput(c, "Write")
	s.raw = s.source(s.raw[:0], int(s.r.logUniform(400, 9000)))
	c.input = append(appendStringField(c.input, "content", s.raw), '}')
	c.content = appendString(c.content, "File created successfully at: "+file)
	c.structured = appendString(append(c.structured, `{"type":"create","filePath":`...), file)
	c.structured = append(appendStringField(c.structured, "content", s.raw), `,"structuredPatch":[],"originalFile":null,"userModified":false}`...)
}

// lines cuts a run of count lines at a random place out of a file. It returns the
// line number of the first, from 1.
func (s *session) lines(content []byte, count int) (part []byte, first, total int) {
	total = bytes.Count(content, []byte("\n")) + 1
	if count >= total {
		return content, 1, total
	}
	first = 1 + s.r.n(total-count)
	from := 0
	for range first - 1 {
		from += bytes.IndexByte(content[from:], '\n') + 1
	}
	to := from
	for range count {
		at := bytes.IndexByte(content[to:], '\n')
		if at < 0 {
			return content[from:], first, total
		}
		to += at + 1
	}
	return content[from:to], first, total
}

func (s *session) edit(c *call) {
	n, file := s.pathInput(c, "Edit")
	whole := s.w.cache.get(s.scribe, n)
	old, first, _ := s.lines(whole, s.r.between(1, 7))
	old = bytes.TrimRight(old, "\n")
	s.raw = append(s.raw[:0], old...)
	s.raw = s.source(append(s.raw, '\n'), s.r.between(20, 400))
	replacement := bytes.TrimRight(s.raw, "\n")
	c.input = appendStringField(c.input, "old_string", old)
	c.input = append(appendStringField(c.input, "new_string", replacement), `,"replace_all":false}`...)
	c.content = appendString(c.content, "The file "+file+" has been updated successfully.")

	b := appendString(append(c.structured, `{"filePath":`...), file)
	b = appendStringField(b, "oldString", old)
	b = appendStringField(b, "newString", replacement)
	b = appendStringField(b, "originalFile", whole)
	b = append(b, `,"structuredPatch":[{"oldStart":`...)
	b = strconv.AppendInt(b, int64(first), 10)
	b = appendIntField(b, "oldLines", int64(bytes.Count(old, []byte("\n"))+1))
	b = appendIntField(b, "newStart", int64(first))
	b = appendIntField(b, "newLines", int64(bytes.Count(replacement, []byte("\n"))+1))
	b = append(b, `,"lines":[`...)
	b = appendPatch(b, '-', old)
	b = appendPatch(append(b, ','), '+', replacement)
	c.structured = append(b, `]}],"userModified":false,"replaceAll":false}`...)
}

// appendPatch appends the lines of text as JSON strings that begin with sign.
func appendPatch(b []byte, sign byte, text []byte) []byte {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"', sign)
		b = append(appendEscaped(b, line), '"')
	}
	return b
}

func (s *session) read(c *call) {
	n, file := s.pathInput(c, "Read")
	whole := s.w.cache.get(s.scribe, n)
	count := 2000
	if s.r.permille(550) {
		count = s.r.between(20, 260)
		c.input = appendIntField(c.input, "limit", int64(count))
	}
	c.input = append(c.input, '}')
	part, first, total := s.lines(whole, count)
	s.raw = s.raw[:0]
	number := first
	for line := range bytes.Lines(part) {
		digits := strconv.Itoa(number)
		if s.plan.style == Claude332 {
			s.raw = append(append(s.raw, digits...), '\t')
		} else {
			s.raw = append(s.raw, "      "[:max(6-len(digits), 0)]...)
			s.raw = append(append(s.raw, digits...), "→"...)
		}
		s.raw = append(s.raw, line...)
		number++
	}
	c.content = appendString(c.content, s.raw)
	c.structured = appendString(append(c.structured, `{"type":"text","file":{"filePath":`...), file)
	c.structured = appendStringField(c.structured, "content", part)
	c.structured = appendIntField(c.structured, "numLines", int64(number-first))
	c.structured = appendIntField(c.structured, "startLine", int64(first))
	c.structured = append(appendIntField(c.structured, "totalLines", int64(total)), `}}`...)
}

func (s *session) grep(c *call) {
	c.name = "Grep"
	c.input = appendString(append(c.input, `{"pattern":`...), s.ident())
	c.input = appendStringField(c.input, "path", s.absolute(s.path()))
	c.input = append(c.input, `,"output_mode":"content","-n":true}`...)
	s.raw = s.raw[:0]
	rows := int(s.r.logUniform(1, 60))
	for range rows {
		s.raw = append(append(s.raw, s.path()...), ':')
		s.raw = append(strconv.AppendInt(s.raw, int64(s.r.between(1, 700)), 10), ':')
		s.raw = append(s.pick(s.raw, s.v.code), '\n')
	}
	s.raw = bytes.TrimRight(s.raw, "\n")
	c.content = appendString(c.content, s.raw)
	c.structured = append(c.structured, `{"mode":"content","numFiles":0,"filenames":[],"content":`...)
	c.structured = append(c.structured, c.content...)
	c.structured = append(appendIntField(c.structured, "numLines", int64(rows)), '}')
}

func (s *session) todo(c *call) {
	c.name = "TodoWrite"
	states := []string{"pending", "in_progress", "completed"}
	b := append(c.input, `{"todos":[`...)
	for i := range s.r.between(2, 6) {
		if i > 0 {
			b = append(b, ',')
		}
		s.raw = s.pick(s.raw[:0], s.v.prompts)
		b = appendString(append(b, `{"content":`...), s.raw)
		b = appendStringField(b, "status", states[s.r.n(len(states))])
		b = append(appendStringField(b, "activeForm", s.raw), '}')
	}
	c.input = append(b, `]}`...)
	c.content = appendString(c.content, "The list was updated.")
	c.structured = append(append(c.structured, `{"oldTodos":[],"newTodos":`...), c.input[len(`{"todos":`):]...)
}

func (s *session) mcp(c *call) {
	c.name = "mcp__tracker__" + verbs[s.r.n(12)] + "_" + nouns[s.r.n(12)]
	c.input = append(appendString(append(c.input, `{"query":`...), s.ident()), '}')
	s.raw = s.prose(s.raw[:0], int(s.r.logUniform(80, 3000)))
	c.content = append(appendString(append(c.content, `[{"type":"text","text":`...), s.raw), `}]`...)
	c.structured = append(c.structured, c.content...)
}

// subagentMin and subagentMax bound what a subagent writes.
const subagentMin, subagentMax = 15_000, 500_000

// delegate runs a subagent, whose transcript is a file of its own.
func (s *session) delegate(c *call) {
	c.name = "Agent"
	kind := agentTypes[s.r.n(len(agentTypes))]
	s.raw = s.scribe.prompt(s.raw[:0])
	agent := string(appendHex([]byte("a"), s.r.u64(), 16))
	about := string(s.pick(nil, s.v.prompts))
	c.input = appendString(append(c.input, `{"description":`...), about)
	c.input = appendStringField(c.input, "prompt", s.raw)
	c.input = append(appendStringField(c.input, "subagent_type", kind), '}')

	b := appendString(append(c.structured, `{"status":"completed","prompt":`...), s.raw)
	b = appendStringField(b, "agentId", agent)
	b = appendStringField(b, "agentType", kind)
	s.raw = s.prose(s.raw[:0], s.r.between(200, 2500))
	c.content = append(appendString(append(c.content, `[{"type":"text","text":`...), s.raw), `}]`...)
	b = append(append(b, `,"content":`...), c.content...)
	took := int64(s.r.between(9000, 400_000))
	b = appendIntField(b, "totalDurationMs", took)
	c.structured = append(appendIntField(b, "totalToolUseCount", int64(s.r.between(2, 50))), '}')

	seed, size := s.r.u64(), int64(s.r.logUniform(subagentMin, subagentMax))
	workflow := ""
	if s.r.permille(60) {
		workflow = "wf_" + string(appendHex(nil, s.r.u64(), 8))
	}
	meta := append([]byte(nil), `{"agentType":"`+kind+`","description":`...)
	meta = append(appendString(meta, about), `,"toolUseId":"`+c.id+`","spawnDepth":1}`...)
	start := s.now
	s.now += took
	if s.copying || s.out.err != nil {
		return
	}
	path := s.sidePath(agent, workflow)
	if s.out.err = os.MkdirAll(filepath.Dir(path), 0o700); s.out.err != nil {
		return
	}
	s.out.err = s.runSubagent(path, agent, &planned{
		seed: seed, project: s.p, style: s.plan.style, start: start, bytes: min(size, s.plan.bytes/4),
	})
	name, _ := filepath.Rel(s.dir, path)
	s.companion(filepath.ToSlash(name[:len(name)-len(".jsonl")])+".meta.json", meta)
}

func (s *session) runSubagent(path, agent string, own *planned) error {
	out, err := newSink(path, &s.w.stats)
	if err != nil {
		return err
	}
	sub := &session{
		w: s.w, out: out, plan: own, own: own, id: s.id, agent: agent, dir: s.dir,
		version: s.version, branch: s.branch, now: own.start, scribe: scribe{r: newRNG(own.seed, 0), v: s.v, p: s.p},
	}
	sub.run()
	s.w.stats.Subagents++
	s.spent += out.size
	return out.close(sub.now)
}
