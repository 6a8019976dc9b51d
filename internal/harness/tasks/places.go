package tasks

import (
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// editors are the names under which VS Code and what is built on it keep their settings.
var editors = []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"}

// servers are the directories, below the home directory, of editors that run on another machine.
var servers = []string{".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server"}

// Users are the directories in which editors keep the settings and the extensions' data of a user.
func Users(m harness.Machine) []string {
	var dirs []string
	for _, editor := range editors {
		dirs = append(dirs, m.AppData(editor, "User"))
	}
	for _, server := range servers {
		dirs = append(dirs, m.Below(server, "data", "User"))
	}
	return harness.Places(dirs...)
}

// maxSettings bounds an editor's settings, in bytes.
const maxSettings = 4 << 20

// moved is the directory that a setting names, "" where it names none.
func moved(m harness.Machine, user, setting string) string {
	data, err := files.Read(filepath.Join(user, "settings.json"), maxSettings)
	if err != nil {
		return ""
	}
	settings, _ := transcript.ParseValue(plain(data))
	dir := settings.Get(setting).String()
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		dir = m.Below(rest)
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Clean(dir)
}

// plain is JSON as it is without the comments and the commas at the end of lists that the
// settings of editors may have. They become blanks.
func plain(data []byte) []byte {
	out := append([]byte(nil), data...)
	comma := -1 // a comma that may be the last of its list
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			i, comma = stringEnd(out, i), -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			i = blankComment(out, i)
		case c == ',':
			comma = i
		case (c == ']' || c == '}') && comma >= 0:
			out[comma], comma = ' ', -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
	}
	return out
}

// stringEnd is the place of the quote that ends the string at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}

// blankComment makes a comment blank and gives the place of its last byte.
func blankComment(b []byte, i int) int {
	line := b[i+1] == '/'
	b[i], b[i+1] = ' ', ' '
	for i += 2; i < len(b); i++ {
		switch {
		case line && b[i] == '\n':
			return i
		case !line && b[i] == '*' && i+1 < len(b) && b[i+1] == '/':
			b[i], b[i+1] = ' ', ' '
			return i + 1
		}
		b[i] = ' '
	}
	return i
}
