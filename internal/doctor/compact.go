package doctor

import (
	"context"

	"github.com/terminus-archive/terminus/internal/wire/jsonedit"
)

// autoCompact is whether Claude Code compacts a long session by itself.
type autoCompact struct{}

func (autoCompact) name() string { return "auto_compact" }

const compactKey = "autoCompactEnabled"

func (autoCompact) look(_ context.Context, m *machine) Finding {
	if name := m.around.NoAutoCompact; name != "" {
		return ok("automatic compaction is off: %s is set", name)
	}
	value, file := m.effective(compactKey)
	switch {
	case value.Kind() == jsonedit.Bool && value.Text() == "false":
		return ok("automatic compaction is off: %s is false, set in %s", compactKey, file)
	case value.Kind() == jsonedit.Absent:
		return note("%s is not set, which means on; %s", compactKey, compactCosts)
	case value.Kind() == jsonedit.Bool:
		return note("%s is on, set in %s; %s", compactKey, file, compactCosts)
	}
	return problem("%s is neither true nor false, set in %s", compactKey, file)
}

// compactCosts is why neither value is better.
const compactCosts = "on, a long session goes on, and its context loses what the summary leaves out; " +
	"off, nothing is lost, and the session stops when its context is full"
