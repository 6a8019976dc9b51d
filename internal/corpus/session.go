package corpus

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A session is one transcript while it is written. Its state is what a client
// holds: the last uuid, the clock, the branch.
type session struct {
	w *worker
	scribe
	out *sink

	// plan is what this transcript follows: its own, or that of the session it
	// repeats while copying.
	plan    *planned
	own     *planned
	copying bool

	id      string // the sessionId of its records: a subagent's is its parent's
	agent   string // the agentId of a subagent, or ""
	prompts int
	version string
	branch  string
	dir     string // the session's folder beside its transcript
	now     int64
	parent  string
	// prompt is the last typed prompt, escaped.
	prompt, promptID string

	sinceCompact int64 // where the context of now begins in the file
	spent        int64 // bytes that subagents wrote
	toolsSeen    bool
	calls        [2]call
	raw          []byte
	text         []byte
}

// Options of a conversation's shape, in cases of 1,000 unless said otherwise.
const (
	resumeP      = 50  // prompts that come hours later, in a new process
	subagentP    = 12  // tool steps that start a subagent
	parallelP    = 120 // tool steps with two calls at once
	interruptP   = 20  // prompts that the person breaks off
	apiErrorP    = 6
	imageP       = 4
	metaP        = 30 // prompts with a machine-written remark before them
	titleP       = 80 // sessions with a title of their own
	queuedP      = 40 // prompts typed while the client works
	contextBytes = 1_400_000
	meanSteps    = 7
)

// write writes session n of the plan, with its subagents and companions.
func (w *worker) write(n int) error {
	p := &w.plan.sessions[n]
	folder := filepath.Join(w.root, folderName(p.project.root))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	id := string(p.id[:])
	s := &session{w: w, own: p, plan: p, id: id, dir: filepath.Join(folder, id)}
	if p.fork != nil {
		s.plan, s.copying = p.fork, true
	}
	out, err := newSink(s.dir+".jsonl", &w.stats)
	if err != nil {
		return err
	}
	s.out = out
	s.scribe = scribe{r: newRNG(s.plan.seed, 0), v: w.voc, p: p.project}
	s.version, s.now = s.plan.style.version(), s.plan.start
	s.branch = s.p.branches[s.r.n(len(s.p.branches))]
	s.run()
	w.stats.Sessions++
	return s.out.close(s.now)
}

// folderName is the project folder that a client uses for a directory: whatever
// is neither letter nor digit becomes a dash.
func folderName(cwd string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '-'
	}, cwd)
}

// overshoot is about what a session writes after it is full: it ends with an
// answer, and a new client's first exchange is longer than many a session.
const overshoot = 20_000

// target is the size at which the transcript begins to end.
func (s *session) target() int64 {
	if s.copying {
		return math.MaxInt64
	}
	return s.own.bytes - min(overshoot, s.own.bytes/2)
}

func (s *session) full() bool { return s.out.size+s.spent >= s.target() }

func (s *session) run() {
	for first := true; first || !s.full(); first = false {
		if s.copying && s.out.size >= s.own.copied {
			s.leaveCopy()
		}
		fresh := first || s.r.permille(resumeP)
		if fresh {
			s.toolsSeen = false
		}
		s.exchange(fresh)
		if s.out.size-s.sinceCompact > contextBytes*s.context() {
			s.compact()
		}
		s.pause(fresh)
		if s.out.err != nil {
			return
		}
	}
	if s.agent == "" && !s.copying && s.r.permille(titleP) {
		s.title()
	}
}

// context is how many windows' worth of text fit before a compaction.
func (s *session) context() int64 { return 1 + int64(s.plan.seed>>5&1) }

// leaveCopy ends the part that repeats another session.
func (s *session) leaveCopy() {
	s.copying, s.plan = false, s.own
	s.r.seed(s.own.seed, 0)
	s.now = max(s.now, s.own.start)
	s.branch = s.p.branches[s.r.n(len(s.p.branches))]
}

// sessionDays is the longest that a session lasts; quietDays is longer.
const sessionDays = 25

func (s *session) pause(resumed bool) {
	switch {
	case s.now-s.plan.start > sessionDays*day:
		s.now += int64(s.r.between(200, 900))
	case resumed:
		s.now += int64(s.r.between(1, 16)) * 3600 * 1000
	default:
		s.now += int64(s.r.logUniform(4_000, 900_000))
	}
	if s.r.permille(20) {
		s.branch = s.p.branches[s.r.n(len(s.p.branches))]
	}
}

// exchange writes a typed prompt and all that the client does about it.
func (s *session) exchange(fresh bool) {
	s.ask(fresh)
	if s.r.permille(apiErrorP) {
		s.apiError()
		return
	}
	steps := 1 + int(-math.Log(s.r.unit())*meanSteps)
	for range steps {
		if s.full() {
			break
		}
		s.step()
	}
	if s.r.permille(interruptP) {
		s.userText("[Request interrupted by user]", "")
		return
	}
	s.now += int64(s.r.between(900, 9000))
	m := s.message()
	if s.plan.style == Claude332 {
		s.request(m)
	}
	s.raw = s.prose(s.raw[:0], int(s.r.lognormal(520, 1.0)))
	s.assistant(m, "text", appendStringField(s.text[:0], "text", s.raw), "end_turn")
	s.afterAnswer()
}

// ask writes the prompt and what a client notes around it.
func (s *session) ask(fresh bool) {
	s.raw = s.scribe.prompt(s.raw[:0])
	if s.own.rare && !s.copying && s.agent == "" && s.prompts == 0 {
		s.raw = append(s.raw, " "+Rare...)
	}
	s.prompts++
	s.prompt = string(appendString(s.text[:0], s.raw))
	u := s.r.uuid()
	s.promptID = string(u[:])
	if s.agent == "" {
		s.queueOperations()
	}
	if s.agent == "" && s.r.permille(metaP) {
		s.userText("<local-command-stdout>"+string(s.pick(nil, s.v.logs))+"</local-command-stdout>", `,"isMeta":true`)
	}
	s.text = append(append(s.text[:0], `{"role":"user","content":`...), s.prompt...)
	if s.agent == "" && s.r.permille(imageP) {
		s.text = s.imageContent(s.text[:0])
	}
	s.text = append(s.text, '}')
	s.userMessage(s.text, s.typedFields())
	switch {
	case s.plan.style == Claude332 && fresh:
		s.openingNew()
	case fresh:
		s.openingOld()
	}
}

func (s *session) typedFields() string {
	if s.agent != "" {
		return ""
	}
	if s.plan.style == Claude332 {
		return `,"permissionMode":"acceptEdits","promptSource":"typed","sentAtMs":` + strconv.FormatInt(s.now-7, 10) +
			`,"rowSource":"local","turnOrigin":"human","turnPosition":{"promptIndex":` + strconv.Itoa(s.prompts-1) +
			`,"turnIndex":` + strconv.Itoa(s.prompts) + `}`
	}
	return `,"permissionMode":"acceptEdits","promptSource":"typed"`
}

// step writes one request's answer with its tool calls, and their results.
func (s *session) step() {
	s.now += int64(s.r.between(1200, 25_000))
	m := s.message()
	if s.plan.style == Claude332 {
		s.request(m)
	}
	if s.r.permille(280) {
		b := append(s.text[:0], `,"thinking":`...)
		s.raw = s.prose(s.raw[:0], int(s.r.lognormal(260, 0.8)))
		b = appendString(b, s.raw)
		b = append(b, `,"signature":"`...)
		b = append(s.r.appendID(b, s.r.between(80, 420)), '"')
		s.assistant(m, "thinking", b, "tool_use")
	}
	if s.r.permille(420) {
		s.raw = s.prose(s.raw[:0], int(s.r.lognormal(120, 0.7)))
		s.assistant(m, "text", appendStringField(s.text[:0], "text", s.raw), "tool_use")
	}
	calls := s.calls[:1]
	if s.r.permille(parallelP) {
		calls = s.calls[:2]
	}
	for i := range calls {
		s.useTool(m, &calls[i])
	}
	for i := range calls {
		s.toolResult(&calls[i])
	}
	if s.agent == "" && s.r.permille(queuedP) {
		s.queuedCommand()
	}
}
