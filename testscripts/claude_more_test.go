package testscripts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/modeltest"
)

// forks: what is visible to a session is not handed over to it, whether it said
// so itself or copied it from the one that it was forked from. The first prompt
// of a fork comes before anything tells what it was forked from.
func (s *claudeStory) forks() {
	one := s.tell("play:plain And src/retry.go?", "Understood, plainly.", resumed(s.first)...)
	if len(one.recalls) > 0 {
		s.t.Errorf("the session got %q, which is its own", one.recalls)
	}
	s.suppressed(s.first, s.wrote, "visible_in_session")

	fork := s.tellOnce("play:plain Go on in a fork.", "Understood, plainly.", forkOf(s.first)...)
	if fork.session == s.first || len(fork.recalls) > 0 {
		s.t.Fatalf("the fork is %s and got %q", fork.session, fork.recalls)
	}
	s.forked = fork.session
	again := s.tell("play:plain What of src/retry.go, in the fork?", "Understood, plainly.", resumed(fork.session)...)
	if again.session != fork.session || len(again.recalls) > 0 {
		s.t.Errorf("the fork got %q, which it has copied", again.recalls)
	}
	s.suppressed(fork.session, s.wrote, "visible_in_session")
}

// compacted: what the compaction dropped is handed over, once.
func (s *claudeStory) compacted() {
	s.model.Script("queue", s.writes("src/queue.go", "package queue\n"), modeltest.Say("The queue is there."))
	one := s.begins("play:queue Begin a queue.", "The queue is there.")
	s.tell("play:plain Go on.", "Understood, plainly.", resumed(one.session)...)
	if c := s.sayOnce("/compact Keep it short.", resumed(one.session)...); !c.summary {
		s.t.Fatal("the client did not compact")
	}
	s.afterCompaction(one.session, "src/queue.go", "package queue")
}

// compactedByItself: the same for a compaction that nobody asked for. It comes in
// the middle of a turn and keeps the call that stands last, which is not handed
// over although it names the file as well.
func (s *claudeStory) compactedByItself() {
	s.model.Script("stock", s.writes("src/stock.go", "package stock\n"), modeltest.Say("The stock is there."))
	const window, tokens = 200_000, 190_000
	s.model.Script("long",
		modeltest.Step{
			Text: "This is long.", InputTokens: tokens,
			Calls: []modeltest.Call{{Tool: "Read", Input: map[string]any{"file_path": filepath.Join(s.work, "src", "stock.go")}}},
		},
		modeltest.Say("It was long."))
	defer s.with(fmt.Sprintf("CLAUDE_CODE_AUTO_COMPACT_WINDOW=%d", window))()
	one := s.begins("play:stock Begin a stock.", "The stock is there.")
	if c := s.tellOnce("play:long Be long.", "There is nothing to say.", resumed(one.session)...); !c.summary {
		s.t.Fatalf("the client does not compact at %d of %d tokens", tokens, window)
	}
	preserved := s.preserved(one.session)
	if !slices.ContainsFunc(s.search(filepath.Join(s.work, "src", "stock.go"), "--tool", "Read"), func(h claudeHit) bool {
		return slices.Contains(preserved, h.TurnID)
	}) {
		s.t.Errorf("the compaction kept %v: none of them reads the file", preserved)
	}
	s.afterCompaction(one.session, "src/stock.go", "package stock")
}

// afterCompaction sends a prompt that names a file which the session wrote before
// it was compacted.
func (s *claudeStory) afterCompaction(session, name, content string) {
	s.t.Helper()
	line, turn := s.written(session, name, content)
	if kept := s.preserved(session); slices.Contains(kept, turn) {
		s.t.Fatalf("the compaction kept turn %d: %v", turn, kept)
	}
	prompt := "play:plain What is in " + name + "?"
	one := s.tell(prompt, "Understood, plainly.", resumed(session)...)
	if want := recallText(line); !slices.Equal(one.recalls, []string{want}) {
		s.t.Errorf("after the compaction %q came with\n%q, want\n%q", prompt, one.recalls, want)
	}
	d := s.decided(session)
	if !d.Compacted || len(d.Injected) != 1 || d.Injected[0].TurnID != turn {
		s.t.Errorf("the log says %+v", d)
	}
	again := s.tell(prompt, "Understood, plainly.", resumed(session)...)
	if len(again.recalls) > 0 || s.decided(session).Compacted {
		s.t.Errorf("the same prompt again came with %q", again.recalls)
	}
}

// preserved are the turns that a session's compaction says it kept. A client may
// write one of them twice.
func (s *claudeStory) preserved(session string) []int64 {
	s.t.Helper()
	text, err := os.ReadFile(s.transcript(session))
	s.check(err)
	turns, kept := map[string][]int64{}, []string(nil)
	var next int64
	db := openStore(s.t, s.home)
	s.check(db.QueryRow(`SELECT session_no << 24 FROM sessions WHERE session_key = ?`, session+".jsonl").Scan(&next))
	for line := range bytes.Lines(text) {
		var r struct {
			Type, Subtype   string
			UUID, Timestamp *string
			Metadata        struct {
				Messages struct{ UUIDs []string } `json:"preservedMessages"`
			} `json:"compactMetadata"`
		}
		s.check(json.Unmarshal(line, &r))
		if r.UUID == nil || r.Timestamp == nil || !slices.Contains([]string{"user", "assistant", "system", "attachment"}, r.Type) {
			continue
		}
		turns[*r.UUID] = append(turns[*r.UUID], next)
		next++
		if r.Subtype == "compact_boundary" {
			kept = r.Metadata.Messages.UUIDs
		}
	}
	if kept == nil {
		s.t.Fatalf("%s was not compacted, or nothing was kept", session)
	}
	var ids []int64
	for _, uuid := range kept {
		ids = append(ids, turns[uuid]...)
	}
	return ids
}

func (s *claudeStory) switchedOff() {
	defer s.with("TERMINUS_RECALL=off")()
	found := s.search(answered)[0]
	s.lookUps("off", answered, found.TurnID)
	one := s.tell("play:off Look src/retry.go up.", "Looked up.")
	if len(one.briefs)+len(one.recalls) > 0 {
		s.t.Errorf("switched off, it came with %q %q", one.briefs, one.recalls)
	}
	s.looksUp(&one, found)
	if d := s.decided(one.session); d.Text != nil || *d.Reason != "injection is switched off" {
		s.t.Errorf("the log says %+v", d)
	}
}

// ownOutput: a word that was said once is found where it was said, where it was
// asked for, and in forks, however often it was handed over and answered since.
func (s *claudeStory) ownOutput() {
	found, asked := 0, 0
	for _, h := range s.search(answered) {
		switch {
		case h.RecordType == "assistant" && slices.Contains([]string{s.first + ".jsonl", s.forked + ".jsonl"}, h.SessionKey):
			found++
		case strings.Contains(s.body(h.TurnID), `"name":"mcp__terminus__recall_search"`):
			asked++
		default:
			s.t.Errorf("%s is found as %v", answered, h)
		}
	}
	if found != 2 || asked < 2 {
		s.t.Errorf("%s is found in %d answers and %d calls, want 2 and at least 2", answered, found, asked)
	}
	for _, words := range []string{
		"src/retry.go", "retry const budget", "resume brief left off", "history not instructions", "searchable at turn granularity",
		"terminus-recall", "excerpt relevance", "Understood plainly",
	} {
		for _, h := range s.search(words) {
			body := s.body(h.TurnID)
			if strings.Contains(body, "<terminus-recall>") || strings.Contains(body, `\"turn_id\":`) {
				s.t.Errorf("%q finds what was handed over, %v", words, h)
			}
		}
	}
}

// log: what the model got, in order, is what the log says, to the byte.
func (s *claudeStory) log() {
	var logged []string
	for _, d := range s.decisions() {
		if d.Text != nil {
			logged = append(logged, *d.Text)
		}
	}
	slices.Reverse(logged)
	if !slices.Equal(logged, s.given) || len(logged) < 2 {
		s.t.Errorf("the log holds\n%q\nand the model got\n%q", logged, s.given)
	}
}

// everything: the hooks have archived all that the client wrote, so that another
// pass finds nothing, and it is whole.
func (s *claudeStory) everything() {
	r := realStore{t: s.t, root: filepath.Join(s.home, ".claude"), home: s.home, db: openStore(s.t, s.home)}
	r.everyFile()
	r.nothingNew()
	wantNoErrors(s.t, s.home)
	mustRun(s.t, s.home, "verify")
}
