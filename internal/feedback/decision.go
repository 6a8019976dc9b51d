// Package feedback owns the decision log: what the lookup of each prompt found,
// what was handed over, and why nothing was.
//
// A hook has no time for the ingest lock, so it leaves each decision as one file
// of its own, which the next pass moves into the table `decisions`, whose only
// writer this package is. A file appears whole or not at all, is moved exactly
// once however often a pass dies, and is its owner's alone. Nothing is promised
// about a power cut: a decision is worth no wait for the disk.
//
// A decision keeps the prompt as it was typed. What is read back through Log
// leaves through the egress filter, as everything does.
package feedback

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/document"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/recall"
)

// Format is the version of a decision's file. A file of a later one is left for
// the build that knows it.
const Format = 1

const (
	// dirName is the folder of the files inside the data directory.
	dirName = "decisions"
	// extension ends the name of a whole file; anything else is being written.
	extension = ".json"
	// tempPrefix and tempSuffix stand around the name of one that is being written.
	tempPrefix, tempSuffix = ".decision-", ".tmp"
	// maxSameName is how many files one process may leave in one millisecond,
	// and how many leftovers of an earlier process with its id it steps over.
	maxSameName = 64
	// maxFile bounds what is read of a file: far above a prompt of the size that
	// a hook takes and the longest list of turns that a compaction drops.
	maxFile = 32 << 20
	// maxAt is the last millisecond of the year 9999: a later one has no TimeForm.
	maxAt = 253_402_300_799_999
)

// A Decision is what became of one prompt.
type Decision struct {
	Format    int    `json:"format"`
	SessionID string `json:"session_id"`
	AtMS      int64  `json:"at_ms"` // Unix time in milliseconds
	CWD       string `json:"cwd"`   // the session's working directory
	Prompt    string `json:"prompt"`
	// WatermarkSessionNo is the highest number that a session had, so that a
	// replay sees no later one; nil where the store was not opened.
	WatermarkSessionNo *int64 `json:"watermark_session_no"`
	// Looked says that the archive was searched, and that Candidates are what was
	// found; nil where that is not known.
	Looked *bool `json:"looked"`
	// Spellings are what was looked up, in the order of the prompt.
	Spellings []string `json:"spellings"`
	// Candidates are the ranked hits, best first.
	Candidates []recall.Candidate `json:"candidates"`
	Injected   []recall.Injected  `json:"injected"`
	// CharsInjected is the length of Text in characters, 0 without one.
	CharsInjected int                 `json:"chars_injected"`
	Suppressed    []recall.Suppressed `json:"suppressed"`
	// Compacted says that it was the wider look after a compaction, which offers
	// only what the compaction dropped; nil where that is not known.
	Compacted  *bool      `json:"compacted"`
	Dropped    []int64    `json:"dropped"` // the turns that it dropped
	Thresholds Thresholds `json:"thresholds"`
	// Text is what was handed over, to the byte; nil where nothing was. Reason
	// says why nothing was, for people; nil where something was.
	Text   *string `json:"text"`
	Reason *string `json:"reason"`
}

// Thresholds are the numbers that a decision was taken by.
type Thresholds struct {
	recall.Limits
	PromptChars int `json:"prompt_chars"` // the budget, after clamping
}

// Save leaves d for the next pass and returns the path of its file. Nothing is
// written, and the path is "", where there is no data directory or where the
// session id is not one that may name a file.
func Save(dataDir string, d Decision) (string, error) {
	if !recall.ValidSessionID(d.SessionID) {
		return "", nil
	}
	if info, err := os.Stat(dataDir); err != nil || !info.IsDir() {
		return "", nil
	}
	dir := filepath.Join(dataDir, dirName)
	if err := fsx.MkdirOwner(dir); err != nil {
		return "", fmt.Errorf("make the folder of decisions: %w", err)
	}
	for n := range maxSameName {
		path := filepath.Join(dir, fmt.Sprintf("%s-%d-%d-%d%s", d.SessionID, os.Getpid(), d.AtMS, n, extension))
		if _, err := os.Lstat(path); err == nil {
			continue // nobody else makes a name with this process's id
		}
		return path, Replace(path, d)
	}
	return "", fmt.Errorf("%s holds %d decisions of this millisecond", dir, maxSameName)
}

// Replace writes d over the file at path, which Save gave.
func Replace(path string, d Decision) error {
	d.Format = Format
	data, err := document.Encode(d)
	if err != nil {
		return fmt.Errorf("write decision %s: %w", path, err)
	}
	temp, err := writeTemp(filepath.Dir(path), append(data, '\n'))
	if err == nil {
		if err = os.Rename(temp, path); err != nil {
			_ = os.Remove(temp)
		}
	}
	if err != nil {
		return fmt.Errorf("write decision %s: %w", path, err)
	}
	return nil
}

// writeTemp does not force its file to the disk: a hook has no time for that.
func writeTemp(dir string, data []byte) (name string, err error) {
	var f *os.File
	for n := range maxSameName {
		f, err = fsx.CreateOwner(filepath.Join(dir, fmt.Sprintf("%s%d-%d%s", tempPrefix, os.Getpid(), n, tempSuffix)))
		if !errors.Is(err, os.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return f.Name(), err
}

// errNewer is a file of a format that this build does not know.
var errNewer = errors.New("it was written by a newer version of terminus")

// parse reads a decision's file.
func parse(data []byte) (Decision, error) {
	var d Decision
	if err := json.Unmarshal(data, &d); err != nil {
		return d, fmt.Errorf("it is no decision: %w", err)
	}
	switch {
	case d.Format > Format:
		return d, errNewer
	case d.Format != Format:
		return d, fmt.Errorf("it is no decision: its format is %d", d.Format)
	case !recall.ValidSessionID(d.SessionID):
		return d, fmt.Errorf("it is no decision: its session id is %q", d.SessionID)
	case d.AtMS < 0 || d.AtMS > maxAt:
		return d, fmt.Errorf("it is no decision: its time is %d", d.AtMS)
	}
	return d, nil
}

func (d *Decision) stamp() string { return archive.Stamp(time.UnixMilli(d.AtMS)) }

// read reads the decision in the file at path.
func read(path string) (d Decision, size int64, err error) {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return d, 0, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return d, 0, err
	}
	if len(data) > maxFile {
		return d, 0, fmt.Errorf("it is no decision: it is larger than %d bytes", maxFile)
	}
	d, err = parse(data)
	return d, int64(len(data)), err
}

// waiting are the names of the files that no pass has moved yet, in the order
// of their bytes.
func waiting(dataDir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dataDir, dirName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && filepath.Ext(e.Name()) == extension {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// atOf is the time in a file's name, 0 where the name has none.
func atOf(name string) int64 {
	parts := strings.Split(strings.TrimSuffix(name, extension), "-")
	if len(parts) < 2 {
		return 0
	}
	at, err := strconv.ParseInt(parts[len(parts)-2], 10, 64)
	if err != nil {
		return 0
	}
	return at
}
