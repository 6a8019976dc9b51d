package search

import (
	"context"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/registry"
)

// A Resume says how to go on with a session in its agent. The zero value is a
// session that no agent can go on with.
type Resume struct {
	// Command is what to run, a word each.
	Command []string
	// Dir is the directory to run it in, "" where the records do not tell.
	Dir string
	// Transcript is the file that the agent needs for it.
	Transcript string
}

// Resume looks up how to go on with a session that a View showed. A subagent
// goes on with the session that it belongs to.
func (s *Snapshot) Resume(ctx context.Context, o *Owner) (Resume, error) {
	h, _ := registry.ByID(o.Harness)
	resumer, ok := h.(harness.Resumer)
	if !ok {
		return Resume{}, nil
	}
	var id string
	var r Resume
	// The transcript is that of the session itself, where it is archived.
	err := s.tx.QueryRowContext(ctx, `SELECT coalesce(m.session_id, ''), coalesce(p.cwd, m.cwd, ''),
			coalesce(p.transcript_path, m.transcript_path)
		FROM session_meta m LEFT JOIN session_meta p ON p.session_key = m.parent_session_key
		WHERE m.session_key = ?`, o.Key).Scan(&id, &r.Dir, &r.Transcript)
	if err != nil || id == "" || id[0] == '-' { // an agent would take it for an option
		return Resume{}, s.r.wrap(err)
	}
	r.Command = resumer.Resume(id)
	return r, nil
}
