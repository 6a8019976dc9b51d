package turn

import (
	"bytes"
	"encoding/base64"
	"hash/fnv"
	"iter"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// Objects are the records in a line of a transcript, each a JSON object, behind where it
// begins in the line. Usually that is one, the whole line. A line that is anything else is
// counted in s as damaged, and gives the whole objects in it that accept takes for records,
// as transcript.Records finds them. Blanks and NULs around a record are no part of it, nor is
// a byte order mark before it, which some editors put into the first line of a file.
func Objects(line []byte, s *transcript.State, accept func(object transcript.Value) bool) iter.Seq2[int, transcript.Value] {
	return func(yield func(int, transcript.Value) bool) {
		unmarked := bytes.TrimPrefix(line, bom)
		trimmed, off := transcript.Trim(unmarked)
		off += len(line) - len(unmarked)
		if len(trimmed) == 0 {
			if bytes.IndexByte(line, 0) >= 0 {
				s.Damaged++
			}
			return
		}
		v, ok := transcript.ParseValue(trimmed)
		if ok && v.Kind() == '{' {
			if bytes.IndexByte(line[:off], 0) >= 0 || bytes.IndexByte(line[off+len(trimmed):], 0) >= 0 {
				s.Damaged++
			}
			yield(off, v)
			return
		}
		s.Damaged++
		for _, span := range transcript.Records(trimmed, func(object []byte) bool { return accept(object) }) {
			v := transcript.Value(trimmed[span.Off : span.Off+span.Len])
			if !yield(off+span.Off, v) {
				return
			}
		}
	}
}

var bom = []byte("\xef\xbb\xbf")

const (
	idBytes = 6 // of a hash of 32 bits as text
	// IDsKept is how many ids fit in State.Own: those that Remember knows.
	IDsKept = transcript.StateLimit / idBytes
)

// Remember notes an id in s, and reports whether it was noted before. The last 682 ids are
// known; of two in 2^32 one is taken for the other. It takes all of State.Own.
func Remember(s *transcript.State, id []byte) bool {
	if Remembered(s, id) {
		return true
	}
	own := s.Own[:len(s.Own)/idBytes*idBytes]
	if len(own) >= IDsKept*idBytes {
		own = own[len(own)-(IDsKept-1)*idBytes:]
	}
	s.Own = own + hashed(id)
	return false
}

// Remembered reports whether an id was noted by Remember, and notes nothing.
func Remembered(s *transcript.State, id []byte) bool {
	name := hashed(id)
	for i := 0; i+idBytes <= len(s.Own); i += idBytes {
		if s.Own[i:i+idBytes] == name {
			return true
		}
	}
	return false
}

func hashed(id []byte) string {
	h := fnv.New32a()
	_, _ = h.Write(id)
	return base64.RawStdEncoding.EncodeToString(h.Sum(nil))
}
