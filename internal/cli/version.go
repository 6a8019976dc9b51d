package cli

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Set by the linker for a release: version is a version, with or without a leading v, commit
// the commit it was built from, and commitDate the time of that commit in RFC 3339, since a
// build carries no time of its own.
var (
	version    string
	commit     string
	commitDate string
)

// Version is the version of this build, without a leading v.
func Version() string {
	if version != "" {
		return strings.TrimPrefix(version, "v")
	}
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return info.Main.Version[1:]
	}
	return "0.0.0-dev"
}

// A versionDocument is the data of version.
type versionDocument struct {
	Version string  `json:"version"`
	Commit  *string `json:"commit"` // null where the build does not know
	Date    *string `json:"date"`   // of the commit, UTC
	Go      string  `json:"go"`
	System  string  `json:"system"` // as Go names it: linux/amd64
}

// thisBuild describes the running binary: by what the linker set, else by what Go noted of
// the checkout it was built in.
func thisBuild() versionDocument {
	d := versionDocument{Version: Version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	set := map[string]string{"vcs.revision": commit, "vcs.time": commitDate}
	if info, ok := debug.ReadBuildInfo(); ok && commit == "" {
		for _, s := range info.Settings {
			if _, wanted := set[s.Key]; wanted {
				set[s.Key] = s.Value
			}
		}
	}
	if c := set["vcs.revision"]; c != "" {
		d.Commit = &c
	}
	if at, err := time.Parse(time.RFC3339, set["vcs.time"]); err == nil {
		text := at.UTC().Format(time.RFC3339)
		d.Date = &text
	}
	return d
}

func newVersion(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Say which build this is",
		GroupID: groupCare,
		Long: `Say which build this is: its version, the commit that it was built from and the time
of that commit, the Go release that compiled it, and the system it is for.
--version prints the version alone.`,
		Example: `  terminus version
  terminus version --json | jq -r .data.commit`,
		Args: noArgs,
	}
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return thisBuild() },
		run: func(context.Context) (answer, error) {
			d := thisBuild()
			return answer{data: d, text: func() error {
				e.printVersion(d)
				return nil
			}}, nil
		},
	})
}

func (e *env) printVersion(d versionDocument) {
	e.labelled("version", "%s", d.Version)
	for _, l := range []struct {
		label string
		value *string
	}{{"commit", d.Commit}, {"date", d.Date}} {
		if l.value != nil {
			e.labelled(l.label, "%s", *l.value)
		}
	}
	e.labelled("go", "%s", d.Go)
	e.labelled("system", "%s", d.System)
}
