package doctor

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/wire"
)

// binary is what stands at the stable path, which hooks and agents run.
type binary struct{}

func (binary) name() string { return "binary" }

func (b binary) look(ctx context.Context, m *machine) Finding {
	if m.placesErr != nil {
		return unknown("%v", m.placesErr)
	}
	path := m.places.Binary
	marked, err := isOurs(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && m.plugged() && m.onPath() != "":
		return note("%s is not there; the plugin %s runs %s", path, m.wired.Plugin, m.onPath())
	case errors.Is(err, fs.ErrNotExist):
		return problem("%s is not there", path).fix("%s", m.install())
	case errors.Is(err, fsx.ErrNotRegular):
		return problem("%s is no file", path) // whose it is, and whether it may go, is not for a command
	case err != nil:
		return problem("%s cannot be read: %v", path, cause(err)).fix("%s", b.replace(m)) // install alone would refuse
	case !marked:
		return problem("%s is not a terminus program", path).fix("%s", b.replace(m))
	}
	// Only a program that is known to be Terminus is run.
	said, err := output(ctx, versionLimit, nil, path, "--version")
	version := strings.TrimSpace(string(said))
	switch {
	case errors.Is(err, fs.ErrPermission):
		return problem("%s cannot be run: %v", path, cause(err)).fix("%s", m.install())
	case err != nil || version == "" || strings.Contains(version, "\n"):
		return unknown("%s does not say its version", path)
	case version != m.Version:
		return problem("%s is version %s, and this build is %s", path, version, m.Version).fix("%s", m.install())
	}
	m.stable = true
	return ok("%s is this build (%s)", path, version)
}

// replace removes what is in the way, and installs.
func (binary) replace(m *machine) string {
	path := alwaysQuote(m.places.Binary, m.Environ.GOOS)
	if m.Environ.GOOS == windows {
		return "Remove-Item -Force " + path + "; " + m.install()
	}
	return "rm -f " + path + " && " + m.install()
}

func isOurs(path string) (bool, error) {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return wire.Marked(f)
}

// cause is what went wrong, for where the path has been said already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
