// Package config owns everything that a user sets: the directories, the
// environment, terminus.toml and the exclusions. It is the only reader of the
// environment; what it reads is handed to other packages as values.
//
// It promises that a configuration is either read as written or refused with
// the file and line, never replaced by defaults in silence, and that nothing
// here writes a file.
package config

import (
	"os"
	"path/filepath"
	"runtime"
)

// DataVariable is the variable that names the data directory.
const DataVariable = envDataDir

// The variables that are read. An empty one counts as unset.
const (
	envDataDir    = "TERMINUS_DATA_DIR"
	envConfigDir  = "TERMINUS_CONFIG_DIR"
	envRecall     = "TERMINUS_RECALL"
	envBinDir     = "TERMINUS_BIN_DIR"
	envPlugin     = "TERMINUS_PLUGIN"
	envClaudeDir  = "CLAUDE_CONFIG_DIR"
	envXDGData    = "XDG_DATA_HOME"
	envXDGConfig  = "XDG_CONFIG_HOME"
	envLocalData  = "LOCALAPPDATA"
	envRoamedData = "APPDATA"
	envPath       = "PATH"
)

// An Environ is what the program knows of the process it runs in.
type Environ struct {
	// Get returns the value of an environment variable, "" if it is unset.
	Get func(string) string
	// Home is the home directory and WorkDir the working directory, each ""
	// if the system does not tell.
	Home, WorkDir string
	// GOOS decides which directories are the platform's.
	GOOS string
}

// OS returns the environment of this process.
func OS() Environ {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	return Environ{Get: os.Getenv, Home: home, WorkDir: dir, GOOS: runtime.GOOS}
}

// get is Get that an Environ without variables has, too.
func (e Environ) get(name string) string {
	if e.Get == nil {
		return ""
	}
	return e.Get(name)
}

// absolute is path seen from the working directory; an absolute one is taken as
// it is. It reports false where there is nothing to see it from: there is no
// working directory, or path is relative to that of a Windows drive.
func (e Environ) absolute(path string) (string, bool) {
	switch {
	case filepath.IsAbs(path):
		return path, true
	case e.WorkDir == "" || path == "" || filepath.VolumeName(path) != "":
		return path, false
	case isSeparator(path[0]): // on Windows, the root of the drive at hand
		return filepath.VolumeName(e.WorkDir) + path, true
	}
	return filepath.Join(e.WorkDir, path), true
}

// absolutes is absolute for a list; what cannot be made absolute stays as written.
func (e Environ) absolutes(paths []string) []string {
	var all []string
	for _, path := range paths {
		path, _ = e.absolute(path)
		all = append(all, path)
	}
	return all
}
