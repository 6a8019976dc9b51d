package recall

// The reasons for which a turn that a prompt would be given is not.
const (
	AlreadyInjected  = "already_injected"   // this session was given it on an earlier prompt
	VisibleInSession = "visible_in_session" // it is in the session's own context
	CarriedByBrief   = "carried_by_brief"   // the brief quoted it
)

// A Suppressed is a turn that was not handed over, and why.
type Suppressed struct {
	TurnID int64  `json:"turn_id"`
	Reason string `json:"reason"`
}

// A State is what one session of an agent has been given so far. The zero value
// is that of a new session.
type State struct {
	Injected       []int64      `json:"injected"` // turns handed over on prompts
	Brief          []int64      `json:"brief"`    // turns quoted by the brief
	Suppressed     []Suppressed `json:"suppressed"`
	CompactionOwed bool         `json:"compaction_owed"` // a compaction waits for its prompt
}

// ValidSessionID reports whether a session id may name a file: 8 to 64 bytes of
// hexadecimal digits and hyphens.
func ValidSessionID(id string) bool { return false }

// LoadState reads what a session has been given. A file that is not there, or
// does not hold a whole State, is a new session's.
func LoadState(dataDir, sessionID string) State { return State{} }

// Save keeps s for the session. For an id that is not valid nothing is touched.
func (s State) Save(dataDir, sessionID string) error { return nil }

// Carried notes the turns that a brief quoted, and reports whether that is new.
func (s *State) Carried(turns []int64) bool { return false }

// OweCompaction notes that the session was compacted, and reports whether that
// is new.
func (s *State) OweCompaction() bool { return false }
