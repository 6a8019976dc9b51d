package corpus

import "strconv"

// machineText is what newer clients write about themselves into every session:
// long, and the same each time. Each piece is ready to stand in a record.
type machineText struct {
	agents, skills, reminder string // JSON strings
	system                   string // a JSON array of strings
	tools                    string // a JSON array of objects
	shape                    string // a hash
}

// Sizes of those pieces, as measured in a real client's transcripts.
const (
	agentListingSize = 1_600
	skillListingSize = 6_000
	reminderSize     = 9_500
	systemPartSize   = 700
	systemParts      = 10
	toolCount        = 28
	toolTextSize     = 1_100
)

func newMachineText(v *vocabulary) *machineText {
	t := scribe{r: newRNG(332, 332), v: v, p: newProject(332, 0)}
	m := &machineText{
		agents:   string(appendString(nil, t.prose(nil, agentListingSize))),
		skills:   string(appendString(nil, t.prose(nil, skillListingSize))),
		reminder: string(appendString(nil, t.prose(nil, reminderSize))),
		shape:    string(t.r.appendHash(nil)),
	}
	b := []byte{'['}
	for i := range systemParts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, t.prose(nil, systemPartSize))
	}
	m.system = string(append(b, ']'))
	b = []byte{'['}
	for i := range toolCount {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"name":`...), t.ident())
		b = appendStringField(b, "description", t.prose(nil, toolTextSize))
		b = append(b, `,"input_schema":{"type":"object","properties":{`...)
		for j := range t.r.between(1, 5) {
			if j > 0 {
				b = append(b, ',')
			}
			b = appendString(b, t.ident()+strconv.Itoa(j))
			b = append(b, `:{"type":"string","description":`...)
			b = append(appendString(b, t.salad(nil)), '}')
		}
		b = append(b, `},"additionalProperties":false}}`...)
	}
	m.tools = string(append(b, ']'))
	return m
}

// attachment writes an attachment record; fields are the attachment's own, each
// with its comma.
func (s *session) attachment(kind, fields, after string) {
	b := append(s.open(), `,"attachment":{"type":"`...)
	b = append(append(b, kind...), '"')
	b = append(append(b, fields...), `},"type":"attachment"`...)
	b = append(s.identify(b), after...)
	s.shut(b)
}

// openingOld writes what an older client tells at a session's start.
func (s *session) openingOld() {
	m := s.w.machine
	s.attachment("agent_listing_delta", `,"addedTypes":["general-purpose"],"addedLines":[`+m.agents+`],"removedTypes":[],"isInitial":true`, "")
	if s.agent == "" && s.r.permille(700) {
		s.attachment("skill_listing", `,"content":`+m.skills+`,"skillCount":9,"isInitial":true`, "")
	}
}

// openingNew writes what a newer client tells at a session's start.
func (s *session) openingNew() {
	m := s.w.machine
	rendered := func(text string) string { return `,"rendered":[{"content":` + text + `}],"renderedRole":"system"` }
	root := string(appendString(nil, s.p.root))
	s.attachment("environment", `,"snapshot":{"workingDirectory":`+root+`,"isGitRepo":true,"platform":"linux","shell":"bash"}`, rendered(root))
	s.attachment("model", `,"identity":{"modelId":"claude-opus-4-8"},"text":"The model is claude-opus-4-8."`, "")
	s.attachment("agent_listing_delta", `,"addedTypes":["general-purpose"],"addedLines":[`+m.agents+`],"isInitial":true`, rendered(m.agents))
	s.attachment("skill_listing", `,"content":`+m.skills+`,"skillCount":13,"isInitial":true`, rendered(m.skills))
	status := string(appendString(nil, s.output(nil, 500)))
	s.attachment("session_context", `,"context":{"gitStatus":`+status+`}`, rendered(status))
	date := `"` + string(appendStamp(nil, s.now)[1:11]) + `"`
	s.attachment("date", `,"date":`+date, rendered(date))
	m.snapshot(s, false)
	b := append([]byte(nil), `,"shapeHash":"`+m.shape+`","timestamp":`...)
	b = appendStamp(b, s.now)
	s.note("api-request-shape", string(b)+`,"version":"`+s.version+`","shape":{"system":`+m.system+`,"tools":`+m.tools+`}`)
	s.replay()
	s.note("atis-latch", `,"atis":""`)
}

// snapshot writes the prompt that the client sends, with its tools or without.
func (m *machineText) snapshot(s *session, tools bool) {
	fields := `,"systemPrompt":` + m.system
	if tools {
		fields += `,"tools":` + m.tools
	}
	s.attachment("prompt_snapshot", fields+`,"reminderFold":false,"contextRendering":"announced"`, "")
}

// replay writes the messages that begin a request as they are sent.
func (s *session) replay() {
	hash := string(s.r.appendHash(nil))
	s.note("api-request-blob", `,"hash":"`+hash+`","message":{"role":"user","content":[{"type":"text","text":`+s.prompt+`}]}`)
	hash = string(s.r.appendHash(nil))
	s.note("api-request-blob", `,"hash":"`+hash+`","message":{"role":"system","content":[{"type":"text","text":`+s.w.machine.reminder+`}]}`)
}

// request writes that a message was asked for.
func (s *session) request(m *reply) {
	u := s.r.uuid()
	b := append(s.text[:0], `,"id":"`...)
	b = append(append(b, u[:]...), `","timestamp":`...)
	b = appendStamp(b, s.now)
	b = append(b, `,"version":"`+s.version+`","querySource":"repl","shapeHash":"`+s.w.machine.shape+
		`","params":{"model":"claude-opus-4-8","betas":["made-up-2026-01-01","made-up-2026-02-02"],"max_tokens":64000,`+
		`"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}},"thread":{"type":"none"},"keep":`...)
	b = strconv.AppendInt(b, int64(2*s.prompts), 10)
	b = append(b, `,"tail":["`...)
	b = append(s.r.appendHash(b), `","`...)
	b = append(s.r.appendHash(b), `"],"requestDigest":"`...)
	s.text = append(s.r.appendHash(b), '"')
	s.note("api-request", string(s.text)+`,"requestId":"`+m.request+`"`)
}
