package doctor

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/ingest"
)

const (
	// maxTraced is how many of the newest transcripts are looked through. The first
	// of them nearly always tells.
	maxTraced = 8
	// headBytes and tailBytes are what is read of one: a session's start stands at
	// its beginning, its newest prompt near its end.
	headBytes = 256 << 10
	tailBytes = 1 << 20
)

// A trace is what is on record of a run of a hook.
type trace struct {
	at, dir string
	ms      int64 // or untimed
	failed  bool
}

const untimed = -1

// newestTrace looks for the newest run of command for an event. The transcript that
// was written last comes last.
func newestTrace(all []ingest.Standing, event, command string) (newest trace, found bool) {
	for i := len(all) - 1; i >= 0 && i >= len(all)-maxTraced; i-- {
		f, stat, err := fsx.OpenRegular(all[i].Transcript.Path)
		if err != nil {
			continue
		}
		parts := []*io.SectionReader{io.NewSectionReader(f, 0, headBytes)}
		if stat.Size > headBytes {
			from := max(headBytes, stat.Size-tailBytes)
			parts = append(parts, io.NewSectionReader(f, from, stat.Size-from))
		}
		for _, part := range parts {
			data, err := io.ReadAll(part)
			if err != nil {
				continue
			}
			if t, ok := lastTrace(data, event, command); ok && t.at > newest.at {
				newest, found = t, true
			}
		}
		_ = f.Close() // it was only read
	}
	return newest, found
}

// hookRecord is as much as is needed of what Claude Code writes down of a hook.
type hookRecord struct {
	Attachment struct {
		Type       string  `json:"type"`
		HookEvent  string  `json:"hookEvent"`
		Command    string  `json:"command"`
		DurationMS float64 `json:"durationMs"`
	} `json:"attachment"`
	Timestamp string `json:"timestamp"`
	CWD       string `json:"cwd"`
}

// The types of attachment that tell how a hook ended.
const (
	hookSucceeded = "hook_success"
	hookFailed    = "hook_non_blocking_error"
)

// lastTrace is the last run in a stretch of a transcript, whose first and last line
// may be torn.
func lastTrace(data []byte, event, command string) (last trace, found bool) {
	for line := range bytes.Lines(data) {
		if !bytes.Contains(line, []byte(`"hookEvent"`)) {
			continue
		}
		var r hookRecord
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		a := r.Attachment
		if a.HookEvent != event || a.Type != hookSucceeded && a.Type != hookFailed || !runs(a.Command, command) {
			continue
		}
		last = trace{at: r.Timestamp, dir: r.CWD, ms: int64(a.DurationMS), failed: a.Type == hookFailed}
		found = true
	}
	return last, found
}

// runs reports whether a recorded command line runs a program.
func runs(line, program string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, `"'`), program)
	return ok && program != "" && (rest == "" || strings.ContainsAny(rest[:1], ` "'`))
}
