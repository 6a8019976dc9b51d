package recall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// The reasons for which a turn that a prompt would be given is not.
const (
	AlreadyInjected  = "already_injected"   // this session was given it on an earlier prompt
	VisibleInSession = "visible_in_session" // it is in the session's own context
	CarriedByBrief   = "carried_by_brief"   // the brief quoted it

	// Evicted is a reason as well, of the archive and not of the session: no State
	// keeps it.
	Evicted = "evicted"
)

// A Suppressed is a turn that was not handed over, and why.
type Suppressed struct {
	TurnID int64  `json:"turn_id"`
	Reason string `json:"reason"`
}

// A State is what one session of an agent has been given so far. The zero value
// is that of a new session. It is a file of its own below the data directory,
// `injection/<session_id>.json`, so that a hook needs no lock.
type State struct {
	Injected       []int64      // turns handed over on prompts, oldest first
	Brief          []int64      // turns quoted by the brief
	Suppressed     []Suppressed // each once, the newest last
	CompactionOwed bool         // a compaction waits for its prompt
	// Spent is the boundary of the newest compaction that had its prompt, a turn
	// id; 0 for none. One that is owed is a newer one.
	Spent int64
}

const (
	// stateFormat is the version of the file. Another one is no State.
	stateFormat = 1
	// stateDir holds the files, inside the data directory.
	stateDir = "injection"
	// stateExtension ends their names.
	stateExtension = ".json"
	// tempPrefix and tempSuffix are those of a file that is being written.
	tempPrefix, tempSuffix = ".inject-", ".tmp"
	// maxState bounds what is read of a file: the ids of a hundred thousand
	// turns, which no session is ever given.
	maxState = 4 << 20
	// maxSuppressed is how many suppressed turns are kept. They are told, and
	// decide nothing.
	maxSuppressed = 100
)

// stateFile is the form of the file. Only the format must be there.
type stateFile struct {
	Format         int          `json:"format"`
	Injected       []int64      `json:"injected"`
	Brief          []int64      `json:"brief"`
	Suppressed     []Suppressed `json:"suppressed"`
	CompactionOwed bool         `json:"compaction_owed"`
	Spent          int64        `json:"spent_boundary,omitempty"`
}

// ValidSessionID reports whether a session id may name a file: 8 to 64 bytes of
// hexadecimal digits and hyphens.
func ValidSessionID(id string) bool {
	const shortest, longest = 8, 64
	if len(id) < shortest || len(id) > longest {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'f', c == '-':
		default:
			return false
		}
	}
	return true
}

func statePath(dataDir, sessionID string) string {
	return filepath.Join(dataDir, stateDir, sessionID+stateExtension)
}

// LoadState reads what a session has been given. A file that is not there, that
// cannot be read, or that does not hold a whole State, is a new session's.
func LoadState(dataDir, sessionID string) State {
	if !ValidSessionID(sessionID) {
		return State{}
	}
	f, _, err := fsx.OpenRegular(statePath(dataDir, sessionID))
	if err != nil {
		return State{}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil || len(data) > maxState {
		return State{}
	}
	return parseState(data)
}

func parseState(data []byte) State {
	var f stateFile
	if json.Unmarshal(data, &f) != nil || f.Format != stateFormat {
		return State{}
	}
	for _, s := range f.Suppressed {
		switch s.Reason {
		case AlreadyInjected, VisibleInSession, CarriedByBrief:
		default:
			return State{}
		}
	}
	return State{Injected: f.Injected, Brief: f.Brief, Suppressed: f.Suppressed, CompactionOwed: f.CompactionOwed, Spent: f.Spent}
}

// saves tells the temporary files of one process apart.
var saves atomic.Int64

// Save keeps s for the session, in one step and for the owner alone; the data
// directory is made where it is missing. For an id that is not valid nothing is
// touched. It does not wait for the disk: what a power cut takes is a State that
// is empty again, and a turn that is handed over twice.
func (s State) Save(dataDir, sessionID string) error {
	if !ValidSessionID(sessionID) {
		return nil
	}
	doc, err := s.document()
	if err != nil {
		return fmt.Errorf("state of session %s: %w", sessionID, err)
	}
	path := statePath(dataDir, sessionID)
	for _, dir := range []string{dataDir, filepath.Dir(path)} {
		if err := fsx.MkdirOwner(dir); err != nil {
			return err
		}
	}
	temp := filepath.Join(filepath.Dir(path), tempPrefix+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(saves.Add(1), 10)+tempSuffix)
	_ = os.Remove(temp) // of a process that was killed, and had this one's id
	if err := writeOwner(temp, doc); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return err
	}
	return nil
}

// SweepStates removes what killed hooks left unfinished more than an hour before
// now: a hook lives for a moment.
func SweepStates(dataDir string, now time.Time) {
	const staleAfter = time.Hour
	fsx.SweepStale(filepath.Join(dataDir, stateDir), tempPrefix, tempSuffix, now.Add(-staleAfter))
}

// OldStates are the ids of the sessions whose files were last written before a
// time.
func OldStates(dataDir string, before time.Time) []string {
	var ids []string
	entries, _ := os.ReadDir(filepath.Join(dataDir, stateDir))
	for _, e := range entries {
		id, whole := strings.CutSuffix(e.Name(), stateExtension)
		if !whole || !e.Type().IsRegular() || !ValidSessionID(id) {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			ids = append(ids, id)
		}
	}
	return ids
}

// DropState forgets what a session was given.
func DropState(dataDir, sessionID string) {
	if ValidSessionID(sessionID) {
		_ = os.Remove(statePath(dataDir, sessionID))
	}
}

// document is the file of s, of which parseState is the reverse.
func (s State) document() ([]byte, error) {
	doc, err := json.MarshalIndent(stateFile{
		Format: stateFormat, Injected: listed(s.Injected), Brief: listed(s.Brief), Suppressed: listed(s.Suppressed),
		CompactionOwed: s.CompactionOwed, Spent: s.Spent,
	}, "", "  ")
	return append(doc, '\n'), err
}

// listed is a list as it is written: empty rather than null.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// writeOwner makes a file that is whole, or leaves none.
func writeOwner(path string, data []byte) error {
	f, err := fsx.CreateOwner(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, bytes.NewReader(data))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}

// Carried notes the turns that a brief quoted, and reports whether that is new.
func (s *State) Carried(turns []int64) bool {
	brief := slices.Clone(s.Brief)
	for _, id := range turns {
		if !slices.Contains(brief, id) {
			brief = append(brief, id)
		}
	}
	changed := len(brief) > len(s.Brief)
	s.Brief = brief
	return changed
}

// OweCompaction notes that the session was compacted, and reports whether that
// is new.
func (s *State) OweCompaction() bool {
	changed := !s.CompactionOwed
	s.CompactionOwed = true
	return changed
}

// suppress notes a turn that was not handed over, and reports whether that is new.
func (s *State) suppress(x Suppressed) bool {
	if slices.Contains(s.Suppressed, x) {
		return false
	}
	s.Suppressed = append(slices.Clone(s.Suppressed), x)
	s.Suppressed = s.Suppressed[max(len(s.Suppressed)-maxSuppressed, 0):]
	return true
}
