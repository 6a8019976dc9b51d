package config

import (
	"path/filepath"
	"strings"
)

// The variables of Claude Code that are looked at.
const (
	envNoAutoCompact = "DISABLE_AUTO_COMPACT"
	envChildSession  = "CLAUDE_CODE_CHILD_SESSION"
	envInClaude      = "CLAUDECODE"
	envNoHistory     = "CLAUDE_CODE_SKIP_PROMPT_HISTORY"
)

// A Surrounding is what the environment says of Claude Code, and of what it is
// given, as seen from this process.
type Surrounding struct {
	// Path are the directories in which programs are looked for, absolute.
	Path []string
	// NoAutoCompact is the variable that switches automatic compaction off, ""
	// where none does.
	NoAutoCompact string
	// Unsaved are the variables under which a session that is started from here
	// may not be saved.
	Unsaved []string
	// RecallIdle is a setting of the same variable that does nothing although
	// somebody may have meant it to, as NAME=value, or "".
	RecallIdle string
	// RecallOff is the setting of the environment that switches injection off, as
	// NAME=value, or "".
	RecallOff string
}

// Surrounding reads it.
func (e Environ) Surrounding() Surrounding {
	var s Surrounding
	for _, dir := range filepath.SplitList(e.get(envPath)) {
		if abs, ok := e.absolute(dir); ok {
			s.Path = append(s.Path, filepath.Clean(abs))
		}
	}
	if switchedOn(e.get(envNoAutoCompact)) {
		s.NoAutoCompact = envNoAutoCompact
	}
	for _, name := range []string{envChildSession, envInClaude, envNoHistory} {
		if switchedOn(e.get(name)) {
			s.Unsaved = append(s.Unsaved, name)
		}
	}
	switch value := strings.TrimSpace(e.get(envRecall)); {
	case recallIsOff(e):
		s.RecallOff = envRecall + "=" + recallOff
	case value != "" && !strings.EqualFold(value, recallOn):
		s.RecallIdle = envRecall + "=" + value
	}
	return s
}

// ByPlugin reports whether the plugin of Claude Code started this process, and not an
// entry of its settings.
func (e Environ) ByPlugin() bool { return switchedOn(e.get(envPlugin)) }

// switchedOn reads a variable as Claude Code reads a switch.
func switchedOn(value string) bool {
	return value != "" && value != "0" && !strings.EqualFold(value, "false")
}

func recallIsOff(e Environ) bool {
	return strings.EqualFold(strings.TrimSpace(e.get(envRecall)), recallOff)
}
