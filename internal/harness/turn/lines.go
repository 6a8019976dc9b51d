package turn

import (
	"bytes"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// A Line is an object that stands in a line of a transcript, and where it stands there.
type Line struct {
	transcript.Span
	Value transcript.Value
}

// Objects are the objects of a line: usually one, the whole line. A line that is anything else
// counts in s as damaged, and of it those objects are given that accept says are records (see
// transcript.Records). A line of white space holds none, and is not damaged.
func Objects(record []byte, s *transcript.State, accept func(transcript.Value) bool) []Line {
	line, off := transcript.Trim(bytes.TrimPrefix(record, bom))
	if len(line) == 0 {
		return nil
	}
	if bytes.HasPrefix(record, bom) {
		off += len(bom)
	}
	v, whole := transcript.ParseValue(line)
	if whole && v.Kind() == '{' {
		if padded(record[:off]) || padded(record[off+len(line):]) {
			s.Damaged++
		}
		return []Line{{transcript.Span{Off: off, Len: len(line)}, v}}
	}
	s.Damaged++
	if whole {
		return nil
	}
	var lines []Line
	for _, span := range transcript.Records(line, func(object []byte) bool { return accept(object) }) {
		v := transcript.Value(line[span.Off : span.Off+span.Len])
		lines = append(lines, Line{transcript.Span{Off: off + span.Off, Len: span.Len}, v})
	}
	return lines
}

// bom is what some editors put before the first line of a file.
var bom = []byte("\xef\xbb\xbf")

// padded reports whether NULs stand around a record, as a file system that lost power leaves them.
func padded(around []byte) bool { return bytes.IndexByte(around, 0) >= 0 }
