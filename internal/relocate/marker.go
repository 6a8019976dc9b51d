package relocate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/store"
)

// MarkerName is the file in a copy that says what it is a copy of. It is there from
// the first moment of the copy until the source has been removed.
const MarkerName = "moved-from"

// A marker says where a copy comes from, whether it is whole, and what the
// database's files were when they were copied.
//
// Its file holds a word, the source, quoted as a Go string because a path may hold
// anything, and a line `size mtime name` for each of the database's files.
type marker struct {
	whole  bool
	source string
	files  map[string]fsx.Stat // by name; only size and mtime
}

// The first word of a marker.
const (
	wordCopying = "copying"
	wordCopied  = "copied"
)

// maxMarker is far above the longest path of any system, quoted.
const maxMarker = 256 << 10

// storeFiles are the files that hold the archive. The shared memory file beside
// them is made anew from the log.
func storeFiles() []string {
	return []string{store.FileName, store.FileName + "-wal", store.FileName + "-journal"}
}

// sharedMemory is what a copy must not hold: it belongs to the processes that have
// the source open.
const sharedMemory = store.FileName + "-shm"

// markerOf describes the source as it is now.
func markerOf(source string) (marker, error) {
	m := marker{source: source, files: map[string]fsx.Stat{}}
	for _, name := range storeFiles() {
		info, err := os.Stat(filepath.Join(source, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return m, err
		}
		m.files[name] = fsx.StatOf(info)
	}
	return m, nil
}

// write puts the marker into the copy.
func (m marker) write(dir string) error {
	word := wordCopying
	if m.whole {
		word = wordCopied
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", word, strconv.Quote(m.source))
	for _, name := range storeFiles() {
		if s, ok := m.files[name]; ok {
			fmt.Fprintf(&b, "%d %d %s\n", s.Size, s.Mtime, name)
		}
	}
	return fsx.WriteAtomic(filepath.Join(dir, MarkerName), []byte(b.String()), fsx.OwnerFile)
}

// readMarker reads the marker of a directory, which need be no copy.
func readMarker(dir string) (m marker, found bool, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return m, false, nil // whose it is to be is for others to say
	}
	path := filepath.Join(dir, MarkerName)
	f, _, err := fsx.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMarker))
	if err != nil {
		return m, false, err
	}
	if m, err = parseMarker(string(data)); err != nil {
		return m, false, fmt.Errorf("%s: %w", path, err)
	}
	return m, true, nil
}

// unfinishedMarker reports whether a file is what a run leaves that was ended while
// it wrote its first marker.
func unfinishedMarker(name string) bool {
	temp, _ := filepath.Match(fsx.TempPattern, name)
	return temp && strings.HasPrefix(name, "."+MarkerName+".")
}

var errNoMarker = errors.New("it does not say what was moved")

func parseMarker(text string) (marker, error) {
	m := marker{files: map[string]fsx.Stat{}}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	word, quoted, _ := strings.Cut(lines[0], " ")
	source, err := strconv.Unquote(quoted)
	if err != nil || !filepath.IsAbs(source) || word != wordCopying && word != wordCopied {
		return m, errNoMarker
	}
	m.source, m.whole = source, word == wordCopied
	for _, line := range lines[1:] {
		var s fsx.Stat
		var name string
		if n, err := fmt.Sscanf(line, "%d %d %s", &s.Size, &s.Mtime, &name); n != 3 || err != nil {
			return m, errNoMarker
		}
		m.files[name] = s
	}
	return m, nil
}

// changedSource names a file of the archive that is not what was copied, or "". One
// that is gone is none: it was removed.
func (m marker) changedSource() string { return m.changed(m.source) }

// changedCopy is changedSource for the copy, whose files have the times of what
// they were copied from.
func (m marker) changedCopy(dir string) string { return m.changed(dir) }

func (m marker) changed(dir string) string {
	for _, name := range storeFiles() {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		was, ok := m.files[name]
		if now := fsx.StatOf(info); ok && (now.Size != was.Size || now.Mtime != was.Mtime) || !ok && now.Size > 0 {
			return name
		}
	}
	return ""
}

// Unfinished reports whether a data directory is one that was moved here without
// the move being finished, and from where.
func Unfinished(dir string) (from string, unfinished bool) {
	m, found, err := readMarker(dir)
	return m.source, found && err == nil
}
