package transcript

const (
	// StateLimit bounds each text of a State, in bytes: the longest path that Linux
	// accepts. A State is stored with every commit of its session.
	StateLimit = 4096

	// StrangeLimit bounds the types of State.Strange: foreign bytes name them.
	StrangeLimit = 16
	// strangeBytes bounds each of their names.
	strangeBytes = 64
)

// Ranks of a title: one that was given is better than one that was made up, and that
// better than the beginning of what somebody said.
const (
	TitleTaken = 1
	TitleMade  = 2
	TitleGiven = 3
)

// bounded is text as a State holds it.
func bounded(text []byte) string { return string(CutBytes(text, StateLimit)) }

// SeeSession takes the first id by which the agent names the session.
func (s *State) SeeSession(id []byte) {
	if s.SessionID == "" {
		s.SessionID = bounded(id)
	}
}

// SeeDirectory takes the first working directory. One too long for a path is none.
func (s *State) SeeDirectory(path []byte) {
	if s.CWD == "" && len(path) <= StateLimit {
		s.CWD = string(path)
	}
}

// SeeBranch takes the newest branch.
func (s *State) SeeBranch(name []byte) {
	if len(name) > 0 && string(name) != s.Branch {
		s.Branch = bounded(name)
	}
}

// SeeOrigin takes the first reference to another session that this one goes on from.
func (s *State) SeeOrigin(id []byte) {
	if s.ContinuesFrom == "" && len(id) > 0 && string(id) != s.SessionID {
		s.ContinuesFrom = bounded(id)
	}
}

// SeeTitle takes the newest of the best titles.
func (s *State) SeeTitle(text []byte, rank int) {
	if len(text) == 0 || rank < s.TitleRank {
		return
	}
	s.Title, s.TitleRank = bounded(text), rank
}

// SeeTurn counts a turn and takes its time and parent.
func (s *State) SeeTurn(ts, parent string) {
	if len(ts)+len(parent) > StateLimit {
		ts, parent = bounded([]byte(ts)), bounded([]byte(parent)) // copies, so that the rest may go
	}
	if s.Turns == 0 {
		s.FirstTS, s.FirstParent = ts, parent
	}
	s.LastTS = ts
	s.Turns++
}

// SeeStrange counts a record of a type that nobody knows. Beyond StrangeLimit types it
// does nothing.
func (s *State) SeeStrange(kind []byte) {
	name := string(CutBytes(kind, strangeBytes))
	if _, seen := s.Strange[name]; !seen && len(s.Strange) >= StrangeLimit {
		return
	}
	if s.Strange == nil {
		s.Strange = map[string]int64{}
	}
	s.Strange[name]++
}
