package index

import (
	"bytes"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// A Deriver makes the rows of one session out of its lines. Ingest and reindex
// call the same one, so that both reach the same rows.
type Deriver struct {
	Harness harness.Harness
	// State is what the lines so far have told; it starts empty, or as it was
	// stored with the session.
	State transcript.State

	projector derive.Projector
}

// Line returns the rows of a whole line that stands at the stream offset at.
// They hold copies: the line may be overwritten.
func (d *Deriver) Line(line []byte, at int64) []Row {
	turns := d.Harness.Turns(line, &d.State)
	if len(turns) == 0 {
		return nil
	}
	rows := make([]Row, 0, len(turns))
	for i := range turns {
		t := &turns[i]
		r := Row{
			NativeID: t.NativeID, UUID: t.UUID, Type: t.Type, ToolName: t.ToolName, TS: t.TS,
			Off: at + int64(t.Off), Len: int64(t.Len), Nature: t.Nature, ToolResult: t.ToolResult,
			Boundary: t.Boundary, BoundaryMeta: bytes.Clone(t.BoundaryMeta),
		}
		if !t.Unindexed {
			r.Body = bytes.Clone(d.projector.Body(t.Pieces))
			r.Entities = derive.Entities(t.Mentions)
		}
		rows = append(rows, r)
	}
	return rows
}
