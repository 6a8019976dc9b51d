// Package export owns the portable form of the archive: a directory with one file for each
// session, which holds the session's stream as it was archived, and manifest.json, which says
// what each file is. It writes that directory, and reads a manifest that somebody hands it.
//
// It promises that what it wrote is whole or not there: a directory that holds anything is
// refused before the first byte, a failure leaves nothing behind, and the manifest comes last.
// Nothing is filtered on the way out. No read transaction outlives one session's reading.
package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/document"
	"github.com/terminus-archive/terminus/internal/fsx"
)

// ManifestName is the manifest's name in the directory.
const ManifestName = "manifest.json"

// Notice is what whoever exports is told, and whoever opens the manifest.
const Notice = "This export is the verbatim, unredacted transcripts: whatever was typed, read or printed in these " +
	"sessions stands in it, passwords and keys included. Keep it as private as the archive itself."

// A Manifest says what an export holds. Times are as the records have them.
type Manifest struct {
	ArchiveFormat int      `json:"archive_format"`
	Bytes         int64    `json:"bytes"`
	Evicted       int      `json:"evicted"`
	Files         []File   `json:"files"`
	FirstTurnAt   *string  `json:"first_turn_at"`
	LastTurnAt    *string  `json:"last_turn_at"`
	Notice        string   `json:"notice"`
	Projects      []string `json:"projects"` // each once, sorted
	Sessions      int      `json:"sessions"`
	Turns         int64    `json:"turns"`
}

// A File is one session of an export.
type File struct {
	Bytes       int64   `json:"bytes"`
	Evicted     bool    `json:"evicted"`
	File        string  `json:"file"` // a name in the directory
	FirstTurnAt *string `json:"first_turn_at"`
	LastTurnAt  *string `json:"last_turn_at"`
	Project     *string `json:"project"`
	SessionID   *string `json:"session_id"`
	SessionKey  string  `json:"session_key"`
	Turns       int64   `json:"turns"`
}

func (m *Manifest) encode() ([]byte, error) {
	line, err := document.Encode(*m)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, line, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// maxManifest bounds how much of a manifest is read: an entry has about 400 bytes, and ten
// times more sessions than the largest archive that is known would fit.
const maxManifest = 64 << 20

// ReadManifest reads the manifest of an export that may have been made, or changed, by
// anybody. Each file of it is a plain name of its own, and each session stands in it once.
func ReadManifest(dir string) (Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	f, _, err := fsx.OpenRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		if info, e := os.Stat(dir); e == nil && info.IsDir() {
			return Manifest{}, fmt.Errorf("%s is no export: it has no %s", dir, ManifestName)
		}
	}
	if err != nil {
		return Manifest{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return Manifest{}, err
	}
	if len(data) > maxManifest {
		return Manifest{}, fmt.Errorf("%s is larger than %d MB", path, maxManifest>>20)
	}
	m, err := parseManifest(data)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func parseManifest(data []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("it is no manifest: %w", err)
	}
	files, keys := map[string]bool{}, map[string]bool{}
	for i, f := range m.Files {
		switch {
		case !plainName(f.File):
			return m, fmt.Errorf("files[%d]: %q is not the name of a file in the export", i, f.File)
		case !plainKey(f.SessionKey):
			return m, fmt.Errorf("files[%d]: %q is no session key", i, f.SessionKey)
		case f.Bytes < 0 || f.Turns < 0:
			return m, fmt.Errorf("files[%d]: a number is below 0", i)
		case files[strings.ToLower(f.File)], keys[f.SessionKey]:
			return m, fmt.Errorf("files[%d]: %s stands in it twice", i, f.SessionKey)
		}
		files[strings.ToLower(f.File)], keys[f.SessionKey] = true, true
	}
	return m, nil
}

// plainName reports whether name is that of a file of an export: in the directory itself, on
// every system.
func plainName(name string) bool {
	return name != "" && len(name) <= maxName && filepath.IsLocal(name) && !strings.ContainsAny(name, "/\\:\x00") &&
		strings.HasSuffix(name, fileSuffix)
}

// maxKey is longer than any path that a system allows.
const maxKey = 8 << 10

func plainKey(key string) bool {
	return key != "" && len(key) <= maxKey && utf8.ValidString(key) && !strings.ContainsRune(key, 0)
}
