package testscripts

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/modeltest"
)

// A real Claude Code, from an install before it was ever there to the uninstall, with
// its archive moved in between. One home tells one story: each part goes on where the
// one before it ended.
func TestRealClaudeInstalled(t *testing.T) {
	for _, start := range []struct{ name, settings string }{
		{"where nothing was", ""},
		{"beside somebody's settings", "{\n    \"cleanupPeriodDays\": 3650, \"env\": {\"FOO\": \"1.0\"}\n}"},
	} {
		t.Run(start.name, func(t *testing.T) {
			s := installedStory{claudeStory: claudeStory{claude: bareClaude(t)}, before: start.settings}
			for _, part := range []struct {
				name string
				run  func()
			}{
				{"it is installed before the client was there", s.install},
				{"the first session is archived to its last answer", s.firstSession},
				{"the client connects to the server", s.connects},
				{"the second session gets a brief and a turn, and calls the tools", s.secondSession},
				{"the archive moves", s.moves},
				{"the third session gets all of that out of the moved archive, and is kept there", s.thirdSession},
				{"everything is archived there, byte for byte", s.everything},
				{"uninstall gives the bytes back", s.uninstall},
				{"nothing is left but the archive and what names its place", s.leaves},
				{"the client goes on as if nothing had been", s.goesOn},
			} {
				if !t.Run(part.name, func(t *testing.T) { s.t = t; part.run() }) {
					return // what follows builds on it
				}
			}
		})
	}
}

type installedStory struct {
	claudeStory
	before string // what settings.json holds before install, "" for no file
	moved  string // where the archive is moved
}

func (s *installedStory) settings() string { return filepath.Join(s.home, ".claude", "settings.json") }
func (s *installedStory) state() string    { return filepath.Join(s.home, ".claude.json") }

func (s *installedStory) install() {
	if s.before != "" {
		s.dir(".claude")
		s.check(os.WriteFile(s.settings(), []byte(s.before), 0o600))
	}
	receipt := s.command(s.terms, "install").mustRun()
	if !strings.Contains(receipt, "Claude Code has not been here yet") {
		s.t.Errorf("the receipt says nothing of the client:\n%s", receipt)
	}
	s.terms = filepath.Join(s.home, ".local", "bin", "terminus")
}

func (s *installedStory) connects() {
	out := s.command(s.program, "mcp", "list").mustRun()
	if !strings.Contains(out, "terminus: "+s.terms+" mcp") || !strings.Contains(out, "Connected") {
		s.t.Errorf("the client says of its servers:\n%s", out)
	}
}

// whole begins a session that gets the brief, and the turn of the first session that
// its prompt is about, and calls each tool.
func (s *installedStory) whole(name string) spoken {
	s.t.Helper()
	line, turn := s.written(s.first, "src/retry.go", "package retry const budget = 3")
	found := s.search(answered, "--kind", "assistant", "--session", s.first+".jsonl")
	if len(found) != 1 {
		s.t.Fatalf("the last answer of the first session is found as %v", found)
	}
	s.lookUps(name, answered, found[0].TurnID)
	one := s.begins("play:"+name+" Why does src/retry.go give up?", "Looked up.", recallText(line))
	s.opens(one.recalls, turn)
	s.looksUp(&one, found[0])
	if !strings.Contains(one.debug, s.terms) {
		s.t.Errorf("the client's log does not name %s", s.terms)
	}
	return one
}

func (s *installedStory) secondSession() { s.whole("second") }

// shown are documents that do not depend on where the archive lies.
func (s *installedStory) shown() string {
	s.t.Helper()
	var all strings.Builder
	for _, args := range [][]string{
		{"sessions", "--project", "*", "--json"},
		{"log", "-n", "1000", "--json"},
		{"search", "--project", "*", "--json", answered},
	} {
		all.WriteString(s.command(s.terms, args...).mustRun())
	}
	return all.String()
}

func (s *installedStory) moves() {
	s.moved = filepath.Join(s.dir("disk"), "terminus")
	shown, settings, state := s.shown(), s.read(s.settings()), s.read(s.state())
	move := s.command(s.terms, "data", "move", s.moved)
	move.Stdin = strings.NewReader("y\n")
	if out := move.mustRun(); !strings.HasSuffix(out, "moved; "+s.pointer()+" names the new place\n") {
		s.t.Errorf("data move says:\n%s", out)
	}
	s.nothingAtTheOldPlace()
	if out := s.command(s.terms, "verify", "--json").mustRun(); !strings.Contains(out, `"failures":[]`) {
		s.t.Errorf("verify: %s", out)
	}
	if now := s.shown(); now != shown {
		s.t.Errorf("the moved archive shows\n%s\nand showed\n%s", now, shown)
	}
	if s.read(s.settings()) != settings || s.read(s.state()) != state {
		s.t.Error("the move changed the client's files")
	}
}

// pointer is the file that names the place of a moved archive.
func (s *installedStory) pointer() string {
	return filepath.Join(s.home, ".config", "terminus", "data-location")
}

func (s *installedStory) nothingAtTheOldPlace() {
	s.t.Helper()
	if old := dataDir(s.home); exists(old) {
		s.t.Errorf("%s is there", old)
	}
	if !is(s.pointer(), s.moved+"\n") {
		s.t.Errorf("%s names something else than %s", s.pointer(), s.moved)
	}
}

func (s *installedStory) read(path string) string {
	s.t.Helper()
	text, err := os.ReadFile(path)
	s.check(err)
	return string(text)
}

func (s *installedStory) thirdSession() {
	three := s.whole("third")
	s.nothingAtTheOldPlace()
	path := s.transcript(three.session)
	back, ok, err := restore(openStore(s.t, s.home), path)
	if err != nil || !ok || !bytes.Equal(back.states[len(back.states)-1], []byte(s.read(path))) {
		s.t.Errorf("the transcript comes back as something else: %v, %v", ok, err)
	}
}

// ourServer is install's entry as the client writes it, which writes all of its state
// anew over and over.
var ourServer = regexp.MustCompile(`(?s)  "mcpServers": \{\n    "terminus": \{[^{}]*\}\n  \},\n`)

func (s *installedStory) uninstall() {
	was := s.read(s.state())
	if n := len(ourServer.FindAllString(was, -1)); n != 1 {
		s.t.Fatalf("%d entries of ours in\n%s", n, was)
	}
	s.command(s.terms, "uninstall").mustRun()
	switch {
	case s.before == "" && exists(s.settings()):
		s.t.Errorf("settings.json is left:\n%s", s.read(s.settings()))
	case s.before != "" && !is(s.settings(), s.before):
		s.t.Errorf("settings.json is\n%s", s.read(s.settings()))
	}
	if now, want := s.read(s.state()), ourServer.ReplaceAllLiteralString(was, ""); now != want {
		s.t.Errorf(".claude.json is\n%s\nwant\n%s", now, want)
	}
}

// leaves: beside the archive and what names its place, only the client's own records
// tell of Terminus: logs, transcripts, and the copies that it makes of its state.
func (s *installedStory) leaves() {
	left, err := traces(s.home)
	s.check(err)
	dir := filepath.Dir(s.pointer())
	records := []string{
		s.moved, filepath.Join(s.home, ".cache"), filepath.Join(s.home, "debug-"),
		filepath.Join(s.home, ".claude", "projects"), filepath.Join(s.home, ".claude", "backups"),
	}
	for path, file := range left {
		if path == dir || path == s.pointer() || slices.ContainsFunc(records, func(r string) bool { return strings.HasPrefix(path, r) }) {
			continue
		}
		if strings.Contains(path+file.text, "terminus") {
			s.t.Errorf("%s is left:\n%s", path, file.text)
		}
	}
	s.nothingAtTheOldPlace()
}

// goesOn: nothing is said to the client, and nothing it says is archived.
func (s *installedStory) goesOn() {
	archived, err := traces(s.moved)
	s.check(err)
	s.model.Script("after", modeltest.Say("The rest is silence."))
	four := s.sayOnce("play:after And what of src/retry.go now?")
	if len(four.briefs)+len(four.recalls) > 0 || strings.Contains(four.debug, s.terms) {
		s.t.Errorf("after uninstall the client was told %q %q", four.briefs, four.recalls)
	}
	now, err := traces(s.moved)
	s.check(err)
	if !reflect.DeepEqual(now, archived) {
		s.t.Error("the archive has changed")
	}
	s.nothingAtTheOldPlace()
}
