package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/project"
	"github.com/terminus-archive/terminus/internal/relocate"
	"github.com/terminus-archive/terminus/internal/wire"
)

// configRoots is the configuration, and where it says that transcripts are.
type configRoots struct{}

func (configRoots) name() string { return "config_roots" }

func (configRoots) look(_ context.Context, m *machine) Finding {
	if m.cfgErr != nil {
		return problem("the configuration does not load: %v", m.cfgErr)
	}
	var dirs []string
	for _, root := range m.cfg.ClaudeRoots {
		dirs = append(dirs, filepath.Join(root, "projects"))
	}
	f := ok("transcripts are read from %s", strings.Join(dirs, ", "))
	switch {
	case len(dirs) == 0:
		return problem("the configuration names no directory to read transcripts from")
	case len(dirs) > 1:
		f = f.noted("those are %d roots, and install wires the one of %s", len(dirs), m.settingsName())
	}
	for _, w := range m.cfg.Warnings {
		f = f.noted("%s", w)
	}
	return f
}

func (m *machine) settingsName() string {
	if m.placesErr != nil {
		return "Claude Code"
	}
	return m.places.ClaudeSettings
}

// project is the project of the working directory.
func (m *machine) project() string {
	dir, _ := new(project.Resolver).Resolve(m.Environ.WorkDir)
	return dir
}

// dataDirectory is judged by what can be seen of it: nothing is written to try.
type dataDirectory struct{}

func (dataDirectory) name() string { return "data_directory" }

func (d dataDirectory) look(_ context.Context, m *machine) Finding {
	if m.dirsErr != nil {
		return problem("%v", m.dirsErr)
	}
	dir := m.dirs.Data
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d.elsewhere(d.outranked(note("%s is not there yet: the first pass makes it", dir), m), m)
	case err != nil:
		return problem("%s cannot be read: %v", dir, cause(err))
	case !info.IsDir():
		return problem("%s is not a directory", dir)
	}
	if _, err := os.ReadDir(dir); err != nil {
		return problem("%s cannot be read: %v", dir, cause(err))
	}
	const anybodyWrites = 0o222
	if info.Mode().Perm()&anybodyWrites == 0 {
		fix := "chmod u+w " + alwaysQuote(dir, m.Environ.GOOS)
		if m.Environ.GOOS == windows {
			fix = "attrib -r " + alwaysQuote(dir, m.Environ.GOOS)
		}
		return problem("%s cannot be written: nothing can be archived", dir).fix("%s", fix)
	}
	f := ok("%s is a directory that can be written", dir)
	if from, unfinished := relocate.Unfinished(dir); unfinished {
		return note("%s; a move from %s has not been finished", f.Finding, from).
			fix("%s", m.exe("data move "+quote(dir, m.Environ.GOOS)))
	}
	return d.elsewhere(d.outranked(f, m), m)
}

// elsewhere says where the timer of an install archives into another place.
func (dataDirectory) elsewhere(f Finding, m *machine) Finding {
	if m.placesErr != nil {
		return f
	}
	timer := wire.TimerElsewhere(m.places.Receipt, m.dirs.Data)
	if timer == "" {
		return f
	}
	return f.noted("the timer archives into another place, which %s names", timer).fix("%s", m.install())
}

// outranked says where the pointer is not followed.
func (dataDirectory) outranked(f Finding, m *machine) Finding {
	if m.dirs.Variable == "" || m.dirs.Config == "" {
		return f
	}
	pointer := filepath.Join(m.dirs.Config, config.PointerName)
	named, err := config.ReadPointer(pointer)
	if err != nil || named == "" || filepath.Clean(named) == filepath.Clean(m.dirs.Data) {
		return f
	}
	return f.noted("%s names it, and outranks %s, which names %s", m.dirs.Variable, pointer, named)
}
