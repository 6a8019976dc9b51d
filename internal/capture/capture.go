// Package capture owns the capture modes: what of a record is archived. Each is
// a pure function of one line, so that a line that is met again, in a rewritten
// transcript or in a copy of one, is known again.
//
//   - full: every byte.
//   - lean: what a tool returned is left out where it is longer than Limit.
//   - minimal: what a tool returned is left out.
//
// Left out is the value of a member, never the member: in its place stands
// {"terminusElided":N}, where N is the length of the value in compact JSON.
// A line in which nothing is left out keeps its bytes. One in which something is
// becomes compact JSON with the keys of every object in byte order; of equal keys
// the last one stays, numbers keep their digits, and strings are escaped no more
// than JSON asks, save that half of a surrogate pair and bytes that are not UTF-8
// stay as they are. A line that is not one JSON object is never changed, and
// lines are neither joined nor parted.
//
// Which members hold what tools returned is the harness's to say (harness.Bulky).
// The records of a harness that does not say are archived whole in every mode.
package capture

import (
	"slices"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Limit is the longest value that lean keeps, in bytes of compact JSON, and the
// longest file. Nine of ten outputs are shorter; the others are most of the bytes.
const Limit = 8192

// A Cutter applies a mode to the lines of one harness. It is not safe for use by
// several goroutines.
type Cutter struct {
	mode config.CaptureMode
	bulk harness.Bulk
	// at is where the members stand: in the line's object, or in its row.
	at   place
	scan transcript.Scanner
	// The line in the mode, and for minimal in the mode that keeps more.
	out, lean writer
	forms     [][]byte
}

// New returns the Cutter of a mode for transcripts of kind of h. The members of
// rows are looked for in the row, not beside it.
func New(mode config.CaptureMode, h harness.Harness, kind harness.Kind) *Cutter {
	c := &Cutter{mode: mode, at: inRecord}
	if kind == harness.Rows {
		c.at = aroundRow
	}
	b, ok := h.(harness.Bulky)
	if !ok {
		c.mode = config.CaptureFull
	} else {
		c.bulk = b.Bulk()
	}
	return c
}

// Line returns line in the mode, itself where nothing is left out. The result is
// valid until the next call of one of c's methods.
func (c *Cutter) Line(line []byte) []byte {
	if c.mode == config.CaptureFull || !c.candidate(line) {
		return line
	}
	return c.cut(&c.out, c.mode, line)
}

// Forms returns the forms in which an archive that keeps at least what the mode
// keeps may hold line, each different, the longest first: what the mode makes of
// it comes last. They are valid until the next call of one of c's methods.
func (c *Cutter) Forms(line []byte) [][]byte {
	c.forms = append(c.forms[:0], line)
	if c.mode == config.CaptureFull || !c.candidate(line) {
		return c.forms
	}
	if c.mode == config.CaptureMinimal {
		c.add(c.cut(&c.lean, config.CaptureLean, line))
	}
	c.add(c.cut(&c.out, c.mode, line))
	return c.forms
}

func (c *Cutter) add(form []byte) {
	if last := c.forms[len(c.forms)-1]; string(last) != string(form) {
		c.forms = append(c.forms, form)
	}
}

// candidate reports whether line is a JSON object that may hold something that
// the mode leaves out. It costs one reading of the line, and nothing is kept.
func (c *Cutter) candidate(line []byte) bool {
	s := &c.scan
	s.Reset(line)
	defer s.Release()
	if !s.EnterObject() {
		return false
	}
	found := c.members(c.at)
	return s.Done() && found
}

// members reads the members of the object that was entered last.
func (c *Cutter) members(at place) (found bool) {
	s := &c.scan
	for {
		key, ok := s.NextMember()
		if !ok {
			return found
		}
		switch {
		case at == aroundRow && string(key) == rowMember && s.EnterObject():
			found = c.members(inRecord) || found
		case at == inRecord && slices.Contains(c.bulk.Members, string(key)):
			value := s.Skip()
			// Compact JSON is never longer than what it was made of.
			found = found || c.mode == config.CaptureMinimal || len(value) > Limit
		default:
			s.Skip()
		}
	}
}

// cut is line in a mode; line is a JSON object.
func (c *Cutter) cut(w *writer, mode config.CaptureMode, line []byte) []byte {
	return w.line(line, c.at, func(member string, value []byte) bool {
		return slices.Contains(c.bulk.Members, member) && (mode == config.CaptureMinimal || len(value) > Limit) &&
			!isMark(value) && (c.bulk.Kept == nil || !c.bulk.Kept(member, value))
	})
}

// Record is the mode that a session is recorded under after lines were archived
// in mode now, where before it was recorded under was; "" is a new session. Full
// is only what was archived whole from its beginning.
func Record(was, now config.CaptureMode) config.CaptureMode {
	if now == config.CaptureFull && was != "" {
		return was
	}
	return now
}

// Companion reports whether mode keeps a file beside a transcript. A file is kept
// whole or not at all.
func Companion(mode config.CaptureMode, c harness.Companion) bool {
	switch {
	case !c.Output, mode == config.CaptureFull:
		return true
	case mode == config.CaptureLean:
		return c.Stat.Size <= Limit
	}
	return false
}
