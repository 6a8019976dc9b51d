package doctor

import (
	"io"
	"path/filepath"
	"slices"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/wire/jsonedit"
)

// maxSettings is far above any settings file: a larger one is not read.
const maxSettings = 16 << 20

// settings are the files in which Claude Code looks for a setting, the one that
// counts last coming last.
func (m *machine) settings() []string {
	var files []string
	if m.placesErr == nil {
		files = append(files, m.places.ClaudeSettings)
	}
	if dir := m.Environ.WorkDir; dir != "" {
		files = append(files, filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json"))
	}
	return append(files, managed(m.Environ.GOOS))
}

// managed is where an organisation's settings are, which no user overrides.
func managed(goos string) string {
	const name = "managed-settings.json"
	switch goos {
	case windows:
		return `C:\Program Files\ClaudeCode\` + name
	case "darwin":
		return "/Library/Application Support/ClaudeCode/" + name
	}
	return "/etc/claude-code/" + name
}

// effective is the value of a setting, and the file that it stands in. Where none
// has it, the value is absent and the file is the user's. A file that cannot be made
// use of counts as one without it.
func (m *machine) effective(key string) (jsonedit.Node, string) {
	var value jsonedit.Node
	var file string
	if m.placesErr == nil {
		file = m.places.ClaudeSettings
	}
	for _, path := range m.settings() {
		root, err := readSettings(path)
		if err != nil {
			continue
		}
		if v := root.Get(key); v.Kind() != jsonedit.Absent {
			value, file = v, path
		}
	}
	return value, file
}

func readSettings(path string) (jsonedit.Node, error) {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return jsonedit.Node{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSettings))
	if err != nil {
		return jsonedit.Node{}, err
	}
	doc, err := jsonedit.Parse(data)
	if err != nil {
		return jsonedit.Node{}, err
	}
	return doc.Root(), nil
}

// permissionModes are those that Claude Code is known to take.
var permissionModes = []string{`"default"`, `"plan"`, `"acceptEdits"`, `"auto"`, `"dontAsk"`, `"bypassPermissions"`, `"manual"`, `"delegate"`}

// oddPermissionMode reports whether a settings file holds a permission mode that is
// not known. It is a mistake that does not keep the file from being read, and that
// stops the sweep in some versions.
func oddPermissionMode(path string) bool {
	root, err := readSettings(path)
	if err != nil {
		return false
	}
	mode := root.Get("permissions").Get("defaultMode")
	return mode.Kind() == jsonedit.String && !slices.Contains(permissionModes, mode.Text())
}
