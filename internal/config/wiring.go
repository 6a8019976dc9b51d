package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

const (
	// programName is the file name of the program at its stable path, without
	// the ending that Windows asks for.
	programName = "terminus"

	// Claude Code's user settings, and the file in which it keeps its state and
	// the user's MCP servers.
	claudeSettings = "settings.json"
	claudeState    = ".claude.json"
)

// A Wiring is where Terminus and the system it is wired into keep what wiring
// changes. None of it need exist.
type Wiring struct {
	// Binary is the program's stable path: what hooks and agents are told to run.
	Binary string
	// Receipt is the directory of the receipt of an install, which is the
	// configuration directory.
	Receipt string
	// UserConfig is the directory that holds the user's configuration of every
	// program; "" where a system has none.
	UserConfig string
	// Claude is Claude Code's configuration directory, ClaudeSettings its
	// settings.json and ClaudeState its .claude.json: both in that directory where
	// CLAUDE_CONFIG_DIR names it, and otherwise in ~/.claude and in the home
	// directory.
	Claude, ClaudeSettings, ClaudeState string
}

// Wiring resolves the places. Relative variables are meant from the working
// directory. A place that nothing tells is an error.
func (e Environ) Wiring() (Wiring, error) {
	var w Wiring
	var err error
	if w.Binary, err = e.stableBinary(); err != nil {
		return Wiring{}, err
	}
	dir := configDir(e)
	if dir == "" {
		return Wiring{}, errors.New("no place for the configuration directory: neither " + envConfigDir + " nor a home directory is set")
	}
	if w.Receipt, err = e.place(dir); err != nil {
		return Wiring{}, err
	}
	w.UserConfig = below(e.Home, ".config")
	if set := e.get(envXDGConfig); set != "" {
		w.UserConfig = set
	}
	if w.UserConfig != "" {
		if w.UserConfig, err = e.place(w.UserConfig); err != nil {
			return Wiring{}, err
		}
	}
	if dir := e.get(envClaudeDir); dir != "" {
		if w.Claude, err = e.place(dir); err != nil {
			return Wiring{}, err
		}
		w.ClaudeState = filepath.Join(w.Claude, claudeState)
	} else {
		if e.Home == "" {
			return Wiring{}, errors.New("no home directory is set: nowhere to look for Claude Code's settings")
		}
		if w.Claude, err = e.place(filepath.Join(e.Home, ".claude")); err != nil {
			return Wiring{}, err
		}
		w.ClaudeState = filepath.Join(filepath.Dir(w.Claude), claudeState)
	}
	w.ClaudeSettings = filepath.Join(w.Claude, claudeSettings)
	return w, nil
}

// stableBinary is where the program is put. It does not change with a version.
func (e Environ) stableBinary() (string, error) {
	name, dir := programName, below(e.Home, ".local", "bin")
	if e.GOOS == "windows" {
		name, dir = programName+".exe", below(e.get(envLocalData), "Programs", "Terminus")
	}
	if set := e.get(envBinDir); set != "" {
		dir = set
	}
	if dir == "" {
		return "", errors.New("no place for the program: neither " + envBinDir + " nor a home directory is set")
	}
	return e.place(filepath.Join(dir, name))
}

// place is path, made absolute and clean.
func (e Environ) place(path string) (string, error) {
	abs, ok := e.absolute(path)
	if !ok {
		return "", fmt.Errorf("%q is not absolute, and there is no working directory to see it from", path)
	}
	return filepath.Clean(abs), nil
}

// OnPath reports whether the shell finds programs of dir by their names.
func (e Environ) OnPath(dir string) bool {
	for _, entry := range filepath.SplitList(e.get(envPath)) {
		if entry, ok := e.absolute(entry); ok && filepath.Clean(entry) == filepath.Clean(dir) {
			return true
		}
	}
	return false
}

// Placement returns the variables that say where files lie, as NAME=value, as far
// as they are set: what a process started by the system needs to find the same
// files. Relative ones are made absolute, and all are clean.
func (e Environ) Placement() []string {
	var set []string
	for _, name := range []string{envDataDir, envConfigDir, envXDGData, envXDGConfig, envClaudeDir} {
		value := e.get(name)
		if value == "" || strings.ContainsAny(value, "\r\n") {
			continue
		}
		if abs, ok := e.absolute(value); ok {
			set = append(set, name+"="+filepath.Clean(abs))
		}
	}
	return set
}
