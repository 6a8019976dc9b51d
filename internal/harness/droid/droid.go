// Package droid reads the sessions of Factory's droid.
//
// droid keeps a file of JSON records a session, one a line, and what is set for it beside it:
//
//	sessions/<encoded directory>/<id>.jsonl
//	sessions/<encoded directory>/<id>.settings.json
//
// The first record names the session; it is written anew when its title changes. Messages are
// appended. A fork is a new file with copies of the messages that it begins with.
package droid

import (
	"context"
	"iter"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Harness is droid. The zero value is ready; it holds no state.
type Harness struct{}

var (
	_ harness.Harness  = Harness{}
	_ harness.Keyer    = Harness{}
	_ harness.Rooter   = Harness{}
	_ harness.Resumer  = Harness{}
	_ harness.Modifier = Harness{}
)

const (
	id             = "droid"
	sessionsName   = "sessions"
	lineSuffix     = ".jsonl"
	settingsSuffix = ".settings.json"
)

// ID is "droid".
func (Harness) ID() string { return id }

// Name is "Factory droid".
func (Harness) Name() string { return "Factory droid" }

// Seen is the version that wrote the store that was read.
func (Harness) Seen() string { return "0.215" }

// Roots is the directory `sessions` of ~/.factory, or of `.factory` below the directory that
// FACTORY_HOME_OVERRIDE names.
func (Harness) Roots(m harness.Machine) []string {
	return harness.Places(m.Variable("FACTORY_HOME_OVERRIDE", m.Home, ".factory", sessionsName))
}

// Resume is `droid --resume` with the id.
func (Harness) Resume(sessionID string) []string { return []string{"droid", "--resume", sessionID} }

var tools = turn.Tools{
	"Execute":    {Commands: []string{"command"}},
	"Read":       {Paths: []string{"file_path"}},
	"Create":     {Paths: []string{"file_path"}, Changes: true},
	"Edit":       {Paths: []string{"file_path"}, Code: []string{"old_str", "new_str"}, Changes: true},
	"MultiEdit":  {Paths: []string{"file_path"}, Code: []string{"changes.old_str", "changes.new_str"}, Changes: true},
	"ApplyPatch": {Patch: "input", Changes: true},
	"Grep":       {Paths: []string{"path"}, Code: []string{"pattern"}},
	"Glob":       {Paths: []string{"folder"}, Code: []string{"patterns"}},
	"LS":         {Paths: []string{"directory_path"}},
}

// Modifies is true of the tools that edit or write a file.
func (Harness) Modifies(tool string) bool { return tools.Modifies(tool) }

// Discover lists the sessions below each root. The settings beside one are its companion.
func (Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	const depth = 2
	return func(yield func(harness.Transcript, error) bool) {
		listed := map[string]bool{}
		walk := files.Walk{Depth: depth, Match: files.Suffix(lineSuffix)}
		for _, root := range env.Roots {
			if !walk.Each(ctx, root, func(f files.File, err error) bool {
				switch {
				case err != nil:
					return yield(harness.Transcript{}, err)
				case listed[f.Path]:
					return true
				}
				listed[f.Path] = true
				return yield(describe(f), nil)
			}) {
				return
			}
		}
	}
}

func describe(f files.File) harness.Transcript {
	t := harness.Transcript{Key: keyOf(f.Path), Source: f.Path, Path: f.Path, Kind: harness.Lines, Stat: f.Stat}
	settings := strings.TrimSuffix(f.Path, lineSuffix) + settingsSuffix
	if s, err := files.At(settings); err == nil {
		t.Companions = []harness.Companion{{Path: s.Path, Name: "settings.json", Stat: s.Stat}}
	}
	return t
}

func keyOf(path string) string {
	return id + ":" + strings.TrimSuffix(filepath.Base(path), lineSuffix)
}

// KeyAt is the key of the session at a path.
func (Harness) KeyAt(path string) string { return keyOf(path) }

// RootAt is the directory `sessions` above a path.
func (Harness) RootAt(path string) string {
	for dir := filepath.Dir(path); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if filepath.Base(dir) == sessionsName {
			return dir
		}
	}
	return ""
}

// Tail yields one error: a session of droid is a file of lines, which the caller reads itself.
func (Harness) Tail(_ context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return harness.NoTail(t)
}
